// The tables endpoints and earlier_secrets.
import { parseTime, type Sql, type Tx } from "#platform/database/database.ts";
import type { LaneKey } from "./delivery-queue.ts";

export type EndpointStatus = "active" | "disabled";
/** Deliveries have ids and status of the event's object, or the object itself. */
export type EndpointPayload = "reference" | "object";

/** A change is stored by `saveEndpoint`. */
export interface Endpoint {
  readonly merchantId: string;
  readonly id: string;
  readonly environment: number;
  url: string;
  description: string;
  eventTypes: readonly string[];
  status: EndpointStatus;
  payload: EndpointPayload;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousUntil: Date | null;
  readonly createdAt: Date;
  statusChangedAt: Date;
  deletedAt: Date | null;
}

/** The calling merchant in one environment. */
export interface Owner {
  readonly merchantId: string;
  readonly environment: number;
}

/** Limit per merchant and environment (docs/contract.md §9); the table has as many slots. */
export const endpointsMax = 16;

/** The owner's live endpoints, newest first. */
export async function listEndpoints(sql: Sql, owner: Owner): Promise<Endpoint[]> {
  const rows = await sql.rows<EndpointRow>(`${liveText} order by id desc limit $3`, [...keyOf(owner), endpointsMax]);
  return rows.map(endpointOf);
}

/** The owner's live endpoint. */
export async function findEndpoint(sql: Sql, owner: Owner, id: string): Promise<Endpoint | undefined> {
  const [row] = await sql.rows<EndpointRow>(`${liveText} and id = $3`, [...keyOf(owner), id]);
  return row && endpointOf(row);
}

export async function lockEndpoint(tx: Tx, owner: Owner, id: string): Promise<Endpoint | undefined> {
  const [row] = await tx.rows<EndpointRow>(`${liveText} and id = $3 for update`, [...keyOf(owner), id]);
  return row && endpointOf(row);
}

/** Lock it before. */
export async function saveEndpoint(tx: Tx, endpoint: Endpoint): Promise<void> {
  const { merchantId, id, url, description, eventTypes, status, payload, secret, previousSecret } = endpoint;
  const times = [endpoint.previousUntil, endpoint.statusChangedAt, endpoint.deletedAt];
  await tx.rows(
    `update endpoints set url = $3, description = $4, event_types = $5::text[], status = $6, secret = $7, previous_secret = $8,
       previous_until = $9, status_changed_at = $10, deleted_at = $11, payload = $12
     where merchant_id = $1 and id = $2`,
    [merchantId, id, url, description, eventTypes, status, secret, previousSecret, ...times, payload],
  );
}

type TimeField = "createdAt" | "statusChangedAt";
type EndpointRow = Omit<Endpoint, TimeField | "previousUntil" | "deletedAt"> &
  Readonly<Record<TimeField, string>> & { readonly previousUntil: string | null };

const liveText = `select merchant_id as "merchantId", id, environment, url, description, event_types as "eventTypes", status, payload,
    secret, previous_secret as "previousSecret", previous_until as "previousUntil", created_at as "createdAt",
    status_changed_at as "statusChangedAt"
  from endpoints where merchant_id = $1 and environment = $2 and deleted_at is null`;

const keyOf = ({ merchantId, environment }: Owner) => [merchantId, environment];

function endpointOf({ previousUntil, createdAt, statusChangedAt, ...row }: EndpointRow): Endpoint {
  return {
    ...row,
    previousUntil: parseTime(previousUntil),
    createdAt: parseTime(createdAt),
    statusChangedAt: parseTime(statusChangedAt),
    deletedAt: null,
  };
}

interface NewEndpoint extends Owner {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
  readonly payload: EndpointPayload;
  readonly secret: Buffer;
}

/** Inserts the endpoint into the lowest free slot. @returns false if there is no free slot */
export async function insertEndpoint(tx: Tx, endpoint: NewEndpoint): Promise<boolean> {
  const { merchantId, id, environment, url, description, eventTypes, payload, secret } = endpoint;
  // Two inserts at once would choose the same slot; the second waits for the first one's commit.
  await tx.rows("select pg_advisory_xact_lock(hashtextextended('endpoints/' || $1::text, 0))", [merchantId]);
  const rows = await tx.rows(
    `insert into endpoints (merchant_id, id, environment, slot, url, description, event_types, secret, payload)
     select $1, $2, $3::smallint, free.slot, $4, $5, $6::text[], $7, $9
     from generate_series(0, $8::int - 1) as free (slot)
     where not exists (select from endpoints e
       where e.merchant_id = $1 and e.environment = $3::smallint and e.slot = free.slot and e.deleted_at is null)
     order by free.slot limit 1
     returning slot`,
    [merchantId, id, environment, url, description, eventTypes, secret, endpointsMax, payload],
  );
  return rows.length === 1;
}

export interface SendingRow {
  readonly merchant_id: string;
  readonly id: string;
  readonly url: string;
  readonly status: EndpointStatus;
  /** The current secret, then replaced ones that still sign, newest first. */
  readonly secrets: readonly Buffer[];
}

/** Loads endpoints for the sender; deleted ones are absent. */
export async function loadForSending(sql: Sql, keys: readonly LaneKey[]): Promise<SendingRow[]> {
  return await sql.rows<SendingRow>(
    `select e.merchant_id, e.id, e.url, e.status,
       array[e.secret] || case when e.previous_until > now() then array[e.previous_secret] else '{}' end || array(
         select s.secret from earlier_secrets s
         where s.merchant_id = e.merchant_id and s.endpoint_id = e.id and s.signs_until > now()
         order by s.signs_until desc) as secrets
     from unnest($1::text[], $2::text[]) as wanted (merchant_id, id)
     join endpoints e using (merchant_id, id)
     where e.deleted_at is null`,
    [keys.map((k) => k.merchantId), keys.map((k) => k.endpointId)],
  );
}

/** Limit of replaced secrets that still sign: each lengthens every delivery's header. */
const earlierMax = 4;

/**
 * Keeps the endpoint's previous secret while it still signs, and drops the oldest past the limit. Lock it before.
 * @param until the time at which all of them stop, at the latest
 */
export async function keepPreviousSecret(tx: Tx, { merchantId, id }: Endpoint, until: Date): Promise<void> {
  await tx.rows(
    "update earlier_secrets set signs_until = least(signs_until, $3) where merchant_id = $1 and endpoint_id = $2",
    [merchantId, id, until],
  );
  await tx.rows(
    `with kept as (
       select ctid as row_id from earlier_secrets
       where merchant_id = $1 and endpoint_id = $2 and signs_until > now() order by signs_until desc limit $3::int - 2),
     dropped as (
       delete from earlier_secrets
       where merchant_id = $1 and endpoint_id = $2 and ctid not in (select row_id from kept))
     insert into earlier_secrets (merchant_id, endpoint_id, secret, signs_until)
     select merchant_id, id, previous_secret, least(previous_until, $4) from endpoints
     where merchant_id = $1 and id = $2 and previous_until > now() and $4 > now()`,
    [merchantId, id, earlierMax, until],
  );
}

export async function dropEarlierSecrets(sql: Sql): Promise<void> {
  await sql.rows("delete from earlier_secrets where signs_until <= now()");
}

// Deliveries, which refer to the endpoint, are kept for at most 94 days.
const keepDeletedDays = 95;

export async function dropForgottenEndpoints(sql: Sql): Promise<void> {
  await sql.rows("delete from endpoints where deleted_at < now() - make_interval(days => $1)", [keepDeletedDays]);
}
