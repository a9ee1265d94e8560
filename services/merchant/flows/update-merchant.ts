// Changes a merchant's profile (by itself) or its standing (by an operator), in ONE transaction that announces
// `merchant.updated` with the status in force; gateways drop what they know of the merchant's keys then.
import { Failure } from "#platform/failure.ts";
import { type Profile, profileViolations, type Standing } from "../rules/profile.ts";
import { lockMerchant, type Merchant } from "../store/merchants.ts";
import type { MerchantContext } from "./context.ts";
import { merchantChanged } from "./create-merchant.ts";

/** @throws Failure NOT_FOUND, INVALID_BODY. */
export async function updateProfile(
  context: MerchantContext,
  merchantId: string,
  change: Partial<Profile>,
): Promise<Merchant> {
  const violations = profileViolations(change);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  return update(context, merchantId, change);
}

/** An operator may move a merchant between any of the states, also back. @throws Failure NOT_FOUND. */
export function updateStanding(
  context: MerchantContext,
  merchantId: string,
  change: Partial<Standing>,
): Promise<Merchant> {
  return update(context, merchantId, change);
}

async function update(context: MerchantContext, merchantId: string, change: Partial<Profile & Standing>) {
  const merchant = await context.db.transaction(async (tx) => {
    const found = await lockMerchant(tx.em, merchantId);
    if (!found) throw new Failure("NOT_FOUND");
    tx.em.assign(found, change);
    await context.outbox.append(tx, [
      { ...merchantChanged("merchant.updated", found), attributes: { changed: Object.keys(change).join(",") } },
    ]);
    return found;
  });
  context.outbox.poke();
  return merchant;
}
