// Delivery metrics at ADMIN_PORT: lateness, queue size, slots, outcomes and durations.
// No label holds an endpoint or a merchant, so the number of series stays small.
import type { Registry } from "prom-client";
import { newCounter, newGauge, newHistogram } from "#platform/telemetry/metrics.ts";
import type { AttemptError } from "./rules/delivery.ts";
import type { Standing } from "./rules/lane.ts";
import type { FinishedAttempt } from "./store/attempts.ts";

const prefix = "tollbooth_webhook";
const blockedCode: AttemptError = "blocked_address";
const seconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const sizes = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

export function webhookMetrics(registry: Registry) {
  const blockedAddresses = newCounter(registry, {
    name: `${prefix}_blocked_total`,
    help: "Endpoints refused and attempts not made because the host is not, or does not resolve to, a public address.",
    labelNames: ["at"] as const,
  });
  // A series must start at 0, or Prometheus misses the first increase.
  for (const at of ["registration", "delivery"]) blockedAddresses.inc({ at }, 0);
  return {
    blockedAddresses,
    countAttempt: attemptCounter(registry, () => blockedAddresses.inc({ at: "delivery" })),
    /** `silent`: the endpoint did not answer the latest attempt. */
    dueLag: newGauge(registry, {
      name: `${prefix}_due_lag_seconds`,
      help: "Lateness of the oldest due delivery of active endpoints, by whether they answer.",
      labelNames: ["endpoints"] as const,
    }),
    queueRows: newGauge(registry, {
      name: `${prefix}_queue_rows`,
      help: "Pending deliveries, estimated by PostgreSQL.",
    }),
    /** Merchants do not receive such an event, so an operator must handle each one. */
    eventsParked: newCounter(registry, {
      name: `${prefix}_events_parked_total`,
      help: "Events that could not become deliveries and were parked (table parked_events).",
    }),
    fanOutBatch: newHistogram(registry, {
      name: `${prefix}_fan_out_batch_size`,
      help: "Events consumed by one transaction.",
      buckets: sizes,
    }),
    recordBatch: newHistogram(registry, {
      name: `${prefix}_record_batch_size`,
      help: "Attempts recorded by one transaction.",
      buckets: sizes,
    }),
  };
}

/** @returns a function that counts a finished attempt */
function attemptCounter(registry: Registry, onBlocked: () => void) {
  const attempts = newCounter(registry, {
    name: `${prefix}_attempts_total`,
    help: "Attempts by outcome: delivered, http_3xx to http_5xx, or the reason for no answer.",
    labelNames: ["outcome"] as const,
  });
  const attemptSeconds = newHistogram(registry, {
    name: `${prefix}_attempt_seconds`,
    help: "Duration of attempts: total, and new connections by phase.",
    labelNames: ["phase"] as const,
    buckets: seconds,
  });
  const connections = newCounter(registry, {
    name: `${prefix}_connections_total`,
    help: "Attempts by connection: new or kept.",
    labelNames: ["kind"] as const,
  });
  const ended = newCounter(registry, {
    name: `${prefix}_deliveries_ended_total`,
    help: "Deliveries that an attempt delivered or gave up.",
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

/** Slot usage of a dispatcher. */
interface Slots {
  readonly inFlight: number;
  readonly waiting: number;
  lanesByStanding(): Readonly<Record<Standing, number>>;
}

export function reportSlots(registry: Registry, slots: Slots): void {
  newGauge(registry, {
    name: `${prefix}_in_flight`,
    help: "Deliveries in flight.",
    collect() {
      this.set(slots.inFlight);
    },
  });
  newGauge(registry, {
    name: `${prefix}_waiting`,
    help: "Deliveries claimed by this process and not yet sent.",
    collect() {
      this.set(slots.waiting);
    },
  });
  newGauge(registry, {
    name: `${prefix}_lanes`,
    help: "Endpoints known to this process, by their recent behaviour.",
    labelNames: ["standing"] as const,
    collect() {
      const lanes = slots.lanesByStanding();
      for (const standing of ["quick", "slow", "silent"] as const) this.set({ standing }, lanes[standing]);
    },
  });
}
