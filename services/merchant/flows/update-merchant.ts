// Changes a merchant's profile in one environment or in both (by itself), or its standing (by an operator), in ONE
// transaction that announces `merchant.updated` with the status in force; gateways drop what they know of the
// merchant's keys then.
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { type Home, movedHome, type Profile, profileViolations, type Standing } from "../rules/profile.ts";
import { lockMerchant, type Merchant } from "../store/merchants.ts";
import { lockSandboxProfile, markProfilesSynced } from "../store/sandbox-profiles.ts";
import { merchantChanged } from "./create-merchant.ts";

/**
 * @param environment unspecified: both, as an operator means it, and a gateway of the release that knew one copy only
 * @param home what the caller takes for the merchant's country and currency, which do not change
 * @returns the merchant, and its profile in that environment; of both the live one
 * @throws Failure NOT_FOUND, INVALID_BODY.
 */
export async function updateProfile(
  context: MerchantContext,
  { merchantId, environment }: { readonly merchantId: string; readonly environment: Environment },
  change: Partial<Profile>,
  home: Partial<Home> = {},
): Promise<{ merchant: Merchant; profile: Profile }> {
  const violations = profileViolations(change);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const updated = await context.db.transaction(async (tx) => {
    const merchant = await lockMerchant(tx.em, merchantId);
    if (!merchant) throw new Failure("NOT_FOUND");
    const moved = movedHome(merchant, home);
    if (moved.length > 0) throw new Failure("INVALID_BODY", { violations: moved });
    await markProfilesSynced(tx);
    const sandbox = await lockSandboxProfile(tx.em, merchantId);
    if (environment !== Environment.LIVE) tx.em.assign(sandbox, change);
    if (environment !== Environment.SANDBOX) tx.em.assign(merchant, change);
    await context.outbox.append(tx, [merchantUpdated(merchant, environment, change)]);
    return { merchant, profile: environment === Environment.SANDBOX ? sandbox : merchant };
  });
  context.outbox.wake();
  return updated;
}

/**
 * An operator may move a merchant between any of the states, also back.
 * @param reason kept in the audit log; may be empty
 * @throws Failure NOT_FOUND.
 */
export async function updateStanding(
  context: MerchantContext,
  merchantId: string,
  change: Partial<Standing>,
  reason: string,
): Promise<Merchant> {
  const merchant = await context.db.transaction(async (tx) => {
    const found = await lockMerchant(tx.em, merchantId);
    if (!found) throw new Failure("NOT_FOUND");
    tx.em.assign(found, change);
    await context.outbox.append(tx, [merchantUpdated(found, Environment.UNSPECIFIED, change, reason)]);
    return found;
  });
  context.outbox.wake();
  return merchant;
}

function merchantUpdated(merchant: Merchant, environment: Environment, change: object, reason = "") {
  const attributes = { changed: Object.keys(change).join(","), ...(reason !== "" && { reason }) };
  return { ...merchantChanged("merchant.updated", merchant), environment, attributes };
}
