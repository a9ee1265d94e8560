// Changes a merchant's checkout branding, in ONE transaction that announces `branding.updated`.
import { Failure } from "#platform/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Branding, brandingViolations } from "../rules/branding.ts";
import { lockBranding } from "../store/brandings.ts";
import type { MerchantContext } from "./context.ts";

/** @throws Failure NOT_FOUND, INVALID_BODY. */
export async function updateBranding(
  context: MerchantContext,
  merchantId: string,
  change: Partial<Branding>,
): Promise<Branding> {
  const violations = brandingViolations(change);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const branding = await context.db.transaction(async (tx) => {
    const found = await lockBranding(tx.em, merchantId);
    if (!found) throw new Failure("NOT_FOUND");
    tx.em.assign(found, change);
    await context.outbox.append(tx, [
      {
        type: "branding.updated",
        merchantId,
        environment: Environment.UNSPECIFIED,
        objectId: merchantId,
        status: "",
        at: new Date(),
        attributes: { changed: Object.keys(change).join(",") },
      },
    ]);
    return found;
  });
  context.outbox.poke();
  return branding;
}
