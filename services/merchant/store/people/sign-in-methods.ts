// What a person can sign in by, read from the tables of its kinds.
import type { Sql } from "#platform/database/database.ts";

/** True when the person can sign in: by a passkey or an app, whatever host it is for, or by the identity provider. */
export async function hasSignInMethod(sql: Sql, personId: string): Promise<boolean> {
  const [row] = await sql.rows<{ has: boolean }>(
    `select exists (select from passkeys where person_id = $1)
       or exists (select from authenticators where person_id = $1 and confirmed_at is not null)
       or exists (select from provider_links where person_id = $1) as has`,
    [personId],
  );
  return row?.has === true;
}
