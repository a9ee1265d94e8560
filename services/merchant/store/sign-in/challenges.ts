// The passkey_challenges table: challenges that a passkey must sign. Taking a challenge deletes it, so it works once.
import { parseTime, type Sql } from "#platform/database/database.ts";
import type { Door } from "../../rules/people/door.ts";
import { deleteBatch } from "../rows.ts";

export interface Challenge {
  readonly id: string;
  /** In base64url. */
  readonly challenge: string;
  readonly purpose: "sign_in" | "add" | "prove";
  readonly door: Door;
  /** Null before a sign-in. */
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

/** @returns undefined if it does not exist or was taken before */
export async function takeChallenge(
  sql: Sql,
  key: Pick<Challenge, "id" | "purpose" | "door" | "sessionId">,
): Promise<Challenge | undefined> {
  const [row] = await sql.rows<{ challenge: string; expires_at: string }>(
    `delete from passkey_challenges
     where id = $1 and purpose = $2 and door = $3 and session_id is not distinct from $4 returning challenge, expires_at`,
    [key.id, key.purpose, key.door, key.sessionId],
  );
  return row && { ...key, challenge: row.challenge, expiresAt: parseTime(row.expires_at) };
}

/** @returns true if there may be more */
export function sweepChallenges(sql: Sql): Promise<boolean> {
  return deleteBatch(sql, "passkey_challenges", "expires_at <= now() order by expires_at");
}
