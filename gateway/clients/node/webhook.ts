// Verifies webhooks by their signature over the raw bytes (docs/contract.md §9).
import { createHmac, timingSafeEqual } from "node:crypto";
import { SignatureVerificationError } from "./errors.ts";
import type { CheckoutSession } from "./gen/checkout-sessions.ts";
import type { DisputeRecord } from "./gen/disputes.ts";
import type { Payment, RefundItem } from "./gen/payments.ts";
import type { Payout } from "./gen/payouts.ts";
import type { Report } from "./gen/reports.ts";
import type { TestPingEvent, WebhookEvent } from "./gen/webhook-events.ts";
import { parseJson } from "./json.ts";

export interface VerifyOptions {
  /** Allowed difference between the signature's time and now, seconds; default 300. Older deliveries may be replays. */
  tolerance?: number;
  /** Unix seconds; default: the system clock. */
  now?: number;
}

/**
 * Returns the event of a delivery that Tollbooth signed. Answer 2xx; if this throws, answer 400.
 * @param rawBody the received bytes; JSON that was parsed and serialized again has different bytes
 * @param header value of `Service-Signature`
 * @param secret the endpoint's `whsec_…`, or both while you roll it
 * @throws SignatureVerificationError with the cause
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  header: string | readonly string[] | null | undefined,
  secret: string | readonly string[],
  { tolerance = 300, now = Date.now() / 1000 }: VerifyOptions = {},
): WebhookEvent {
  if (typeof rawBody !== "string" && !(rawBody instanceof Uint8Array)) {
    throw new TypeError("rawBody must be the received bytes, not the output of a JSON parser");
  }
  const secrets = [secret].flat();
  if (secrets.length === 0 || secrets.some((each) => typeof each !== "string" || !each.startsWith("whsec_"))) {
    throw new TypeError("secret must be the endpoint's signing secret, whsec_…");
  }
  const { time, signatures } = partsOf([header ?? ""].flat().join(","));
  const wanted = secrets.map((each) => createHmac("sha256", each).update(`${time}.`).update(rawBody).digest());
  // Every pair is compared, so the time does not show which one matches.
  const isSigned = signatures
    .flatMap((signature) => wanted.map((one) => timingSafeEqual(signature, one)))
    .includes(true);
  if (!isSigned) {
    throw refusal("no v1 signature matches: check that the secret is this endpoint's and that the body is unparsed");
  }
  const age = now - Number(time);
  if (!(Math.abs(age) <= tolerance)) {
    const when = age > 0 ? `${Math.round(age)} s ago` : `${Math.round(-age)} s from now`;
    throw refusal(`signed ${when}, tolerance is ${tolerance} s: a replayed delivery, or a wrong clock`);
  }
  return eventOf(rawBody);
}

/**
 * A delivery to an endpoint with the payload `object`. Ignore a lower `sequence` than you know of the object. `data` is
 * null for an object of more than 64 KiB, and for one that could not be found: read it.
 */
export type WebhookObject = { id: string; created_at: string; sequence: number } & (
  | { type: `payment.${string}` | `authorization.${string}`; data: Payment | null }
  | { type: `refund.${string}`; data: RefundItem | null }
  | { type: `dispute.${string}`; data: DisputeRecord | null }
  | { type: `checkout_session.${string}`; data: CheckoutSession | null }
  | { type: `payout.${string}`; data: Payout | null }
  | { type: `report.${string}`; data: Report | null }
);

/** The same as `verifyWebhook` for an endpoint with the payload `object`. */
export function verifyWebhookObject(
  rawBody: Uint8Array | string,
  header: string | readonly string[] | null | undefined,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): WebhookObject | TestPingEvent {
  const event: unknown = verifyWebhook(rawBody, header, secret, options);
  return event as WebhookObject | TestPingEvent;
}

function partsOf(header: string): { time: string; signatures: Buffer[] } {
  if (header === "") throw refusal("the Service-Signature header is missing");
  const parts = header.split(",").map((pair) => pair.trim().split("="));
  const valuesOf = (name: string) => parts.filter((pair) => pair[0] === name).map((pair) => pair[1] ?? "");
  const [time = "", ...times] = valuesOf("t");
  const signatures = valuesOf("v1").filter((value) => /^[0-9a-f]{64}$/.test(value));
  if (!/^\d{1,15}$/.test(time) || times.length > 0 || signatures.length === 0) {
    throw refusal("the Service-Signature header must look like t=<unix seconds>,v1=<64 hex digits>");
  }
  return { time, signatures: signatures.map((value) => Buffer.from(value, "hex")) };
}

function eventOf(rawBody: Uint8Array | string): WebhookEvent {
  const event: unknown = jsonOf(typeof rawBody === "string" ? rawBody : new TextDecoder().decode(rawBody));
  if (typeof event !== "object" || event === null || !("type" in event) || typeof event.type !== "string") {
    throw refusal("the signature is valid, but the body is not an event");
  }
  // The signature proves that Tollbooth wrote it as documented; a new type is an UnknownEvent.
  return event as WebhookEvent;
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function refusal(message: string): SignatureVerificationError {
  return new SignatureVerificationError(`webhook not verified: ${message}`, { code: "signature_invalid" });
}
