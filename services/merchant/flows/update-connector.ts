// Selects a connector's surface and/or makes it primary, in ONE transaction that also takes primary from the other one
// and announces `connector.updated` for each account that changed.
import type { Announcement } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalid } from "#platform/values/failure.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { type ConnectorInput, isEligible } from "../rules/connector-choice.ts";
import { type ConnectorRow, lockConnectors, updateConnector } from "../store/connectors.ts";

export interface ConnectorChange extends ConnectorInput {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connectorId: string;
}

/** @throws Failure INVALID_BODY (nothing asked for), NOT_FOUND, CONNECTOR_NOT_ELIGIBLE. */
export async function changeConnector(context: MerchantContext, change: ConnectorChange): Promise<ConnectorRow> {
  if (change.selectedSurface === undefined && !change.makePrimary) {
    throw invalid("selected_surface", "is required unless is_default is true");
  }
  const connector = await context.db.transaction(async (tx) => {
    const all = await lockConnectors(tx, change.merchantId, change.environment);
    const found = all.find((c) => c.id === change.connectorId);
    if (!found) throw new Failure("NOT_FOUND");
    if (!isEligible(found, change)) throw new Failure("CONNECTOR_NOT_ELIGIBLE");
    const changed = {
      ...found,
      isPrimary: found.isPrimary || change.makePrimary,
      selectedSurface: change.selectedSurface ?? found.selectedSurface,
    };
    const former = changed.isPrimary ? all.find((c) => c.isPrimary && c.id !== found.id) : undefined;
    const steps = former ? [{ ...former, isPrimary: false }, changed] : [changed];
    for (const step of steps) await updateConnector(tx, step);
    await context.outbox.append(tx, steps.map(connectorUpdated));
    return changed;
  });
  context.outbox.wake();
  return connector;
}

/** What payments and the gateway hear, so that they forget what they know. */
export function connectorUpdated(connector: ConnectorRow): Announcement {
  return {
    type: "connector.updated",
    merchantId: connector.merchantId,
    environment: connector.environment,
    objectId: connector.id,
    status: connector.isActive ? "active" : "inactive",
    at: clockNow(),
    attributes: { is_default: String(connector.isPrimary) },
  };
}
