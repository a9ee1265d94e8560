// The passkey_challenges table: what a passkey has to sign. Taking one removes it, so that it works once.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Door } from "../../rules/people/door.ts";

export interface Challenge {
  readonly id: string;
  /** In base64url, as the browser signs it. */
  readonly challenge: string;
  readonly purpose: "sign_in" | "add" | "prove";
  readonly door: Door;
  /** Null: nobody's yet. */
  readonly sessionId: string | null;
  readonly expiresAt: Date;
}

export async function insertChallenge(sql: Sql, challenge: Challenge): Promise<void> {
  const { id, purpose, door, sessionId, expiresAt } = challenge;
  await sql.rows(
    `insert into passkey_challenges (id, challenge, purpose, door, session_id, expires_at) values ($1, $2, $3, $4, $5, $6)`,
    [id, challenge.challenge, purpose, door, sessionId, expiresAt.toISOString()],
  );
}

/** @returns undefined: there is none for this, or it was taken before */
export async function takeChallenge(
  sql: Sql,
  wanted: Pick<Challenge, "id" | "purpose" | "door" | "sessionId">,
): Promise<Challenge | undefined> {
  const [row] = await sql.rows<{ challenge: string; expires_at: string }>(
    `delete from passkey_challenges
     where id = $1 and purpose = $2 and door = $3 and session_id is not distinct from $4 returning challenge, expires_at`,
    [wanted.id, wanted.purpose, wanted.door, wanted.sessionId],
  );
  return row && { ...wanted, challenge: row.challenge, expiresAt: parseTime(row.expires_at) };
}

const sweepMax = 1_000;

/** @returns true when there may be more */
export async function sweepChallenges(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `with over as materialized (
       select id from passkey_challenges where expires_at <= now() order by expires_at limit $1 for update skip locked)
     delete from passkey_challenges c using over where c.id = over.id returning c.id`,
    [sweepMax],
  );
  return rows.length === sweepMax;
}
