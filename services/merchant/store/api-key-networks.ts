// The api_key_networks table: the networks that live keys were used from.
import { parseTime, type Sql } from "#platform/database/database.ts";
import { networksMax } from "../rules/key-network.ts";
import type { Stored } from "./rows.ts";

export interface UsedNetwork {
  readonly keyId: string;
  readonly network: string;
}

/** Networks of one live key that are not stored. */
interface UnknownNetworks {
  readonly keyId: string;
  readonly merchantId: string;
  /** In the order of the input. */
  readonly networks: readonly string[];
  readonly known: number;
}

/** Finds the networks that are not stored and below the limit. Sandbox keys and unknown keys are ignored. */
export async function findUnknownNetworks(sql: Sql, usedNetworks: readonly UsedNetwork[]): Promise<UnknownNetworks[]> {
  return await sql.rows<UnknownNetworks>(
    `with used as (
       select key_id, network::cidr as network, min(position) as position
       from unnest($1::text[], $2::text[]) with ordinality as u (key_id, network, position) group by 1, 2)
     select k.id as "keyId", k.merchant_id as "merchantId",
       array_agg(text(used.network) order by used.position) as networks, stored.known
     from used join api_keys k on k.id = used.key_id and k.environment = 2
       cross join lateral (select count(*)::int as known from api_key_networks n where n.key_id = k.id) as stored
     where stored.known < $3
       and not exists (select from api_key_networks n where n.key_id = k.id and n.network = used.network)
     group by k.id, stored.known order by k.id`,
    [usedNetworks.map(({ keyId }) => keyId), usedNetworks.map(({ network }) => network), networksMax],
  );
}

/** Locks keys in the order of their ids, as `recordUses` does, so that transactions cannot deadlock. */
export async function lockKeys(sql: Sql, ids: readonly string[]): Promise<void> {
  await sql.rows("select id from api_keys where id = any($1) order by id for no key update", [ids]);
}

export async function insertNetworks(sql: Sql, usedNetworks: readonly UsedNetwork[], at: Date): Promise<void> {
  await sql.rows(
    `insert into api_key_networks (key_id, network, first_seen_at)
     select key_id, network::cidr, $3 from unnest($1::text[], $2::text[]) as p (key_id, network)`,
    [usedNetworks.map(({ keyId }) => keyId), usedNetworks.map(({ network }) => network), at.toISOString()],
  );
}

export interface SeenNetwork {
  readonly network: string;
  readonly firstSeenAt: Date;
}

export async function listNetworks(sql: Sql, keyId: string): Promise<SeenNetwork[]> {
  const rows = await sql.rows<Stored<SeenNetwork>>(
    `select text(network) as network, first_seen_at as "firstSeenAt" from api_key_networks where key_id = $1
     order by first_seen_at desc, network`,
    [keyId],
  );
  return rows.map(({ network, firstSeenAt }) => ({ network, firstSeenAt: parseTime(firstSeenAt) }));
}
