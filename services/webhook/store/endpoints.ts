// The table endpoints: its mapping for the administrative paths, and one statement for the hot one (what sending needs
// to know).
import { defineEntity, LockMode, p, type SqlEntityManager } from "@mikro-orm/postgresql";
import { isDuplicate, type Sql, type Tx } from "#platform/database/database.ts";
import type { MappedTx } from "#platform/database/mapped-database.ts";

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
    secret: p.blob(),
    previousSecret: p.blob().nullable(),
    previousUntil: p.datetime(6).nullable(),
    createdAt: p.datetime(6).defaultRaw("now()"),
    statusChangedAt: p.datetime(6).defaultRaw("now()"),
    deletedAt: p.datetime(6).nullable(),
  },
});

export type EndpointStatus = "active" | "disabled";

export class Endpoint extends EndpointSchema.class {}
EndpointSchema.setClass(Endpoint);

/** The mapped entities of this table. */
export const endpointEntities = [EndpointSchema];

/** Who asks: a merchant in one environment. */
export interface Owner {
  readonly merchantId: string;
  readonly environment: number;
}

/** Most endpoints of a merchant in one environment (docs/contract.md §9); the table has as many slots. */
export const endpointsMax = 16;

/** The live endpoints of the owner, newest first. */
export async function listEndpoints(em: SqlEntityManager, owner: Owner): Promise<Endpoint[]> {
  const live = { merchantId: owner.merchantId, environment: owner.environment, deletedAt: null };
  return await em.find(Endpoint, live, { orderBy: { id: "desc" }, limit: endpointsMax });
}

/** The owner's live endpoint, or null. */
export async function findEndpoint(em: SqlEntityManager, owner: Owner, id: string): Promise<Endpoint | null> {
  return await em.findOne(Endpoint, { ...ownerFilter(owner), id });
}

/** Locks and answers the owner's live endpoint, or null; waits for whoever changes it. */
export async function lockEndpoint(tx: MappedTx, owner: Owner, id: string): Promise<Endpoint | null> {
  return await tx.em.findOne(Endpoint, { ...ownerFilter(owner), id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

function ownerFilter(owner: Owner) {
  return { merchantId: owner.merchantId, environment: owner.environment, deletedAt: null };
}

/** What is stored of a new endpoint. */
export interface NewEndpoint extends Owner {
  readonly id: string;
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
  readonly secret: Buffer;
}

/**
 * Inserts the endpoint into the lowest free slot.
 * @returns "full" when there is none; "taken" when another insert took it first, which ends the transaction: try again
 */
export async function insertEndpoint(sql: Sql, endpoint: NewEndpoint): Promise<"inserted" | "full" | "taken"> {
  try {
    const rows = await sql.rows(
      `insert into endpoints (merchant_id, id, environment, slot, url, description, event_types, secret)
       select $1, $2, $3::smallint, free.slot, $4, $5, $6::text[], $7
       from generate_series(0, $8::int - 1) as free (slot)
       where not exists (select from endpoints e
         where e.merchant_id = $1 and e.environment = $3::smallint and e.slot = free.slot and e.deleted_at is null)
       order by free.slot limit 1
       returning slot`,
      [
        endpoint.merchantId,
        endpoint.id,
        endpoint.environment,
        endpoint.url,
        endpoint.description,
        endpoint.eventTypes,
        endpoint.secret,
        endpointsMax,
      ],
    );
    return rows.length === 1 ? "inserted" : "full";
  } catch (error) {
    if (isDuplicate(error, "endpoints_slot")) return "taken";
    throw error;
  }
}

/** What sending needs of an endpoint. */
export interface SendingRow {
  readonly merchant_id: string;
  readonly id: string;
  readonly url: string;
  readonly status: EndpointStatus;
  /** The current secret, then those before it while their overlap lasts, the newest first. */
  readonly secrets: readonly Buffer[];
}

/** The live endpoints among those named; a deleted one is absent. */
export async function loadForSending(
  sql: Sql,
  keys: readonly { readonly merchantId: string; readonly endpointId: string }[],
): Promise<SendingRow[]> {
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

/** Most secrets that sign beside the current one: each lengthens every delivery's header. */
const earlierMax = 4;

/**
 * Keeps the previous secret of an endpoint that gets another one, as long as it signs; past the most, the oldest goes.
 * The caller has locked the endpoint.
 */
export async function keepPreviousSecret(tx: Tx, { merchantId, id }: Endpoint): Promise<void> {
  await tx.rows(
    `with kept as (
       select ctid as place from earlier_secrets
       where merchant_id = $1 and endpoint_id = $2 and signs_until > now() order by signs_until desc limit $3::int - 2),
     dropped as (
       delete from earlier_secrets
       where merchant_id = $1 and endpoint_id = $2 and ctid not in (select place from kept))
     insert into earlier_secrets (merchant_id, endpoint_id, secret, signs_until)
     select merchant_id, id, previous_secret, previous_until from endpoints
     where merchant_id = $1 and id = $2 and previous_until > now()`,
    [merchantId, id, earlierMax],
  );
}

/** Deletes secrets that sign no more. */
export async function dropEarlierSecrets(sql: Sql): Promise<void> {
  await sql.rows("delete from earlier_secrets where signs_until <= now()");
}

// Deliveries are kept for 94 days at most; after that nothing refers to the endpoint.
const keepDeletedDays = 95;

/** Deletes the rows of endpoints that were deleted so long ago that no history of theirs is left. */
export async function dropForgottenEndpoints(sql: Sql): Promise<void> {
  await sql.rows("delete from endpoints where deleted_at < now() - make_interval(days => $1)", [keepDeletedDays]);
}
