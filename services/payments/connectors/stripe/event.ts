// Reads Stripe's events, as signed webhooks (verified by the SDK over the raw bytes) and as the account's list. Their
// objects may have the shape of any API version, so only the id of the intent to query is taken from them.
import Stripe from "stripe";
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { clockMs } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { EventPage, ProcessorAccount, ProcessorEvent } from "../connector.ts";
import { metadataNames } from "./objects.ts";
import { tryFailed } from "./tries.ts";

// An older signature is a replay (Stripe's own tolerance).
const toleranceSeconds = 300;

/** Events that may change an intent; docs/processors.md lists which to subscribe to. Stripe's list takes at most 20. */
const listed = [
  "payment_intent.amount_capturable_updated",
  "payment_intent.succeeded",
  "payment_intent.processing",
  "payment_intent.requires_action",
  "payment_intent.payment_failed",
  "payment_intent.canceled",
  "checkout.session.completed",
  "checkout.session.async_payment_succeeded",
  "checkout.session.async_payment_failed",
  "checkout.session.expired",
  "charge.failed",
  "refund.created",
  "refund.updated",
  "refund.failed",
  "charge.refunded",
  "charge.dispute.created",
  "charge.dispute.updated",
  "charge.dispute.closed",
  "charge.dispute.funds_withdrawn",
  "charge.dispute.funds_reinstated",
];
// Endpoints may still be subscribed to the older name of `refund.updated`.
const relevant: ReadonlySet<string> = new Set([...listed, "charge.refund.updated"]);
const pageMax = 100; // of Stripe's lists

const Id = Type.String({ minLength: 1, maxLength: 255 });
const EventShape = Type.Object({
  id: Id,
  type: Id,
  livemode: Type.Boolean(),
  created: Type.Integer({ minimum: 0 }),
  data: Type.Object({
    object: Type.Object({
      id: Type.Optional(Id),
      object: Type.String(),
      payment_intent: Type.Optional(Type.Union([Id, Type.Object({ id: Id }), Type.Null()])),
      last_payment_error: Type.Optional(
        Type.Union([Type.Object({ charge: Type.Optional(Type.Union([Id, Type.Null()])) }), Type.Null()]),
      ),
      metadata: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()])),
    }),
  }),
});
const shape = Compile(EventShape);

/** @throws Failure UNAUTHORIZED (no secret of the account matches, or too old), INVALID_BODY (content). */
export function readEvent(
  sdk: Stripe,
  account: ProcessorAccount,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
): ProcessorEvent {
  const header = headers["stripe-signature"] ?? "";
  const secrets = (account.credentials.webhook_secret ?? "").split(",");
  const event = verifiedEvent(sdk, body, header, secrets);
  if (!shape.Check(event)) throw new Failure("INVALID_BODY", { cause: new Error("not a Stripe event") });
  if (event.livemode !== (account.environment === Environment.LIVE)) {
    throw new Failure("INVALID_BODY", { cause: new Error("an event of the other environment") });
  }
  return hintOf(event);
}

/**
 * A page of the account's event list, newest first; Stripe keeps events for 30 days.
 * @param since undefined: only the newest page. @param after the last event read; empty: the beginning
 */
export async function readEventPage(
  sdk: Stripe,
  call: Stripe.RequestOptions,
  since: Date | undefined,
  after: string,
): Promise<EventPage> {
  const window = {
    types: listed,
    limit: pageMax,
    ...(since && { created: { gte: Math.floor(since.getTime() / 1_000) } }),
    ...(after === "" ? {} : { starting_after: after }),
  };
  const { data, has_more: isMore } = await sdk.events.list(window, call);
  // The list is the account's own: unreadable entries are not ours.
  const events = data.flatMap((event: unknown) => (shape.Check(event) ? [hintOf(event)] : []));
  return { events, next: since && isMore ? (data.at(-1)?.id ?? "") : "" };
}

function hintOf(event: Static<typeof EventShape>): ProcessorEvent {
  return {
    id: event.id,
    createdAt: new Date(event.created * 1_000),
    type: event.type,
    report: undefined,
    intentRef: relevant.has(event.type) ? intentOf(event.data.object) : "",
    ...(isUnclaimed(event.data.object) && { isUnclaimed: true }),
    objectRef: readObjectRef(event.data.object),
    // Only this type is in the list of attempts; later events repeat the error.
    isForgettable: event.type === tryFailed && isWithoutCharge(event.data.object),
  };
}

/** The event's refund, dispute or failed charge; empty: the intent itself. */
function readObjectRef({ object, id, last_payment_error: error }: Static<typeof EventShape>["data"]["object"]): string {
  if (object === "refund" || object === "dispute") return id ?? "";
  return object === "payment_intent" ? (error?.charge ?? "") : "";
}

/** True for a failure without a charge, which the next attempt replaces in the intent. */
function isWithoutCharge({ last_payment_error: error }: Static<typeof EventShape>["data"]["object"]): boolean {
  return error != null && !error.charge;
}

/** The parsed event under the first matching secret. */
function verifiedEvent(sdk: Stripe, body: Uint8Array, header: string, secrets: readonly string[]): unknown {
  for (const secret of secrets) {
    try {
      return sdk.webhooks.constructEvent(body, header, secret, toleranceSeconds, undefined, clockMs());
    } catch (error) {
      if (error instanceof Stripe.errors.StripeSignatureVerificationError) continue;
      throw new Failure("INVALID_BODY", { cause: error });
    }
  }
  throw new Failure("UNAUTHORIZED");
}

/** Refunds and disputes do not show their owner; other objects of ours carry our metadata unless it was cleared. */
function isUnclaimed({ object, metadata }: Static<typeof EventShape>["data"]["object"]): boolean {
  return object !== "refund" && object !== "dispute" && metadata?.[metadataNames.payment] === undefined;
}

function intentOf(object: Static<typeof EventShape>["data"]["object"]): string {
  const { payment_intent: intent } = object;
  const intentId = typeof intent === "object" ? (intent?.id ?? "") : (intent ?? "");
  switch (object.object) {
    case "payment_intent":
    case "checkout.session":
      return object.id ?? "";
    case "charge":
    case "refund":
    case "dispute":
      return intentId;
    default:
      return "";
  }
}
