// Changes connector accounts, each change in ONE transaction that announces `connector.updated` for every changed
// account. At most one account of an environment is primary: making one primary demotes the other. Payments has
// verified new credentials with the processor before.
import { isDuplicate } from "#platform/database/database.ts";
import type { Announcement } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { type ConnectorInput, isEligible, mayServe } from "../rules/connector-choice.ts";
import {
  accountConstraint,
  type ConnectorRow,
  insertConnector,
  lockConnectors,
  updateConnector,
  updateCredentials,
  updateMethods,
} from "../store/connectors.ts";
import type { MappedTx } from "../store/mapped-database.ts";
import { lockMerchant } from "../store/merchants.ts";
import { sealCredentials } from "./open-account.ts";

interface ConnectorKey {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connectorId: string;
}

/** Selects a surface, or makes the account primary. @throws Failure INVALID_BODY, NOT_FOUND, CONNECTOR_NOT_ELIGIBLE. */
export async function changeConnector(
  context: MerchantContext,
  change: ConnectorInput & ConnectorKey,
): Promise<ConnectorRow> {
  if (change.selectedSurface === undefined && !change.makePrimary) {
    throw invalidField("selected_surface", "is required unless is_default is true");
  }
  const connector = await context.db.transaction(async (tx) => {
    const { all, found } = await lockAccount(tx, change);
    if (!isEligible(found, change)) throw new Failure("CONNECTOR_NOT_ELIGIBLE");
    const changed = {
      ...found,
      isPrimary: found.isPrimary || change.makePrimary,
      selectedSurface: change.selectedSurface ?? found.selectedSurface,
    };
    const demoted = await demoteFormer(tx, all, changed);
    await updateConnector(tx, changed);
    await context.outbox.append(tx, [...demoted, changed].map(connectorUpdated));
    return changed;
  });
  context.outbox.wake();
  return connector;
}

interface CheckedAccount {
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connector: string;
  readonly externalAccountId: string;
  readonly credentials: Record<string, string>;
  /** The connector's surfaces; the first one is a new account's default. */
  readonly surfaces: readonly string[];
  readonly makePrimary: boolean;
}

/**
 * Stores a new account, or activates a stored one with new credentials and keeps the merchant's choices.
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
  const stored = all.find((c) => c.connector === connector && c.externalAccountId === externalAccountId);
  const changed = stored ? renewedAccount(stored, account) : newAccount(newId("connector"), account);
  const demoted = await demoteFormer(tx, all, changed);
  const sealed = sealCredentials(context.vault, changed.id, account.credentials);
  if (stored) {
    await updateConnector(tx, changed);
    await updateCredentials(tx, changed.id, sealed);
  } else await insertConnector(tx, changed, sealed);
  await context.outbox.append(tx, [...demoted, changed].map(connectorUpdated));
  return changed;
}

/** New sessions no longer use it; refunds and events of its payments still do. @throws Failure NOT_FOUND. */
export async function deactivateAccount(context: MerchantContext, key: ConnectorKey): Promise<ConnectorRow> {
  const inactive = await context.db.transaction(async (tx) => {
    const { found } = await lockAccount(tx, key);
    const changed = { ...found, isActive: false, isPrimary: false };
    if (!found.isActive) return changed;
    await updateConnector(tx, changed);
    await context.outbox.append(tx, [connectorUpdated(changed)]);
    return changed;
  });
  context.outbox.wake();
  return inactive;
}

/** Of new sessions. The caller has checked that the connector has them. @throws Failure NOT_FOUND. */
export async function chooseMethods(
  context: MerchantContext,
  { paymentMethods, ...key }: ConnectorKey & { readonly paymentMethods: readonly string[] },
): Promise<ConnectorRow> {
  const chosen = await context.db.transaction(async (tx) => {
    const { found } = await lockAccount(tx, key);
    const changed = { ...found, paymentMethods };
    await updateMethods(tx, found.id, paymentMethods);
    await context.outbox.append(tx, [connectorUpdated(changed)]);
    return changed;
  });
  context.outbox.wake();
  return chosen;
}

async function lockAccount(tx: MappedTx, { merchantId, environment, connectorId }: ConnectorKey) {
  const all = await lockConnectors(tx, merchantId, environment);
  const found = requireFound(all.find(({ id }) => id === connectorId));
  return { all, found };
}

/** Must run before the new primary account is written: the database allows one primary account. */
async function demoteFormer(
  tx: MappedTx,
  all: readonly ConnectorRow[],
  { id, isPrimary }: ConnectorRow,
): Promise<ConnectorRow[]> {
  const former = all.filter((account) => isPrimary && account.isPrimary && account.id !== id);
  const demoted = former.map((account) => ({ ...account, isPrimary: false }));
  for (const account of demoted) await updateConnector(tx, account);
  return demoted;
}

function renewedAccount(stored: ConnectorRow, { surfaces, makePrimary }: CheckedAccount): ConnectorRow {
  const offered = (surface: string | undefined) => (surface && surfaces.includes(surface) ? surface : undefined);
  return {
    ...stored,
    isActive: true,
    isPrimary: stored.isPrimary || makePrimary,
    allowedSurfaces: surfaces,
    defaultSurface: offered(stored.defaultSurface) ?? surfaces[0] ?? "",
    selectedSurface: offered(stored.selectedSurface),
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
    paymentMethods: ["card"],
  };
}

function connectorUpdated({ merchantId, environment, id, isActive, isPrimary }: ConnectorRow): Announcement {
  return {
    type: "connector.updated",
    merchantId,
    environment,
    objectId: id,
    status: isActive ? "active" : "inactive",
    at: clockNow(),
    attributes: { is_default: String(isPrimary) },
  };
}
