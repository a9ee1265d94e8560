// Signs a person in by the company's identity provider: (1) verifies the token, which may fetch the provider's keys;
// (2) in ONE transaction consumes the token, finds or links the person, starts the session and announces it.
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import type { Door } from "../../rules/people/door.ts";
import { provedUntil } from "../../rules/people/session.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { membershipsOf } from "../../store/people/memberships.ts";
import { findPersonOfDoor, lockPerson } from "../../store/people/persons.ts";
import { findLinked, linkPerson } from "../../store/sign-in/provider-links.ts";
import { announceOwn } from "../people/people-events.ts";
import { consumeToken, type ProviderIdentity, type ProviderToken, verifyToken } from "./provider.ts";
import { type BrowserInfo, beginSession, findSession, openDoor, proveAddress, viewSession } from "./session.ts";
import type { IssuedSession } from "./sign-in-by-passkey.ts";

/** @throws Failure UNAUTHORIZED, FEATURE_DISABLED, SERVICE_UNAVAILABLE */
export async function finishProviderSignIn(
  context: MerchantContext,
  door: Door,
  token: ProviderToken,
  browser: BrowserInfo,
): Promise<IssuedSession> {
  openDoor(context, door);
  const identity = await verifyToken(context, token);
  const secret = await context.db.transaction(async (tx) => {
    await consumeToken(tx, token);
    const personId = await findOrLinkPerson(tx, identity, door);
    const isProved = provedUntil(identity.provedAt ?? null, clockNow()) !== undefined;
    const begun = await beginSession(context, tx, { personId, door, isFull: true, isProved, browser });
    const how = { by: "provider", session: begun.id };
    await announceOwn(context, tx, { personId, door }, "person.signed_in", personId, how);
    return begun.secret;
  });
  context.outbox.wake();
  context.mails.now();
  return { secret, view: await viewSession(context, await findSession(context, secret, door)) };
}

/** Finds the person by the subject, which the provider never reuses. The first sign-in links the person by address. */
async function findOrLinkPerson(
  tx: MappedTx,
  { issuer, subject, email }: ProviderIdentity & { readonly issuer: string },
  door: Door,
): Promise<string> {
  const known = await findLinked(tx, issuer, subject);
  if (known !== undefined) {
    if ((await membershipsOf(tx, known, door)).length === 0) throw new Failure("UNAUTHORIZED");
    return known;
  }
  const found = await findPersonOfDoor(tx, email, door);
  const person = found && (await lockPerson(tx.em, found.id));
  if (!person) throw new Failure("UNAUTHORIZED");
  if (!(await linkPerson(tx, { issuer, subject, personId: person.id, at: clockNow() }))) {
    throw new Failure("UNAUTHORIZED");
  }
  await proveAddress(tx, person);
  return person.id;
}
