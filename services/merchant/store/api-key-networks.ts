// The api_key_networks table: where live keys were used from.
import { parseTime, type Sql } from "#platform/database/database.ts";
import { networksMax } from "../rules/key-network.ts";

/** A key at a network. */
export interface UsedNetwork {
  readonly keyId: string;
  readonly network: string;
}

/** Networks of one live key that are not remembered. */
export interface UnknownNetworks {
  readonly keyId: string;
  readonly merchantId: string;
  /** In the order in which they were asked about. */
  readonly networks: readonly string[];
  /** How many others of the key are remembered. */
  readonly known: number;
}

/** What of these is not remembered yet and has room. Keys of the sandbox and unknown ones are passed over. */
export async function findUnknownNetworks(sql: Sql, usedNetworks: readonly UsedNetwork[]): Promise<UnknownNetworks[]> {
  const rows = await sql.rows<{ key_id: string; merchant_id: string; networks: string[]; known: string }>(
    `with used as (
       select key_id, network::cidr as network, min(place) as place
       from unnest($1::text[], $2::text[]) with ordinality as u (key_id, network, place) group by 1, 2)
     select k.id as key_id, k.merchant_id, array_agg(text(used.network) order by used.place) as networks, count_of.known
     from used join api_keys k on k.id = used.key_id and k.environment = 2
       cross join lateral (select count(*) as known from api_key_networks n where n.key_id = k.id) as count_of
     where count_of.known < $3
       and not exists (select from api_key_networks n where n.key_id = k.id and n.network = used.network)
     group by k.id, count_of.known order by k.id`,
    [usedNetworks.map(({ keyId }) => keyId), usedNetworks.map(({ network }) => network), networksMax],
  );
  return rows.map((row) => {
    return { keyId: row.key_id, merchantId: row.merchant_id, networks: row.networks, known: Number(row.known) };
  });
}

/**
 * Until the transaction ends nobody else adds networks of these keys. Locked in the order of their ids, as uses are
 * recorded.
 */
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

/** A network of one key. */
export interface SeenNetwork {
  readonly network: string;
  readonly firstSeenAt: Date;
}

/** The newest first; there are few (rules/key-network.ts). */
export async function listNetworks(sql: Sql, keyId: string): Promise<SeenNetwork[]> {
  const rows = await sql.rows<{ network: string; first_seen_at: string }>(
    `select text(network) as network, first_seen_at from api_key_networks where key_id = $1
     order by first_seen_at desc, network`,
    [keyId],
  );
  return rows.map((row) => ({ network: row.network, firstSeenAt: parseTime(row.first_seen_at) }));
}
