// The logos table.
import type { Sql } from "#platform/database/database.ts";
import type { LogoType } from "../rules/branding.ts";

export interface Logo {
  readonly type: LogoType;
  readonly content: Buffer;
}

/** Also deletes the merchant's logos that no branding shows; a new one may not be shown yet. @returns the id */
export async function insertLogo(sql: Sql, merchantId: string, { type, content }: Logo): Promise<string> {
  const isShown = (table: string) => `exists (
    select from ${table} b where b.merchant_id = l.merchant_id and b.logo_url like '%/logos/' || l.id)`;
  const [row] = await sql.rows<{ id: string }>(
    `with replaced as (
       delete from logos l where l.merchant_id = $1 and l.created_at < now() - interval '1 hour'
         and not ${isShown("brandings")} and not ${isShown("sandbox_brandings")})
     insert into logos (merchant_id, type, content) values ($1, $2, $3) returning id`,
    [merchantId, type, content],
  );
  if (!row) throw new Error("no logo was inserted");
  return row.id;
}

export async function findLogo(sql: Sql, id: string): Promise<Logo | undefined> {
  const [row] = await sql.rows<Logo>("select type, content from logos where id = $1", [id]);
  return row;
}
