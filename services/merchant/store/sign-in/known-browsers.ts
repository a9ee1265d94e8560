// The known_browsers table: what a person signed in from, as hashes: of what a browser says of itself, and of the
// secret that one keeps which has used a link.
import type { Sql } from "#platform/database/database.ts";

/** @returns true when the person has used others, and this one never */
export async function recordBrowser(sql: Sql, personId: string, agentHash: Buffer, at: Date): Promise<boolean> {
  const [row] = await sql.rows<{ known: boolean; others: boolean }>(
    `with before as (select agent_hash from known_browsers where person_id = $1),
       kept as (
         insert into known_browsers (person_id, agent_hash, last_used_at) values ($1, $2, $3)
         on conflict (person_id, agent_hash) do update set last_used_at = excluded.last_used_at returning 1)
     select exists (select from before where agent_hash = $2) as known,
       exists (select from before where agent_hash <> $2) as others from kept`,
    [personId, agentHash, at.toISOString()],
  );
  return row?.known === false && row.others;
}

export async function isKnownBrowser(sql: Sql, personId: string, hash: Buffer): Promise<boolean> {
  const rows = await sql.rows("select 1 from known_browsers where person_id = $1 and agent_hash = $2", [
    personId,
    hash,
  ]);
  return rows.length > 0;
}

const keepDays = 400;
const sweepMax = 1_000;

/** @returns true when there may be more */
export async function sweepBrowsers(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `delete from known_browsers where (person_id, agent_hash) in (
       select person_id, agent_hash from known_browsers where last_used_at <= now() - make_interval(days => $1) limit $2)
     returning person_id`,
    [keepDays, sweepMax],
  );
  return rows.length === sweepMax;
}
