// The risk_rules table. Few rows: an installation's defaults and what operators added for single merchants.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { RiskRule } from "../rules/risk.ts";

export interface StoredRule extends RiskRule {
  /** Unspecified: both. */
  readonly environment: Environment;
  readonly operator: string;
  readonly note: string;
  readonly updatedAt: Date;
}

interface Row {
  id: string;
  merchant_id: string;
  environment: Environment;
  kind: RiskRule["kind"];
  subject: string;
  limit_value: string;
  window_seconds: number;
  entries: string[];
  enabled: boolean;
  operator: string;
  note: string;
  updated_at: string;
}

/** Those of the merchants named, by kind, subject and environment; `*` is a name too. */
export async function listRules(sql: Sql, merchantIds: readonly string[]): Promise<StoredRule[]> {
  const rows = await sql.rows<Row>(
    `select * from risk_rules where merchant_id = any($1::text[]) order by kind, subject, environment, merchant_id`,
    [merchantIds],
  );
  return rows.map(ruleOf);
}

/** The rule, locked until the transaction ends. */
export async function lockRule(sql: Sql, id: string): Promise<StoredRule | undefined> {
  const [row] = await sql.rows<Row>(`select * from risk_rules where id = $1 for update`, [id]);
  return row && ruleOf(row);
}

/** Inserts the rule or writes what an operator changed of the one with this id. */
export async function saveRule(sql: Sql, rule: Omit<StoredRule, "updatedAt">): Promise<StoredRule> {
  const [row] = await sql.rows<Row>(
    `insert into risk_rules (id, merchant_id, environment, kind, subject, limit_value, window_seconds, entries, enabled, operator, note)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     on conflict (id) do update set limit_value = excluded.limit_value, window_seconds = excluded.window_seconds,
       entries = excluded.entries, enabled = excluded.enabled, operator = excluded.operator, note = excluded.note,
       updated_at = now()
     returning *`,
    [
      rule.id,
      rule.merchantId,
      rule.environment,
      rule.kind,
      rule.subject,
      rule.limit,
      rule.windowSeconds,
      rule.entries,
      rule.enabled,
      rule.operator,
      rule.note,
    ],
  );
  if (!row) throw new Error("a rule that was written is gone");
  return ruleOf(row);
}

export async function deleteRule(sql: Sql, id: string): Promise<void> {
  await sql.rows(`delete from risk_rules where id = $1`, [id]);
}

function ruleOf(row: Row): StoredRule {
  return {
    id: row.id,
    merchantId: row.merchant_id,
    environment: row.environment,
    kind: row.kind,
    subject: row.subject,
    limit: Number(row.limit_value),
    windowSeconds: row.window_seconds,
    entries: row.entries,
    enabled: row.enabled,
    operator: row.operator,
    note: row.note,
    updatedAt: parseTime(row.updated_at),
  };
}
