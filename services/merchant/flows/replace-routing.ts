// Replaces a merchant's routing in ONE transaction, which announces `routing.updated`. The merchant's row is locked, so
// that of two replacements of the same version one is refused.
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { type Routing, routingViolations } from "../rules/routing.ts";
import { listConnectors } from "../store/connectors.ts";
import { lockMerchant } from "../store/merchants.ts";
import { findRouting, saveRouting } from "../store/routings.ts";

/** @param routing with the version that the caller has read @throws Failure NOT_FOUND, INVALID_BODY. */
export async function replaceRouting(
  context: MerchantContext,
  { merchantId, environment }: { readonly merchantId: string; readonly environment: Environment },
  routing: Routing,
): Promise<Routing> {
  const replaced = { ...routing, version: routing.version + 1 };
  await context.db.transaction(async (tx) => {
    if (!(await lockMerchant(tx.em, merchantId))) throw new Failure("NOT_FOUND");
    const violations = routingViolations(routing.rules, await listConnectors(tx, merchantId, environment));
    if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
    const stored = await findRouting(tx, merchantId, environment);
    if (stored?.version !== routing.version) {
      throw invalidField("version", `must be ${stored?.version}: the routing has changed since you read it`);
    }
    await saveRouting(tx, merchantId, environment, replaced);
    const event = { type: "routing.updated", merchantId, environment, objectId: merchantId, status: "" };
    const on_decline = replaced.declineCodes.join(",");
    const attributes = { version: String(replaced.version), rules: String(replaced.rules.length), on_decline };
    await context.outbox.append(tx, [
      { ...event, at: clockNow(), attributes: { ...attributes, on_outage: replaced.onOutage } },
    ]);
  });
  context.outbox.wake();
  return replaced;
}
