// The tables provider_links and provider_tokens: who people are at the identity provider, and which of its tokens were
// used.
import type { Sql } from "#platform/database/database.ts";

export async function findLinked(sql: Sql, issuer: string, subject: string): Promise<string | undefined> {
  const [row] = await sql.rows<{ person_id: string }>(
    "select person_id from provider_links where issuer = $1 and subject = $2",
    [issuer, subject],
  );
  return row?.person_id;
}

/** True when the person has signed in there before. */
export async function isLinked(sql: Sql, issuer: string, personId: string): Promise<boolean> {
  const rows = await sql.rows("select 1 from provider_links where person_id = $2 and issuer = $1", [issuer, personId]);
  return rows.length > 0;
}

/** @returns false: the person is another subject there */
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

/** @returns false: it was used before */
export async function spendToken(sql: Sql, tokenHash: Buffer, at: Date): Promise<boolean> {
  const rows = await sql.rows(
    "insert into provider_tokens (token_hash, used_at) values ($1, $2) on conflict do nothing returning token_hash",
    [tokenHash, at.toISOString()],
  );
  return rows.length === 1;
}

const sweepMax = 1_000;

/** @returns true when there may be more */
export async function sweepTokens(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `with over as materialized (
       select token_hash from provider_tokens where used_at <= now() - interval '1 day'
       order by used_at limit $1 for update skip locked)
     delete from provider_tokens t using over where t.token_hash = over.token_hash returning t.token_hash`,
    [sweepMax],
  );
  return rows.length === sweepMax;
}
