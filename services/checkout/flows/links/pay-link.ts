// Makes a session for a buyer who opens a payment link. Phases: 1 read the link and its uses · 2 a link for one payment
// leads to its live session, so that each opening is the same payment · 3 create a session as for a merchant; the
// transaction that inserts it holds the link's lock and counts the uses again (reserveUse). An intent whose session
// found no use left is never shown to a buyer, and payments cancels it.
import { sameSecret } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { invalidField, requireFound } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { CheckoutContext } from "../../context.ts";
import { linkUrl } from "../../messages.ts";
import { type LinkState, linkState } from "../../rules/payment-link.ts";
import { findLink, findLiveSession, type StoredLink } from "../../store/payment-links.ts";
import { findSession } from "../../store/sessions.ts";
import { pageUrl } from "../buyers/return-token.ts";
import { createSession } from "../create-session.ts";
import { linkSessionSecrets } from "../session-secret.ts";
import { NoUseLeft } from "./reserve-use.ts";

/** As short as a visit: a use that is not paid is free again after it. */
const sessionSeconds = 1_800;

interface OpenedLink {
  readonly state: LinkState;
  /** The hosted page with its secret; empty unless the buyer may pay. */
  readonly checkoutUrl: string;
}

/** @throws Failure NOT_FOUND. */
export async function describeLink({ db }: Pick<CheckoutContext, "db">, linkId: string): Promise<StoredLink> {
  const link = requireFound(isId("paymentLink", linkId) ? await findLink(db, linkId) : undefined);
  return link;
}

/**
 * @param amount that the buyer typed; undefined: none
 * @throws Failure NOT_FOUND, INVALID_BODY (amount), and failures of createSession
 */
export async function payLink(
  context: CheckoutContext,
  linkId: string,
  amount: bigint | undefined,
): Promise<OpenedLink> {
  const link = await describeLink(context, linkId);
  const state = linkState(link, link, clockNow());
  if (state === "busy") return await reopenSession(context, link);
  if (state !== "active") return { state, checkoutUrl: "" };
  const { amountMin, amountMax } = link;
  const chosen = amountMin === amountMax ? amountMin : (amount ?? 0n);
  if (chosen < amountMin || chosen > amountMax) throw invalidField("amount", "must be within the link's bounds");
  try {
    return { state, checkoutUrl: await startSession(context, link, chosen) };
  } catch (error) {
    if (!(error instanceof NoUseLeft)) throw error;
    // Another buyer, or another opening of this one, was faster.
    return error.state === "busy" ? await reopenSession(context, link) : { state: error.state, checkoutUrl: "" };
  }
}

async function startSession(context: CheckoutContext, link: StoredLink, amount: bigint): Promise<string> {
  const { merchantId, environment, currency, description, orderReference, customerEmail, ...rest } = link;
  const { captureMethod, locale, lineItems } = rest;
  const url = linkUrl(context.checkoutOrigin, link.id);
  // A live session takes no other address than https, which a page on this machine lacks.
  const cancelUrl = environment === Environment.LIVE && !url.startsWith("https:") ? "" : url;
  const { checkoutUrl } = await createSession(context, {
    ...{ merchantId, environment, amount, currency, description, orderReference, customerEmail },
    ...{ captureMethod, locale, lineItems, paymentMethods: [], metadata: {}, successUrl: "", cancelUrl },
    ...{ paymentLinkId: link.id, connectorId: "" },
    expiresInSeconds: sessionSeconds,
    idempotency: undefined,
  });
  return checkoutUrl;
}

/** The page of the live session of a link for one payment; any other link stays busy. */
async function reopenSession(context: CheckoutContext, { id, usesMax }: StoredLink): Promise<OpenedLink> {
  const busy = { state: "busy", checkoutUrl: "" } as const;
  const { checkoutOrigin, hashKeys, db } = context;
  const sessionId = usesMax === 1 ? await findLiveSession(db, id) : undefined;
  const session = sessionId && (await findSession(db, sessionId));
  if (!session || checkoutOrigin === undefined) return busy;
  // After a change of the hash key the secret is that of an earlier key.
  const secret = linkSessionSecrets(hashKeys, session.id).find((each) =>
    hashKeys.hashes(each).some((hash) => sameSecret(hash, session.secretHash.hash)),
  );
  return secret ? { state: "active", checkoutUrl: `${pageUrl(checkoutOrigin, session.id)}#${secret}` } : busy;
}
