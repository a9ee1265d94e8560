// The connectors table. The look-up for a new session is on its hot path: one named statement. Credentials stay
// ciphertext here.
import type { Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ConnectorFacts } from "../rules/connector-choice.ts";
import type { MerchantStatus } from "../rules/profile.ts";

export interface ConnectorRow extends ConnectorFacts {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connector: string;
  readonly externalAccountId: string;
}

/** A connector with its sealed credentials and what its merchant allows. */
export interface AccountRow {
  readonly connector: ConnectorRow;
  readonly credentials: Buffer;
  readonly merchantStatus: MerchantStatus;
  readonly refundsEnabled: boolean;
}

interface Row {
  id: string;
  merchant_id: string;
  environment: Environment;
  connector: string;
  is_primary: boolean;
  is_active: boolean;
  can_be_primary: boolean;
  allowed_surfaces: string[];
  default_surface: string;
  selected_surface: string | null;
  external_account_id: string;
}
const columns = `c.id, c.merchant_id, c.environment, c.connector, c.is_primary, c.is_active, c.can_be_primary,
  c.allowed_surfaces, c.default_surface, c.selected_surface, c.external_account_id`;
type MerchantColumns = { merchant_status: MerchantStatus; refunds_enabled: boolean };
type AccountColumns = Row & MerchantColumns & { credentials: Buffer };
const accountColumns = `${columns}, c.credentials, m.status as merchant_status, m.refunds_enabled`;

/** The account of the processor that is stored already, perhaps for another merchant: the constraint it breaks. */
export const accountConstraint = "connectors_connector_environment_external_account_id_key";

export async function insertConnector(sql: Sql, connector: ConnectorRow, credentials: Buffer): Promise<void> {
  await sql.rows(
    `insert into connectors (id, merchant_id, environment, connector, is_primary, is_active, can_be_primary,
       allowed_surfaces, default_surface, selected_surface, external_account_id, credentials)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      connector.id,
      connector.merchantId,
      connector.environment,
      connector.connector,
      connector.isPrimary,
      connector.isActive,
      connector.canBePrimary,
      connector.allowedSurfaces,
      connector.defaultSurface,
      connector.selectedSurface ?? null,
      connector.externalAccountId,
      credentials,
    ],
  );
}

// A merchant has a handful of accounts; a buyer does not wait for more processors than this.
const candidatesMax = 5;

/**
 * The merchant's status and the accounts that may serve a new session: the primary one first, if there is one, then,
 * where the merchant allows failover, the other active ones that may be primary. undefined: no such merchant.
 */
export async function findCandidates(
  sql: Sql,
  merchantId: string,
  environment: Environment,
): Promise<{ merchantStatus: MerchantStatus; accounts: AccountRow[] } | undefined> {
  const rows = await sql.rows<AccountColumns | (MerchantColumns & { id: null })>(
    `select ${accountColumns} from merchants m
     left join connectors c on c.merchant_id = m.id and c.environment = $2
       and (c.is_primary or (m.failover_enabled and c.is_active and c.can_be_primary))
     where m.id = $1 order by c.is_primary desc, c.id limit ${candidatesMax}`,
    [merchantId, environment],
  );
  const [first] = rows;
  const accounts = rows.flatMap((row) => (row.id === null ? [] : [accountOf(row)]));
  return first && { merchantStatus: first.merchant_status, accounts };
}

export async function findAccountById(sql: Sql, id: string): Promise<AccountRow | undefined> {
  const [row] = await sql.rows<AccountColumns>(
    `select ${accountColumns} from connectors c join merchants m on m.id = c.merchant_id where c.id = $1`,
    [id],
  );
  return row && accountOf(row);
}

/** By the processor's words: at most one account of each environment. */
export async function findAccountsByExternal(
  sql: Sql,
  connector: string,
  externalAccountId: string,
): Promise<AccountRow[]> {
  const rows = await sql.rows<AccountColumns>(
    `select ${accountColumns} from connectors c join merchants m on m.id = c.merchant_id
     where c.connector = $1 and c.external_account_id = $2 order by c.environment`,
    [connector, externalAccountId],
  );
  return rows.map(accountOf);
}

/** Primary first, then by id. A merchant has as many accounts as operators gave it: a handful. */
export async function listConnectors(sql: Sql, merchantId: string, environment: Environment): Promise<ConnectorRow[]> {
  const rows = await sql.rows<Row>(
    `select ${columns} from connectors c where c.merchant_id = $1 and c.environment = $2
     order by c.is_primary desc, c.id`,
    [merchantId, environment],
  );
  return rows.map(connectorOf);
}

/** All the merchant's connectors of the environment, locked until the transaction ends, in one order for everybody. */
export async function lockConnectors(sql: Sql, merchantId: string, environment: Environment): Promise<ConnectorRow[]> {
  const rows = await sql.rows<Row>(
    `select ${columns} from connectors c where c.merchant_id = $1 and c.environment = $2 order by c.id for update`,
    [merchantId, environment],
  );
  return rows.map(connectorOf);
}

/** Writes what can change. Take primary from the old account before another one gets it. */
export async function updateConnector(sql: Sql, connector: ConnectorRow): Promise<void> {
  await sql.rows(
    `update connectors set is_primary = $2, is_active = $3, allowed_surfaces = $4, default_surface = $5,
       selected_surface = $6 where id = $1`,
    [
      connector.id,
      connector.isPrimary,
      connector.isActive,
      connector.allowedSurfaces,
      connector.defaultSurface,
      connector.selectedSurface ?? null,
    ],
  );
}

export async function updateCredentials(sql: Sql, id: string, credentials: Buffer): Promise<void> {
  await sql.rows("update connectors set credentials = $2 where id = $1", [id, credentials]);
}

function accountOf(row: AccountColumns): AccountRow {
  return {
    connector: connectorOf(row),
    credentials: row.credentials,
    merchantStatus: row.merchant_status,
    refundsEnabled: row.refunds_enabled,
  };
}

function connectorOf(row: Row): ConnectorRow {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    environment: row.environment,
    connector: row.connector,
    isPrimary: row.is_primary,
    isActive: row.is_active,
    canBePrimary: row.can_be_primary,
    allowedSurfaces: row.allowed_surfaces,
    defaultSurface: row.default_surface,
    selectedSurface: row.selected_surface ?? undefined,
    externalAccountId: row.external_account_id,
  };
}
