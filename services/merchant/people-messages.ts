// Converts people, sessions and rights to the messages of merchant.v1 (people.proto).
import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { clockNow } from "#platform/values/clock.ts";
import {
  type ConsoleSession,
  ConsoleSessionSchema,
  type Invitation as InvitationMessage,
  InvitationSchema,
  type Member as MemberMessage,
  MemberSchema,
  type NewSession,
  NewSessionSchema,
  type Person as PersonMessage,
  PersonSchema,
  Door as WireDoor,
} from "#proto/merchant/v1/people_pb.ts";
import type { readOwnAccess } from "./flows/sign-in/own-access.ts";
import type { BrowserInfo, SessionView } from "./flows/sign-in/session.ts";
import type { IssuedSession } from "./flows/sign-in/sign-in-by-passkey.ts";
import type { Door } from "./rules/people/door.ts";
import { actionsOf, heldActions } from "./rules/people/roles.ts";
import { provedUntil } from "./rules/people/session.ts";
import type { SessionPerson } from "./store/people/console-sessions.ts";
import type { Invitation } from "./store/people/invitations.ts";
import type { MemberRow, OwnMembership } from "./store/people/memberships.ts";

const agentMax = 300;
const addressMax = 64;

/** The proto's rules admit no other value. */
export function fromDoor(door: WireDoor): Door {
  return door === WireDoor.OPERATORS ? "operators" : "merchants";
}

export function fromBrowser(browser: { readonly address: string; readonly agent: string } | undefined): BrowserInfo {
  return {
    address: (browser?.address ?? "").slice(0, addressMax),
    agent: (browser?.agent ?? "").slice(0, agentMax),
  };
}

export function toPerson({ id, email, name, language }: SessionPerson): PersonMessage {
  return create(PersonSchema, { id, email, name, language });
}

export function toConsoleSession({ session, memberships, hasPasskey }: SessionView): ConsoleSession {
  const until = provedUntil(session.provedAt, clockNow());
  return create(ConsoleSessionSchema, {
    id: session.id,
    person: toPerson(session.person),
    memberships: memberships.map((membership) => toMembership(session.door, membership, session.isFull)),
    needsWayIn: !session.isFull,
    ...(until && { provedUntil: timestampFromDate(until) }),
    expiresAt: timestampFromDate(session.expiresAt),
    hasPasskey,
    hasAuthenticator: session.hasAuthenticator,
  });
}

export function toNewSession({ secret, view }: IssuedSession): NewSession {
  return create(NewSessionSchema, { secret, session: toConsoleSession(view) });
}

function toRefundLimit(amount: bigint | null | undefined, currency: string | null | undefined) {
  return amount == null || currency == null ? {} : { refundLimit: { amount, currency } };
}

export function toInvitation(invitation: Invitation, inviterName: string): InvitationMessage {
  const { id, email, role, refundAmount, refundCurrency, expiresAt } = invitation;
  return create(InvitationSchema, {
    id,
    email,
    role,
    ...toRefundLimit(refundAmount, refundCurrency),
    inviterName,
    expiresAt: timestampFromDate(expiresAt),
  });
}

export function toMember(member: MemberRow): MemberMessage {
  const { role, refundAmount, refundCurrency, joinedAt, lastSeenAt, hasPasskey, hasAuthenticator } = member;
  return create(MemberSchema, {
    person: toPerson(member),
    role,
    ...toRefundLimit(refundAmount, refundCurrency),
    joinedAt: timestampFromDate(joinedAt),
    ...(lastSeenAt && { lastSeenAt: timestampFromDate(lastSeenAt) }),
    hasPasskey,
    hasAuthenticator,
  });
}

export function toOwnAccess(access: Awaited<ReturnType<typeof readOwnAccess>>) {
  const { session, passkeys, authenticatorSince, sessions } = access;
  return {
    passkeys: passkeys.map(({ id, name, createdAt, lastUsedAt }) => ({
      id,
      name,
      createdAt: timestampFromDate(createdAt),
      ...(lastUsedAt && { lastUsedAt: timestampFromDate(lastUsedAt) }),
    })),
    ...(authenticatorSince && { authenticatorSince: timestampFromDate(authenticatorSince) }),
    sessions: sessions.map(({ id, address, agent, createdAt, lastUsedAt }) => ({
      id,
      browser: { address, agent },
      createdAt: timestampFromDate(createdAt),
      lastUsedAt: timestampFromDate(lastUsedAt),
      isOwn: id === session.id,
    })),
  };
}

/** A session that is not full has no actions. */
function toMembership(door: Door, membership: OwnMembership, isFull: boolean) {
  const { merchantId, merchantName, merchantStatus, role, refundAmount, refundCurrency } = membership;
  const actions = door === "operators" ? actionsOf(door, role) : heldActions(role, merchantStatus);
  return {
    merchantId,
    merchantName,
    merchantStatus,
    role,
    actions: isFull ? [...actions] : [],
    ...toRefundLimit(refundAmount, refundCurrency),
  };
}
