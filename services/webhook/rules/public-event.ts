// Translates a service's internal event to the public event and its exact bytes (docs/contract.md §9).
import { isId } from "#platform/values/id.ts";
import { deliveredType, type EventType } from "./event-types.ts";

export interface AnnouncedFact {
  readonly type: string;
  /** The payment, session, payout or report. */
  readonly objectId: string;
  readonly status: string;
  readonly attributes: Readonly<Record<string, string>>;
}

type Translation =
  | {
      readonly kind: "event";
      readonly type: string;
      /** May be empty. */
      readonly paymentId: string;
      readonly body: Buffer;
    }
  /** Not public. */
  | { readonly kind: "internal" }
  | { readonly kind: "malformed"; readonly problem: string };

export function translateFact(fact: AnnouncedFact): Translation {
  const type = deliveredType(fact.type);
  if (!type) return { kind: "internal" };
  const fields = fieldsOf(type, fact);
  const problem = problemOf(fields);
  if (problem !== undefined) return { kind: "malformed", problem };
  const body = Buffer.from(JSON.stringify({ type: type.code, ...fields }));
  return { kind: "event", type: type.code, paymentId: fields.payment_id ?? "", body };
}

export function testEventBody(at: Date): Buffer {
  return Buffer.from(JSON.stringify({ type: "test.ping", created_at: at.toISOString() }));
}

interface Fields {
  readonly [name: string]: string | undefined;
  readonly status: string;
}

/** Objects that belong to no payment. */
const ownIds: { readonly [C in EventType["category"]]?: string } = { payout: "payout_id", report: "report_id" };

/** The fields of a body after its type, in order. */
function fieldsOf({ category }: EventType, { objectId, status, attributes }: AnnouncedFact): Fields {
  const { refund_id, refund_status = "", dispute_id, dispute_status = "", payment_id = "" } = attributes;
  if (category === "refund") return { refund_id, payment_id: objectId, status: refund_status };
  if (category === "dispute") return { dispute_id, payment_id: objectId, status: dispute_status };
  const ownId = ownIds[category];
  if (ownId !== undefined) return { [ownId]: objectId, status };
  if (category !== "checkout") return { payment_id: objectId, status };
  // Empty if the session has no attempt.
  return { session_id: objectId, ...(payment_id !== "" && { payment_id }), status };
}

const idFields = [
  ["refund_id", "refund"],
  ["dispute_id", "dispute"],
  ["payment_id", "payment"],
  ["session_id", "session"],
  ["payout_id", "payout"],
  ["report_id", "report"],
] as const;
const statusFormat = /^[a-z_]{1,32}$/;

function problemOf(fields: Fields): string | undefined {
  for (const [field, noun] of idFields) {
    if (field in fields && !isId(noun, fields[field] ?? "")) return `${noun} id is invalid`;
  }
  return statusFormat.test(fields.status) ? undefined : "status is invalid";
}
