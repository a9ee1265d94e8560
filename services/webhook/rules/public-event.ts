// What merchants are told of a fact that a service of ours announces: which event, and the exact bytes of its body
// (docs/contract.md §9). Pure.
import { isId } from "#platform/values/id.ts";
import { deliveredType, type EventType } from "./event-types.ts";

/** A fact, as its service announces it. */
export interface AnnouncedFact {
  readonly type: string;
  /** The payment, or the session. */
  readonly objectId: string;
  readonly status: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export type Translation =
  | {
      readonly kind: "event";
      readonly type: string;
      /** Empty: none that can be read. */
      readonly paymentId: string;
      /** What is signed and sent. */
      readonly body: Buffer;
    }
  /** Nothing that merchants hear of. */
  | { readonly kind: "internal" }
  /** Its service cannot have meant it so. */
  | { readonly kind: "senseless"; readonly problem: string };

export function translateFact(fact: AnnouncedFact): Translation {
  const type = deliveredType(fact.type);
  if (!type) return { kind: "internal" };
  const fields = fieldsOf(type, fact);
  const problem = problemOf(fields);
  if (problem !== undefined) return { kind: "senseless", problem };
  const body = Buffer.from(JSON.stringify({ type: type.code, ...fields }));
  return { kind: "event", type: type.code, paymentId: fields.payment_id ?? "", body };
}

/** The body of a test event. */
export function testEventBody(at: Date): Buffer {
  return Buffer.from(JSON.stringify({ type: "test.ping", created_at: at.toISOString() }));
}

interface Fields {
  readonly [name: string]: string | undefined;
  readonly status: string;
}

/** What a body says after its type, in its order. */
function fieldsOf({ category }: EventType, { objectId, status, attributes }: AnnouncedFact): Fields {
  const { refund_id, refund_status = "", payment_id = "" } = attributes;
  if (category === "refund") return { refund_id, payment_id: objectId, status: refund_status };
  if (category !== "checkout") return { payment_id: objectId, status };
  // Empty: nobody can read it.
  return { session_id: objectId, ...(payment_id !== "" && { payment_id }), status };
}

const named = [
  ["refund_id", "refund"],
  ["payment_id", "payment"],
  ["session_id", "session"],
] as const;
const statusFormat = /^[a-z_]{1,32}$/;

function problemOf(fields: Fields): string | undefined {
  for (const [field, noun] of named) {
    if (field in fields && !isId(noun, fields[field] ?? "")) return `it names no ${noun}`;
  }
  return statusFormat.test(fields.status) ? undefined : "its status is malformed";
}
