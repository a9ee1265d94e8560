// The risk_decisions table: each decision about a session with the results of its rules. The decision that admits a new
// session is inserted with it (store/new-sessions.ts).
import { boolean, Columns, sqlColumn, text, time } from "#platform/database/columns.ts";
import type { Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { RiskDecision } from "../rules/risk.ts";
import type { Owner } from "./session-lists.ts";

export interface StoredDecision extends RiskDecision {
  readonly sessionId: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly decidedAt: Date;
}

const decisionColumns = new Columns({
  sessionId: text,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  stage: sqlColumn<RiskDecision["stage"]>("text"),
  blocked: boolean,
  looks: sqlColumn<RiskDecision["results"]>("jsonb"),
  decidedAt: time,
});

// More decisions come from a script.
const decisionsMax = 100;

export async function insertDecision(sql: Sql, owner: Owner, sessionId: string, decision: RiskDecision): Promise<void> {
  await sql.rows(
    `insert into risk_decisions (session_id, merchant_id, environment, stage, blocked, looks) values ($1, $2, $3, $4, $5, $6)`,
    [
      sessionId,
      owner.merchantId,
      owner.environment,
      decision.stage,
      decision.blocked,
      JSON.stringify(decision.results),
    ],
  );
}

/** Oldest first. */
export async function decisionsOf(sql: Sql, sessionId: string): Promise<StoredDecision[]> {
  const rows = await sql.rows<object>(
    `select * from risk_decisions where session_id = $1 order by id limit ${decisionsMax}`,
    [sessionId],
  );
  return rows.map(decisionOf);
}

/** Newest first. */
export async function listBlockedDecisions(sql: Sql, owner: Owner, limit: number): Promise<StoredDecision[]> {
  const rows = await sql.rows<object>(
    `select * from risk_decisions where merchant_id = $1 and environment = $2 and blocked order by id desc limit $3`,
    [owner.merchantId, owner.environment, limit],
  );
  return rows.map(decisionOf);
}

const keepDays = 90;
const sweepMax = 5_000;

/** @returns true: there may be more */
export async function sweepDecisions(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `delete from risk_decisions where id in (
       select id from risk_decisions where decided_at < now() - make_interval(days => $1) limit $2) returning id`,
    [keepDays, sweepMax],
  );
  return rows.length === sweepMax;
}

function decisionOf(row: object): StoredDecision {
  const { looks: results, ...decision } = decisionColumns.read(row);
  return { ...decision, results };
}
