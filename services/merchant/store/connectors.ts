// The connectors table. The lookup for a new session is a hot path. Credentials stay encrypted here.
import type { Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ConnectorFacts } from "../rules/connector-choice.ts";
import type { MerchantStatus } from "../rules/profile.ts";
import { type Routing, routedAccountsMax } from "../rules/routing.ts";
import { routingColumns } from "./routings.ts";

export interface ConnectorRow extends ConnectorFacts {
  readonly id: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly connector: string;
  readonly externalAccountId: string;
}

/** A connector with its encrypted credentials and its merchant's settings. */
export interface AccountRow {
  readonly connector: ConnectorRow;
  readonly credentials: Buffer;
  readonly merchantStatus: MerchantStatus;
  readonly merchantCountry: string;
  readonly refundsEnabled: boolean;
}

type Row = Omit<ConnectorRow, "selectedSurface"> & { readonly selectedSurface: string | null };
const columns = `c.id, c.merchant_id as "merchantId", c.environment, c.connector, c.is_primary as "isPrimary",
  c.is_active as "isActive", c.can_be_primary as "canBePrimary", c.allowed_surfaces as "allowedSurfaces",
  c.default_surface as "defaultSurface", c.selected_surface as "selectedSurface",
  c.external_account_id as "externalAccountId", c.payment_methods as "paymentMethods"`;
type AccountColumns = Omit<AccountRow, "connector"> & Row;
const accountColumns = `${columns}, c.credentials, m.status as "merchantStatus", m.country as "merchantCountry",
  m.refunds_enabled as "refundsEnabled"`;

/** Violated if the processor's account is already stored, perhaps for another merchant. */
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

// A buyer does not wait for more processors than this.
export const fallbacksMax = 4;

/**
 * The merchant's status, its routing and the accounts that may serve a new session: the primary one first, then those
 * that a rule or the session names, then, if an outage or a decline may lead to the next account, the other active ones
 * that may be primary. Undefined if the merchant does not exist.
 */
export async function findCandidates(
  sql: Sql,
  merchantId: string,
  environment: Environment,
  connectorId: string,
): Promise<{ merchantStatus: MerchantStatus; routing: Routing; accounts: AccountRow[] } | undefined> {
  const rows = await sql.rows<(AccountColumns | { id: null; merchantStatus: MerchantStatus }) & Routing>(
    `select ${accountColumns}, ${routingColumns} from merchants m
     left join routings r on r.merchant_id = m.id and r.environment = $2
     cross join lateral (select coalesce(jsonb_path_query_array(r.rules, '$[*].use[*]'), '[]') as used) named
     left join connectors c on c.merchant_id = m.id and c.environment = $2
       and (c.is_primary or (c.is_active and c.can_be_primary
         and (coalesce(r.on_outage = 'next' or r.decline_codes <> '{}', m.failover_enabled) or c.id = $3 or named.used @> to_jsonb(c.id))))
     where m.id = $1 order by c.is_primary desc, c.id = $3 or named.used @> to_jsonb(c.id) desc, c.id limit $4`,
    [merchantId, environment, connectorId, 2 + routedAccountsMax + fallbacksMax],
  );
  const [first] = rows;
  if (!first) return undefined;
  const { merchantStatus, rules, onOutage, declineCodes, version } = first;
  const accounts = rows.flatMap((row) => (row.id === null ? [] : [accountOf(row)]));
  return { merchantStatus, routing: { rules, onOutage, declineCodes, version }, accounts };
}

export async function findAccountById(sql: Sql, id: string): Promise<AccountRow | undefined> {
  const [row] = await sql.rows<AccountColumns>(
    `select ${accountColumns} from connectors c join merchants m on m.id = c.merchant_id where c.id = $1`,
    [id],
  );
  return row && accountOf(row);
}

/** At most one account of each environment. */
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

/** Primary first, then by id. */
export async function listConnectors(sql: Sql, merchantId: string, environment: Environment): Promise<ConnectorRow[]> {
  const rows = await sql.rows<Row>(
    `select ${columns} from connectors c where c.merchant_id = $1 and c.environment = $2
     order by c.is_primary desc, c.id`,
    [merchantId, environment],
  );
  return rows.map(connectorOf);
}

/** Locks all connectors of the environment, always in the same order, so transactions cannot deadlock. */
export async function lockConnectors(sql: Sql, merchantId: string, environment: Environment): Promise<ConnectorRow[]> {
  const rows = await sql.rows<Row>(
    `select ${columns} from connectors c where c.merchant_id = $1 and c.environment = $2 order by c.id for update`,
    [merchantId, environment],
  );
  return rows.map(connectorOf);
}

/** Demote the old primary account before another one becomes primary. */
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

export async function updateMethods(sql: Sql, id: string, methods: readonly string[]): Promise<void> {
  await sql.rows("update connectors set payment_methods = $2 where id = $1", [id, methods]);
}

export async function updateCredentials(sql: Sql, id: string, credentials: Buffer): Promise<void> {
  await sql.rows("update connectors set credentials = $2 where id = $1", [id, credentials]);
}

function accountOf(row: AccountColumns): AccountRow {
  const { credentials, merchantStatus, merchantCountry, refundsEnabled, ...connector } = row;
  return { connector: connectorOf(connector), credentials, merchantStatus, merchantCountry, refundsEnabled };
}

function connectorOf(row: Row): ConnectorRow {
  return { ...row, selectedSurface: row.selectedSurface ?? undefined };
}
