// How acts of people are announced, so that the audit log has them with the person. What a person does with their own
// access concerns everybody they work for: it is announced once for each of their merchants.
import type { Tx } from "#platform/database/database.ts";
import type { Announcement } from "#platform/events/outbox.ts";
import { callContext } from "#platform/values/call-context.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../../context.ts";
import type { Door } from "../../rules/people/door.ts";
import { membershipsOf } from "../../store/people/memberships.ts";

export type MemberEvent =
  | "member.invited"
  | "member.invitation_revoked"
  | "member.joined"
  | "member.changed"
  | "member.removed"
  | "member.access_reset";

export type OwnEvent =
  | "person.signed_in"
  | "person.changed"
  | "passkey.added"
  | "passkey.removed"
  | "authenticator.added"
  | "authenticator.removed"
  | "session.ended";

/** @param merchantId empty: of the installation */
export function memberEvent(
  type: MemberEvent,
  merchantId: string,
  objectId: string,
  attributes: Readonly<Record<string, string>>,
): Announcement {
  return peopleEvent(type, merchantId, objectId, attributes);
}

/** Announces what the person did with their own access, under each of their memberships of the door. */
export async function announceOwn(
  { outbox }: Pick<MerchantContext, "outbox">,
  tx: Tx,
  { personId, door }: { readonly personId: string; readonly door: Door },
  type: OwnEvent,
  objectId: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<void> {
  const memberships = await membershipsOf(tx, personId, door);
  const events = memberships.map(({ merchantId }) => peopleEvent(type, merchantId, objectId, { door, ...attributes }));
  await asPerson(personId, () => outbox.append(tx, events));
}

/** Runs the work as the person's own: what it announces is theirs, whoever the caller says to act for. */
export function asPerson<T>(personId: string, work: () => Promise<T>): Promise<T> {
  const context = callContext.getStore();
  return context ? callContext.run({ ...context, actor: personId }, work) : work();
}

function peopleEvent(
  type: string,
  merchantId: string,
  objectId: string,
  attributes: Readonly<Record<string, string>>,
): Announcement {
  const about = { merchantId, environment: Environment.UNSPECIFIED, objectId, status: "" };
  return { type, ...about, at: clockNow(), attributes };
}
