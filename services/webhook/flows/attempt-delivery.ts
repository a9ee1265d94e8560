// One attempt of one delivery: (1) load the endpoint, (2) sign and send, (3) judge. The recorder stores the result.
// A rerun sends the same bytes again, which receivers must expect (docs/contract.md §9).
import type { Tracer } from "@opentelemetry/api";
import { openSpan } from "#platform/telemetry/trace.ts";
import { clockMs } from "#platform/values/clock.ts";
import { errorCode, judgeOutcome, type Outcome } from "../rules/delivery.ts";
import type { Signal } from "../rules/lane.ts";
import type { Schedule } from "../rules/schedule.ts";
import { signatureHeader, standardHeaders } from "../rules/signature.ts";
import type { EndpointCache, SendingEndpoint } from "../sender/endpoint-cache.ts";
import type { Sender, SendResult } from "../sender/send.ts";
import type { FinishedAttempt } from "../store/attempts.ts";
import type { DueDelivery } from "../store/delivery-queue.ts";

export interface AttemptDeps {
  readonly endpoints: EndpointCache;
  readonly sender: Sender;
  readonly schedule: Schedule;
  readonly tracer: Tracer | undefined;
}

/** A finished attempt and its signal about the endpoint's health. */
export interface AttemptResult extends FinishedAttempt {
  readonly signal: Signal;
}

const userAgent = "Tollbooth-Webhooks/1";

/** @returns undefined if the endpoint is disabled or deleted; the delivery then stays queued */
export async function attemptDelivery(deps: AttemptDeps, delivery: DueDelivery): Promise<AttemptResult | undefined> {
  const endpoint = await deps.endpoints.get(delivery);
  if (endpoint?.status !== "active") return undefined;
  const { outcome, log } = await inAttemptSpan(deps.tracer, delivery, (traceparent) =>
    sendDelivery(deps.sender, endpoint, delivery, traceparent),
  );
  return {
    delivery,
    verdict: judgeOutcome(outcome, delivery, deps.schedule, Math.random()),
    log: { ...log, errorCode: errorCode(outcome) },
    signal: signalOf(outcome),
  };
}

/** Records the attempt as a span of the trace that the payment's change started. */
async function inAttemptSpan(
  tracer: Tracer | undefined,
  delivery: DueDelivery,
  work: (traceparent: string | null) => Promise<SendResult>,
): Promise<SendResult> {
  const attributes = {
    "tollbooth.delivery_id": delivery.id,
    "tollbooth.event_type": delivery.eventType,
    "tollbooth.attempt": delivery.tries + 1,
  };
  const span = openSpan({
    ...{ tracer, name: "webhook attempt", kind: "CLIENT" },
    parent: delivery.traceparent,
    attributes,
  });
  const sent = await work(span?.traceparent ?? delivery.traceparent);
  if (sent.outcome.kind === "answered") span?.set({ "http.response.status_code": sent.outcome.statusCode });
  span?.end(errorCode(sent.outcome) || undefined);
  return sent;
}

const blocked: SendResult = {
  outcome: { kind: "unanswered", error: "blocked_address" },
  log: { durationMs: 0, dnsMs: 0, connectMs: 0, tlsMs: 0, firstByteMs: 0, remoteIp: "", isReused: false, snippet: "" },
};

async function sendDelivery(
  sender: Sender,
  { target, secrets }: SendingEndpoint,
  delivery: DueDelivery,
  traceparent: string | null,
): Promise<SendResult> {
  if (!target) return blocked;
  const atSeconds = Math.floor(clockMs() / 1_000);
  return await sender.send(delivery.endpointId, target, {
    path: target.path,
    headers: {
      "content-type": "application/json",
      "user-agent": userAgent,
      accept: "*/*",
      "accept-encoding": "identity",
      "service-event": delivery.eventType,
      "service-delivery": delivery.id,
      "service-signature": signatureHeader(secrets, atSeconds, delivery.body),
      ...standardHeaders(secrets, delivery.id, atSeconds, delivery.body),
      ...(traceparent !== null && traceparent !== "" && { traceparent }),
    },
    body: delivery.body,
  });
}

function signalOf(outcome: Outcome): Signal {
  if (outcome.kind !== "answered") return "silent";
  return outcome.statusCode === 429 || outcome.statusCode === 503 ? "overloaded" : "answered";
}
