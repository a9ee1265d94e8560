// Signs a person in by a mailed link: for recovery, or together with an authenticator code for people without passkeys.
// Request: ONE transaction with the same work and timing whether the address is known or not. Redeem: ONE transaction
// under the link's lock. Browsers that have used a link are counted separately, so strangers' requests for a person's
// links cannot lock that person out.
import { createHash } from "node:crypto";
import { randomToken, sameSecret } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type { MerchantContext } from "../../context.ts";
import { mailTexts, queueMail } from "../../mail/queue-mail.ts";
import type { Door } from "../../rules/people/door.ts";
import { languageOf, normalEmail } from "../../rules/people/person.ts";
import { signInLinkMs, signInLinksMax, signInLinksMs } from "../../rules/people/session.ts";
import type { MappedTx } from "../../store/mapped-database.ts";
import { findAuthenticator } from "../../store/people/authenticators.ts";
import { membershipsOf } from "../../store/people/memberships.ts";
import { findPersonOfDoor, lockPerson } from "../../store/people/persons.ts";
import { isKnownBrowser, recordBrowser } from "../../store/sign-in/known-browsers.ts";
import {
  countLinks,
  insertLink,
  lockAddress,
  lockLink,
  recordWrongCodeOfLink,
  type SignInLink,
  spendLink,
} from "../../store/sign-in/sign-in-links.ts";
import { announceOwn } from "../people/people-events.ts";
import { checkCode, wrongCode } from "./prove.ts";
import { type BrowserInfo, beginSession, findSession, openDoor, proveAddress, viewSession } from "./session.ts";
import type { IssuedSession } from "./sign-in-by-passkey.ts";

const hashedToken = (token: string) => `console-link:${token}`;
const hashedBrowser = (secret: string) => `console-browser:${secret}`;
/** The secret is random, so a plain digest reveals nothing. */
const knownHash = (secret: string) => createHash("sha256").update(hashedBrowser(secret)).digest();
const hashedAddress = (door: Door, email: string) => `console-address:${door}:${email}`;

type LinkUse = { readonly secret: string } | { readonly refused: Failure };

/** @throws Failure FEATURE_DISABLED (no mail server, or the console has no origin) */
export async function requestSignInLink(
  context: MerchantContext,
  door: Door,
  input: { readonly email: string; readonly browserSecret: string; readonly language: string },
  browser: BrowserInfo,
): Promise<void> {
  const { hashKeys } = context;
  const { origin } = openDoor(context, door);
  if (!context.canMail) throw new Failure("FEATURE_DISABLED");
  const email = normalEmail(input.email);
  const emailHash = hashKeys.hash(hashedAddress(door, email)).hash;
  await context.db.transaction(async (tx) => {
    await lockAddress(tx, emailHash);
    const now = clockNow();
    const since = new Date(now.getTime() - signInLinksMs);
    const person = await findPersonOfDoor(tx, email, door);
    const isKnown = await isKnownBrowser(tx, person?.id ?? "", knownHash(input.browserSecret));
    const counted = isKnown ? hashKeys.hashes(hashedBrowser(input.browserSecret)) : null;
    const linksSent = await countLinks(tx, hashKeys.hashes(hashedAddress(door, email)), counted, since);
    if (linksSent >= signInLinksMax) return;
    const token = randomToken(32);
    const expiresAt = new Date(now.getTime() + signInLinkMs);
    const browserHash = hashKeys.hash(hashedBrowser(input.browserSecret)).hash;
    const link = { id: newId("signInLink"), door, personId: person?.id ?? null, browserHash, expiresAt };
    await insertLink(tx, { ...link, emailHash, token: hashKeys.hash(hashedToken(token)), createdAt: now });
    const language = person?.language || languageOf(input.language);
    const content = mailTexts(language).signInLink({ link: `${origin}/sign-in/links/${token}`, ...browser });
    const to = person ? email : null;
    await queueMail(context, tx, { to, kind: "sign_in_link", content, objectId: link.id, giveUpAt: expiresAt });
  });
  context.mails.now();
}

/** @throws Failure UNAUTHORIZED, INVALID_BODY (field `code`), FEATURE_DISABLED */
export async function redeemSignInLink(
  context: MerchantContext,
  door: Door,
  input: { readonly token: string; readonly browserSecret: string; readonly code: string },
  browser: BrowserInfo,
): Promise<IssuedSession> {
  const { hashKeys } = context;
  openDoor(context, door);
  const use = await context.db.transaction(async (tx): Promise<LinkUse> => {
    const link = await lockLink(tx, hashKeys.hashes(hashedToken(input.token)));
    const isHere = hashKeys
      .hashes(hashedBrowser(input.browserSecret))
      .some((hash) => link !== undefined && sameSecret(hash, link.browserHash));
    if (!link || !isHere || link.door !== door || link.expiresAt <= clockNow()) {
      return { refused: new Failure("UNAUTHORIZED") };
    }
    return await useLink(context, tx, link, input, browser);
  });
  context.outbox.wake();
  context.mails.now();
  if ("refused" in use) throw use.refused;
  return { secret: use.secret, view: await viewSession(context, await findSession(context, use.secret, door)) };
}

async function useLink(
  context: MerchantContext,
  tx: MappedTx,
  { id, personId, door }: SignInLink,
  { code, browserSecret }: { readonly code: string; readonly browserSecret: string },
  browser: BrowserInfo,
): Promise<LinkUse> {
  const person = personId === null ? null : await lockPerson(tx.em, personId);
  if (!person || (await membershipsOf(tx, person.id, door)).length === 0)
    return { refused: new Failure("UNAUTHORIZED") };
  await proveAddress(tx, person);
  const hasApp = (await findAuthenticator(tx.em, person.id))?.confirmedAt != null;
  if (hasApp && code === "") return { refused: invalidField("code", "is required") };
  const isProved = hasApp && (await checkCode(context.vault, tx, person.id, code, "secret")).isRight;
  if (hasApp && !isProved) {
    await recordWrongCodeOfLink(tx, id);
    return { refused: wrongCode() };
  }
  await spendLink(tx, id);
  await recordBrowser(tx, person.id, knownHash(browserSecret), clockNow());
  const begun = { personId: person.id, door, isFull: isProved, isProved, browser };
  const { secret, id: session } = await beginSession(context, tx, begun);
  await announceOwn(context, tx, { personId: person.id, door }, "person.signed_in", person.id, { by: "link", session });
  return { secret };
}
