// Changes a merchant's checkout branding in one environment or in both, in ONE transaction that announces
// `branding.updated`.
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { type Branding, brandingViolations } from "../rules/branding.ts";
import { type BrandingRow, lockBranding } from "../store/brandings.ts";
import { markProfilesSynced } from "../store/sandbox-profiles.ts";

// The live one first, which is what is answered.
const both = [Environment.LIVE, Environment.SANDBOX] as const;

/**
 * @param environment unspecified: both, as an operator means it, and a gateway of the release that knew one copy only
 * @returns the branding in that environment; of both the live one
 * @throws Failure NOT_FOUND, INVALID_BODY.
 */
export async function updateBranding(
  context: MerchantContext,
  { merchantId, environment }: { readonly merchantId: string; readonly environment: Environment },
  change: Partial<Branding>,
): Promise<Branding> {
  const violations = brandingViolations(change);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const branding = await context.db.transaction(async (tx) => {
    await markProfilesSynced(tx);
    const found: BrandingRow[] = [];
    for (const each of environment === Environment.UNSPECIFIED ? both : [environment]) {
      const copy = await lockBranding(tx.em, merchantId, each);
      if (copy) found.push(copy);
    }
    const [answered] = found;
    if (!answered) throw new Failure("NOT_FOUND");
    for (const copy of found) tx.em.assign(copy, change);
    await context.outbox.append(tx, [
      {
        type: "branding.updated",
        merchantId,
        environment,
        objectId: merchantId,
        status: "",
        at: clockNow(),
        attributes: { changed: Object.keys(change).join(",") },
      },
    ]);
    return answered;
  });
  context.outbox.wake();
  return branding;
}
