// Reserves a use of a payment link for a new session, in the transaction that inserts the session.
import type { Tx } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { isId } from "#platform/values/id.ts";
import { type LinkState, linkState } from "../../rules/payment-link.ts";
import { findLink, lockLink } from "../../store/payment-links.ts";

export class NoUseLeft extends Error {
  override name = "NoUseLeft";
  readonly state: Exclude<LinkState, "active">;

  constructor(state: Exclude<LinkState, "active">) {
    super(`the payment link is ${state}`);
    this.state = state;
  }
}

/**
 * Holds the link's lock until the transaction ends, so that sessions of a link are inserted one after another.
 * @throws NoUseLeft
 */
export async function reserveUse(tx: Tx, linkId: string): Promise<void> {
  if (!isId("paymentLink", linkId)) throw new Error("not the id of a payment link");
  await lockLink(tx, linkId);
  const link = await findLink(tx, linkId);
  const state = link ? linkState(link, link, clockNow()) : "closed";
  if (state !== "active") throw new NoUseLeft(state);
}
