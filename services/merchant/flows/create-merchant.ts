// Creates a merchant with its branding and a sandbox account at the simulator in ONE transaction, which announces
// `merchant.created`. Database triggers copy profile and branding to the sandbox.
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { brandingDefaults } from "../rules/branding.ts";
import { homeViolations, profileViolations } from "../rules/profile.ts";
import { insertBranding } from "../store/brandings.ts";
import type { MappedTx } from "../store/mapped-database.ts";
import { insertMerchant, type Merchant } from "../store/merchants.ts";
import { openSimulatorAccount } from "./open-account.ts";

interface NewMerchant {
  readonly name: string;
  readonly legalName: string;
  readonly email: string;
  readonly country: string;
  readonly currency: string;
}

/** @throws Failure INVALID_BODY (an invalid field) */
export async function createMerchant(context: MerchantContext, input: NewMerchant): Promise<Merchant> {
  const violations = [...profileViolations(input), ...homeViolations(input)];
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const merchant = await context.db.transaction((tx) => addMerchant(context, tx, input));
  context.outbox.wake();
  return merchant;
}

/** For the transaction of onboarding, too. The caller wakes the outbox after the commit. */
export async function addMerchant(context: MerchantContext, tx: MappedTx, input: NewMerchant): Promise<Merchant> {
  const merchant: Merchant = {
    id: newId("merchant"),
    ...input,
    status: "active",
    phone: "",
    website: "",
    refundsEnabled: true,
    failoverEnabled: false,
    timeZone: "",
    createdAt: clockNow(),
  };
  await insertMerchant(tx.em, merchant);
  await insertBranding(tx.em, { merchantId: merchant.id, ...brandingDefaults });
  await openSimulatorAccount(context, tx, merchant.id);
  await context.outbox.append(tx, [merchantChanged("merchant.created", merchant)]);
  return merchant;
}

/** The announcement of a change that concerns both environments. */
export function merchantChanged(type: "merchant.created" | "merchant.updated", merchant: Merchant) {
  return {
    type,
    merchantId: merchant.id,
    environment: Environment.UNSPECIFIED,
    objectId: merchant.id,
    status: merchant.status,
    at: clockNow(),
  };
}
