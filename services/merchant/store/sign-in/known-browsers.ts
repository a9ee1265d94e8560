// The known_browsers table: the browsers that a person has used, each as a hash of its user agent, or of its secret if
// it has used a sign-in link.
import type { Sql } from "#platform/database/database.ts";
import { deleteBatch } from "../rows.ts";

/** @returns true if the browser is new and the person has used other ones */
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

/** @returns true if there may be more */
export function sweepBrowsers(sql: Sql): Promise<boolean> {
  return deleteBatch(sql, "known_browsers", "last_used_at <= now() - interval '400 days'");
}
