// What a person can prove themselves by, read from the tables of its kinds.
import type { Sql } from "#platform/database/database.ts";

/** True when the person can prove themselves by something, whatever host it is for. */
export async function hasWayIn(sql: Sql, personId: string): Promise<boolean> {
  const [row] = await sql.rows<{ has: boolean }>(
    `select exists (select from passkeys where person_id = $1)
       or exists (select from authenticators where person_id = $1 and confirmed_at is not null) as has`,
    [personId],
  );
  return row?.has === true;
}

/**
 * True when whoever holds a link for this address may become the person: nobody can sign in as them yet.
 * @param readsMail the link went to the address and nowhere else; otherwise who made it may not become a person who
 * works for others too
 */
export async function isUnclaimed(
  sql: Sql,
  personId: string,
  { merchantId, readsMail }: { readonly merchantId: string; readonly readsMail: boolean },
): Promise<boolean> {
  if (await hasWayIn(sql, personId)) return false;
  if (readsMail) return true;
  const [row] = await sql.rows<{ elsewhere: boolean }>(
    `select exists (select from memberships where person_id = $1 and merchant_id <> $2) as elsewhere`,
    [personId, merchantId],
  );
  return row?.elsewhere === false;
}
