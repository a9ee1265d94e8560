// The tables provider_links (people's subjects at the identity provider) and provider_tokens (its used tokens).
import type { Sql } from "#platform/database/database.ts";
import { deleteBatch } from "../rows.ts";

export async function findLinked(sql: Sql, issuer: string, subject: string): Promise<string | undefined> {
  const [row] = await sql.rows<{ person_id: string }>(
    "select person_id from provider_links where issuer = $1 and subject = $2",
    [issuer, subject],
  );
  return row?.person_id;
}

export async function isLinked(sql: Sql, issuer: string, personId: string): Promise<boolean> {
  const rows = await sql.rows("select 1 from provider_links where person_id = $2 and issuer = $1", [issuer, personId]);
  return rows.length > 0;
}

/** @returns false if the person is linked to another subject */
export async function linkPerson(
  sql: Sql,
  link: { readonly issuer: string; readonly subject: string; readonly personId: string; readonly at: Date },
): Promise<boolean> {
  const rows = await sql.rows(
    `insert into provider_links (issuer, subject, person_id, created_at) values ($1, $2, $3, $4)
     on conflict do nothing returning person_id`,
    [link.issuer, link.subject, link.personId, link.at.toISOString()],
  );
  return rows.length === 1;
}

export async function deleteLinksOf(sql: Sql, personId: string): Promise<void> {
  await sql.rows("delete from provider_links where person_id = $1", [personId]);
}

/** @returns false if it was used before */
export async function spendToken(sql: Sql, tokenHash: Buffer, at: Date): Promise<boolean> {
  const rows = await sql.rows(
    "insert into provider_tokens (token_hash, used_at) values ($1, $2) on conflict do nothing returning token_hash",
    [tokenHash, at.toISOString()],
  );
  return rows.length === 1;
}

/** @returns true if there may be more */
export function sweepTokens(sql: Sql): Promise<boolean> {
  return deleteBatch(sql, "provider_tokens", "used_at <= now() - interval '1 day' order by used_at");
}
