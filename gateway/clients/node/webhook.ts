// Webhooks: believed only with their signature over the raw bytes (docs/contract.md §9).
import { createHmac, timingSafeEqual } from "node:crypto";
import { SignatureVerificationError } from "./errors.ts";
import type { WebhookEvent } from "./gen/webhook-events.ts";
import { parseJson } from "./json.ts";

export interface VerifyOptions {
  /** How many seconds the signature's time may be off, either way; 300. An older delivery is somebody's copy. */
  tolerance?: number;
  /** Unix seconds; the machine's clock. */
  now?: number;
}

/**
 * The event of a delivery that Tollbooth signed. Answer 2xx, and what does not pass with 400.
 * @param rawBody the bytes as they came; JSON that was parsed and written again has other ones
 * @param header of `Service-Signature`
 * @param secret the endpoint's `whsec_…`; both, while you roll it
 * @throws SignatureVerificationError that says what is wrong
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  header: string | readonly string[] | null | undefined,
  secret: string | readonly string[],
  { tolerance = 300, now = Date.now() / 1000 }: VerifyOptions = {},
): WebhookEvent {
  if (typeof rawBody !== "string" && !(rawBody instanceof Uint8Array)) {
    throw new TypeError("rawBody must be the bytes as they came, not what a JSON parser made of them");
  }
  const secrets = [secret].flat();
  if (secrets.length === 0 || secrets.some((each) => typeof each !== "string" || !each.startsWith("whsec_"))) {
    throw new TypeError("secret must be the endpoint's signing secret, whsec_…");
  }
  const { time, signatures } = partsOf([header ?? ""].flat().join(","));
  const wanted = secrets.map((each) => createHmac("sha256", each).update(`${time}.`).update(rawBody).digest());
  // Every pair is compared: how long it takes says nothing of which fits.
  const fits = signatures.flatMap((signature) => wanted.map((one) => timingSafeEqual(signature, one))).includes(true);
  if (!fits) {
    throw refusal(
      "no v1 signature fits: is it this endpoint's secret, and are these the bytes as they came, before any parser?",
    );
  }
  const age = now - Number(time);
  if (!(Math.abs(age) <= tolerance)) {
    const when = age > 0 ? `${Math.round(age)} s ago` : `${Math.round(-age)} s from now`;
    throw refusal(
      `signed ${when}, and ${tolerance} s are tolerated: a copy of an old delivery, or a clock that is off`,
    );
  }
  return eventOf(rawBody);
}

/** Time and signatures of the header. */
function partsOf(header: string): { time: string; signatures: Buffer[] } {
  if (header === "") throw refusal("there is no Service-Signature header");
  const parts = header.split(",").map((pair) => pair.trim().split("="));
  const valuesOf = (name: string) => parts.filter((pair) => pair[0] === name).map((pair) => pair[1] ?? "");
  const [time = "", ...times] = valuesOf("t");
  const signatures = valuesOf("v1").filter((value) => /^[0-9a-f]{64}$/.test(value));
  if (!/^\d{1,15}$/.test(time) || times.length > 0 || signatures.length === 0) {
    throw refusal("the Service-Signature header does not look like t=<unix seconds>,v1=<64 hex digits>");
  }
  return { time, signatures: signatures.map((value) => Buffer.from(value, "hex")) };
}

function eventOf(rawBody: Uint8Array | string): WebhookEvent {
  const event: unknown = jsonOf(typeof rawBody === "string" ? rawBody : new TextDecoder().decode(rawBody));
  if (typeof event !== "object" || event === null || !("type" in event) || typeof event.type !== "string") {
    throw refusal("it is signed, and is no event that this library knows how to read");
  }
  // Signed by Tollbooth, which writes what the document says; a type that is new is an UnknownEvent.
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
  return new SignatureVerificationError(`the webhook is not to be believed: ${message}`, { code: "signature_invalid" });
}
