// The risk_decisions table: what was decided about a session, with every rule that was looked at. A creation that
// passed is written with its session, in one statement (store/new-sessions.ts).
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { RiskDecision } from "../rules/risk.ts";
import type { Owner } from "./session-lists.ts";

export interface StoredDecision extends RiskDecision {
  readonly sessionId: string;
  readonly merchantId: string;
  readonly environment: Environment;
  readonly decidedAt: Date;
}

interface Row {
  session_id: string;
  merchant_id: string;
  environment: Environment;
  stage: RiskDecision["stage"];
  blocked: boolean;
  looks: RiskDecision["results"];
  decided_at: string;
}

// More would be a script that repeats itself.
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
  const rows = await sql.rows<Row>(
    `select * from risk_decisions where session_id = $1 order by id limit ${decisionsMax}`,
    [sessionId],
  );
  return rows.map(decisionOf);
}

/** Newest first. */
export async function blockedOf(sql: Sql, owner: Owner, limit: number): Promise<StoredDecision[]> {
  const rows = await sql.rows<Row>(
    `select * from risk_decisions where merchant_id = $1 and environment = $2 and blocked order by id desc limit $3`,
    [owner.merchantId, owner.environment, limit],
  );
  return rows.map(decisionOf);
}

const keepDays = 90;
const sweepMax = 5_000;

/** @returns true when there may be more. */
export async function sweepDecisions(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `delete from risk_decisions where id in (
       select id from risk_decisions where decided_at < now() - make_interval(days => $1) limit $2) returning id`,
    [keepDays, sweepMax],
  );
  return rows.length === sweepMax;
}

function decisionOf(row: Row): StoredDecision {
  return {
    sessionId: row.session_id,
    merchantId: row.merchant_id,
    environment: row.environment,
    stage: row.stage,
    blocked: row.blocked,
    results: row.looks,
    decidedAt: parseTime(row.decided_at),
  };
}
