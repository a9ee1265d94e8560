// The tables endpoints and earlier_secrets. MikroORM serves administration; one plain statement serves the hot path.
import { defineEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import type { Sql, Tx } from "#platform/database/database.ts";
import type { MappedTx } from "#platform/database/mapped-database.ts";
import type { LaneKey } from "./delivery-queue.ts";

const EndpointSchema = defineEntity({
  name: "Endpoint",
  tableName: "endpoints",
  properties: {
    merchantId: p.string().primary(),
    id: p.string().primary(),
    environment: p.integer(),
    slot: p.integer(),
    url: p.text(),
    description: p.text(),
    eventTypes: p.array().columnType("text[]"),
    status: p.string().$type<EndpointStatus>(),
    payload: p.string().$type<EndpointPayload>(),
    secret: p.blob(),
    previousSecret: p.blob().nullable(),
    previousUntil: p.datetime(6).nullable(),
    createdAt: p.datetime(6).defaultRaw("now()"),
    statusChangedAt: p.datetime(6).defaultRaw("now()"),
    deletedAt: p.datetime(6).nullable(),
  },
});

export type EndpointStatus = "active" | "disabled";
/** Deliveries have ids and status of the event's object, or the object itself. */
export type EndpointPayload = "reference" | "object";

export class Endpoint extends EndpointSchema.class {}
EndpointSchema.setClass(Endpoint);

export const endpointEntities = [EndpointSchema];

/** The calling merchant in one environment. */
export interface Owner {
  readonly merchantId: string;
  readonly environment: number;
}

/** Limit per merchant and environment (docs/contract.md §9); the table has as many slots. */
export const endpointsMax = 16;

/** The owner's live endpoints, newest first. */
export async function listEndpoints(em: SqlEntityManager, owner: Owner): Promise<Endpoint[]> {
  return await em.find(Endpoint, liveEndpointsOf(owner), { orderBy: { id: "desc" }, limit: endpointsMax });
}

/** The owner's live endpoint, or null. */
export async function findEndpoint(em: SqlEntityManager, owner: Owner, id: string): Promise<Endpoint | null> {
  return await em.findOne(Endpoint, { ...liveEndpointsOf(owner), id });
}

export async function lockEndpoint(tx: MappedTx, owner: Owner, id: string): Promise<Endpoint | null> {
  return await tx.em.findOne(Endpoint, { ...liveEndpointsOf(owner), id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

function liveEndpointsOf(owner: Owner) {
  return { merchantId: owner.merchantId, environment: owner.environment, deletedAt: null };
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
