// Stores a processor's account with its credentials, or switches one off; each in ONE transaction that announces
// `connector.updated` for every account that changed. That the processor knows the credentials was asked by payments.
import { isDuplicate } from "#platform/database/database.ts";
import type { MappedTx } from "#platform/database/mapped-database.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { mayServe } from "../rules/connector-choice.ts";
import {
  accountConstraint,
  type ConnectorRow,
  insertConnector,
  lockConnectors,
  updateConnector,
  updateCredentials,
} from "../store/connectors.ts";
import { lockMerchant } from "../store/merchants.ts";
import { sealCredentials } from "./open-account.ts";
import { connectorUpdated } from "./update-connector.ts";

export interface CheckedAccount {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connector: string;
  readonly externalAccountId: string;
  readonly credentials: Record<string, string>;
  /** What the connector offers; the first is the default of a new account. */
  readonly surfaces: readonly string[];
  readonly makePrimary: boolean;
}

/**
 * A known account gets the new credentials and is active again; what the merchant chose stays.
 * @throws Failure NOT_FOUND (merchant), CONNECTOR_NOT_ELIGIBLE (another merchant has the account, or it may not serve
 * the environment).
 */
export async function saveAccount(context: MerchantContext, account: CheckedAccount): Promise<ConnectorRow> {
  const { connector, environment } = account;
  if (!mayServe({ connector, isLive: environment === Environment.LIVE })) throw new Failure("CONNECTOR_NOT_ELIGIBLE");
  try {
    const saved = await context.db.transaction((tx) => writeAccount(context, tx, account));
    context.outbox.wake();
    return saved;
  } catch (error) {
    throw isDuplicate(error, accountConstraint) ? new Failure("CONNECTOR_NOT_ELIGIBLE", { cause: error }) : error;
  }
}

async function writeAccount(context: MerchantContext, tx: MappedTx, account: CheckedAccount): Promise<ConnectorRow> {
  const { merchantId, environment, connector, externalAccountId } = account;
  if (!(await lockMerchant(tx.em, merchantId))) throw new Failure("NOT_FOUND");
  const all = await lockConnectors(tx, merchantId, environment);
  const known = all.find((c) => c.connector === connector && c.externalAccountId === externalAccountId);
  const changed = known ? renewedAccount(known, account) : newAccount(newId("connector"), account);
  const former = changed.isPrimary ? all.find((c) => c.isPrimary && c.id !== changed.id) : undefined;
  const demoted = former && { ...former, isPrimary: false };
  if (demoted) await updateConnector(tx, demoted);
  const sealed = sealCredentials(context.vault, changed.id, account.credentials);
  if (known) {
    await updateConnector(tx, changed);
    await updateCredentials(tx, changed.id, sealed);
  } else await insertConnector(tx, changed, sealed);
  await context.outbox.append(tx, [...(demoted ? [demoted] : []), changed].map(connectorUpdated));
  return changed;
}

/** No new sessions use it; refunds and events of its payments still do. @throws Failure NOT_FOUND. */
export async function deactivateAccount(
  context: MerchantContext,
  named: { merchantId: string; environment: Environment; connectorId: string },
): Promise<ConnectorRow> {
  const inactive = await context.db.transaction(async (tx) => {
    const all = await lockConnectors(tx, named.merchantId, named.environment);
    const found = all.find((c) => c.id === named.connectorId);
    if (!found) throw new Failure("NOT_FOUND");
    const changed = { ...found, isActive: false, isPrimary: false };
    if (!found.isActive) return changed;
    await updateConnector(tx, changed);
    await context.outbox.append(tx, [connectorUpdated(changed)]);
    return changed;
  });
  context.outbox.wake();
  return inactive;
}

function renewedAccount(known: ConnectorRow, { surfaces, makePrimary }: CheckedAccount): ConnectorRow {
  const offered = (surface: string | undefined) => (surface && surfaces.includes(surface) ? surface : undefined);
  return {
    ...known,
    isActive: true,
    isPrimary: known.isPrimary || makePrimary,
    allowedSurfaces: surfaces,
    defaultSurface: offered(known.defaultSurface) ?? surfaces[0] ?? "",
    selectedSurface: offered(known.selectedSurface),
  };
}

function newAccount(id: string, account: CheckedAccount): ConnectorRow {
  const { merchantId, environment, connector, externalAccountId, surfaces, makePrimary } = account;
  return {
    id,
    merchantId,
    environment,
    connector,
    externalAccountId,
    isPrimary: makePrimary,
    isActive: true,
    canBePrimary: true,
    allowedSurfaces: surfaces,
    defaultSurface: surfaces[0] ?? "",
    selectedSurface: undefined,
  };
}
