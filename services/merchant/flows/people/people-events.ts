// Announces people's acts for the audit log, with the person as the actor. A change of a person's own access is
// announced once for each of their merchants.
import type { Tx } from "#platform/database/database.ts";
import type { Announcement } from "#platform/events/outbox.ts";
import { callContext } from "#platform/values/call-context.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../../context.ts";
import type { Door } from "../../rules/people/door.ts";
import { membershipsOf } from "../../store/people/memberships.ts";

type MemberEvent =
  | "member.invited"
  | "member.invitation_revoked"
  | "member.joined"
  | "member.changed"
  | "member.removed"
  | "member.access_reset";

type OwnEvent =
  | "person.signed_in"
  | "person.changed"
  | "passkey.added"
  | "passkey.removed"
  | "authenticator.added"
  | "authenticator.removed"
  | "session.ended";

/** @param merchantId empty for the installation */
export function memberEvent(
  type: MemberEvent | OwnEvent,
  merchantId: string,
  objectId: string,
  attributes: Readonly<Record<string, string>>,
): Announcement {
  const about = { merchantId, environment: Environment.UNSPECIFIED, objectId, status: "" };
  return { type, ...about, at: clockNow(), attributes };
}

/** Announces a change of the person's own access for each of their memberships in the console. */
export async function announceOwn(
  { outbox }: Pick<MerchantContext, "outbox">,
  tx: Tx,
  { personId, door }: { readonly personId: string; readonly door: Door },
  type: OwnEvent,
  objectId: string,
  attributes: Readonly<Record<string, string>> = {},
): Promise<void> {
  const memberships = await membershipsOf(tx, personId, door);
  const events = memberships.map(({ merchantId }) => memberEvent(type, merchantId, objectId, { door, ...attributes }));
  await asPerson(personId, () => outbox.append(tx, events));
}

/** Runs the work with the person as the actor of its announcements, instead of the caller's actor. */
export function asPerson<T>(personId: string, work: () => Promise<T>): Promise<T> {
  const context = callContext.getStore();
  return context ? callContext.run({ ...context, actor: personId }, work) : work();
}
