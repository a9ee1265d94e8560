// The risk_rules table. It has few rows: the defaults and what operators added for single merchants.
import { asJson } from "#platform/database/batch.ts";
import { boolean, Columns, integer, sqlColumn, text } from "#platform/database/columns.ts";
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { RiskRule } from "../rules/risk.ts";

export interface StoredRule extends RiskRule {
  /** UNSPECIFIED: both. */
  readonly environment: Environment;
  readonly operator: string;
  readonly note: string;
  readonly updatedAt: Date;
}

const ruleColumns = new Columns({
  id: text,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  kind: sqlColumn<RiskRule["kind"]>("text"),
  subject: text,
  limitValue: { type: "bigint", read: Number, write: (limit: number) => limit },
  windowSeconds: integer,
  entries: sqlColumn<readonly string[]>("text[]"),
  enabled: boolean,
  operator: text,
  note: text,
});

interface Row {
  readonly updated_at: string;
}

/** Rules of the merchants, of which `*` is one, by kind, subject and environment. */
export async function listRules(sql: Sql, merchantIds: readonly string[]): Promise<StoredRule[]> {
  const rows = await sql.rows<Row>(
    `select * from risk_rules where merchant_id = any($1::text[]) order by kind, subject, environment, merchant_id`,
    [merchantIds],
  );
  return rows.map(ruleOf);
}

export async function lockRule(sql: Sql, id: string): Promise<StoredRule | undefined> {
  const [row] = await sql.rows<Row>(`select * from risk_rules where id = $1 for update`, [id]);
  return row && ruleOf(row);
}

/** Inserts the rule, or updates the changeable columns of the rule with this id. */
export async function saveRule(sql: Sql, rule: Omit<StoredRule, "updatedAt">): Promise<StoredRule> {
  const [row] = await sql.rows<Row>(
    `insert into risk_rules (${ruleColumns.names()})
     select ${ruleColumns.names()} from jsonb_to_recordset($1) as r (${ruleColumns.types})
     on conflict (id) do update set limit_value = excluded.limit_value, window_seconds = excluded.window_seconds,
       entries = excluded.entries, enabled = excluded.enabled, operator = excluded.operator, note = excluded.note,
       updated_at = now()
     returning *`,
    [asJson([ruleColumns.write({ ...rule, limitValue: rule.limit })])],
  );
  if (!row) throw new Error("the rule was not written");
  return ruleOf(row);
}

export async function deleteRule(sql: Sql, id: string): Promise<void> {
  await sql.rows(`delete from risk_rules where id = $1`, [id]);
}

function ruleOf(row: Row): StoredRule {
  const { limitValue: limit, ...rule } = ruleColumns.read(row);
  return { ...rule, limit, updatedAt: parseTime(row.updated_at) };
}
