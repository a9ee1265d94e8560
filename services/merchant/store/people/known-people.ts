// The known_people table: who is or was a member where.
import type { Sql } from "#platform/database/database.ts";
import type { SessionPerson } from "./console-sessions.ts";

export async function rememberPerson(sql: Sql, merchantId: string, personId: string): Promise<void> {
  await sql.rows("insert into known_people (merchant_id, person_id) values ($1, $2) on conflict do nothing", [
    merchantId,
    personId,
  ]);
}

/** Those of the people who are known there. */
export function knownPeople(sql: Sql, merchantId: string, ids: readonly string[]): Promise<SessionPerson[]> {
  return sql.rows<SessionPerson>(
    `select p.id, p.email, p.name, p.language from known_people k join persons p on p.id = k.person_id
     where k.merchant_id = $1 and k.person_id = any($2)`,
    [merchantId, ids],
  );
}
