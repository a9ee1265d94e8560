// What operators can see of delivery at ADMIN_PORT: how late due work is, how much there is, who holds the slots, how
// attempts end and how long they take. Labels have few values: no endpoint, no merchant.
import type { Registry } from "prom-client";
import { counter, gauge, histogram } from "#platform/telemetry/metrics.ts";
import type { AttemptError } from "./rules/delivery.ts";
import type { Standing } from "./rules/lane.ts";
import type { FinishedAttempt } from "./store/attempts.ts";

const prefix = "tollbooth_webhook";
const blockedCode: AttemptError = "blocked_address";
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

export function webhookMetrics(registry: Registry) {
  const blockedAddresses = counter(registry, {
    name: `${prefix}_blocked_total`,
    help: "Endpoints that were refused, and attempts that were not made, because their host is or leads to no public address.",
    labelNames: ["at"] as const,
  });
  // A series begins with 0, so that its first step counts.
  for (const at of ["registration", "delivery"]) blockedAddresses.inc({ at }, 0);
  return {
    /** Somebody, or a name that has changed, would have us call an address inside. */
    blockedAddresses,
    countAttempt: attemptCounter(registry, () => blockedAddresses.inc({ at: "delivery" })),
    /** How late the oldest due delivery of an active endpoint is; `silent`: its latest attempt got no answer. */
    dueLag: gauge(registry, {
      name: `${prefix}_due_lag_seconds`,
      help: "Age of the oldest due and unfinished delivery of active endpoints, by whether they answer.",
      labelNames: ["endpoints"] as const,
    }),
    /** PostgreSQL's own estimate, since counting a million rows is not for free. */
    queueRows: gauge(registry, {
      name: `${prefix}_queue_rows`,
      help: "Pending deliveries, estimated by PostgreSQL.",
    }),
    /** Merchants are not told of such an event, so each one is for a person. */
    eventsParked: counter(registry, {
      name: `${prefix}_events_parked_total`,
      help: "Events of payments that could not become deliveries and were put aside (table parked_events).",
    }),
    fanOutBatch: histogram(registry, {
      name: `${prefix}_fan_out_batch_size`,
      help: "Events taken in by one transaction.",
      buckets: sizes,
    }),
    recordBatch: histogram(registry, {
      name: `${prefix}_record_batch_size`,
      help: "Attempts recorded by one transaction.",
      buckets: sizes,
    }),
  };
}

/** @returns counts a finished attempt */
function attemptCounter(registry: Registry, onBlocked: () => void) {
  const attempts = counter(registry, {
    name: `${prefix}_attempts_total`,
    help: "Attempts by outcome: delivered, http_3xx to http_5xx, or why there was no answer.",
    labelNames: ["outcome"] as const,
  });
  const attemptSeconds = histogram(registry, {
    name: `${prefix}_attempt_seconds`,
    help: "Time of attempts: total, and of the connections that were opened for them by phase.",
    labelNames: ["phase"] as const,
    buckets: seconds,
  });
  const connections = counter(registry, {
    name: `${prefix}_connections_total`,
    help: "Attempts over a new connection and over a kept one.",
    labelNames: ["kind"] as const,
  });
  const ended = counter(registry, {
    name: `${prefix}_deliveries_ended_total`,
    help: "Deliveries that were delivered or given up by an attempt.",
    labelNames: ["state"] as const,
  });
  return ({ verdict, log }: Pick<FinishedAttempt, "verdict" | "log">): void => {
    if (verdict.kind === "postponed") return;
    attempts.inc({ outcome: outcomeOf(log.errorCode) });
    if (log.errorCode === blockedCode) onBlocked();
    if (verdict.kind !== "retry") ended.inc({ state: verdict.kind });
    attemptSeconds.observe({ phase: "total" }, log.durationMs / 1_000);
    connections.inc({ kind: log.isReused ? "kept" : "new" });
    if (log.isReused) return;
    for (const [phase, ms] of [
      ["dns", log.dnsMs],
      ["connect", log.connectMs],
      ["tls", log.tlsMs],
    ] as const) {
      if (ms > 0) attemptSeconds.observe({ phase }, ms / 1_000);
    }
  };
}

function outcomeOf(errorCode: string): string {
  if (errorCode === "") return "delivered";
  return errorCode.startsWith("http_") ? `${errorCode.slice(0, 6)}xx` : errorCode;
}

/** What a dispatcher shows of itself at any time. */
export interface Slots {
  readonly inFlight: number;
  readonly waiting: number;
  lanesByStanding(): Readonly<Record<Standing, number>>;
}

/** Shows the slots of the service's dispatcher. */
export function reportSlots(registry: Registry, slots: Slots): void {
  gauge(registry, {
    name: `${prefix}_in_flight`,
    help: "Deliveries under way.",
    collect() {
      this.set(slots.inFlight);
    },
  });
  gauge(registry, {
    name: `${prefix}_waiting`,
    help: "Deliveries claimed by this process that wait for their turn.",
    collect() {
      this.set(slots.waiting);
    },
  });
  gauge(registry, {
    name: `${prefix}_lanes`,
    help: "Endpoints known to this process, by what they have shown.",
    labelNames: ["standing"] as const,
    collect() {
      const lanes = slots.lanesByStanding();
      for (const standing of ["quick", "slow", "silent"] as const) this.set({ standing }, lanes[standing]);
    },
  });
}
