// The risk_attempts table: buyers' attempts, for rules with a window. Counting stops above a rule's limit.
import type { Sql } from "#platform/database/database.ts";
import type { Owner } from "./session-lists.ts";

export interface RiskAttempt extends Owner {
  readonly sessionId: string;
  readonly fact: "opened" | "declined" | "paid";
  /** Distinguishes attempts of the same kind. */
  readonly occurrence: string;
  /** Lower case; empty: not given. */
  readonly email: string;
  /** Keyed hash of the buyer's network; undefined: unknown or shared. */
  readonly addressHash: Buffer | undefined;
  /** Empty: unknown. */
  readonly card: string;
}

/** Inserts attempts; a stored one gets its missing values. */
export async function recordAttempts(sql: Sql, attempts: readonly RiskAttempt[]): Promise<void> {
  if (attempts.length === 0) return;
  await sql.rows(
    `insert into risk_attempts (session_id, merchant_id, environment, fact, occurrence, email, address_hash, card_fingerprint)
     select distinct on (1, 4, 5) * from unnest($1::text[], $2::text[], $3::smallint[], $4::text[], $5::text[], $6::text[],
       $7::bytea[], $8::text[])
     on conflict (session_id, fact, occurrence) do update set
       address_hash = coalesce(risk_attempts.address_hash, excluded.address_hash),
       card_fingerprint = case when risk_attempts.card_fingerprint = '' then excluded.card_fingerprint
         else risk_attempts.card_fingerprint end`,
    [
      attempts.map((a) => a.sessionId),
      attempts.map((a) => a.merchantId),
      attempts.map((a) => a.environment),
      attempts.map((a) => a.fact),
      attempts.map((a) => a.occurrence),
      attempts.map((a) => a.email),
      attempts.map((a) => a.addressHash ?? null),
      attempts.map((a) => a.card),
    ],
  );
}

interface CountWindow {
  readonly windowSeconds: number;
  readonly limit: number;
}

/** Counts openings or declines of an address, which may be stored under any of the hashes. */
export async function countOfAddress(
  sql: Sql,
  owner: Owner,
  addressHashes: readonly Buffer[],
  fact: "opened" | "declined",
  counted: CountWindow,
): Promise<number> {
  const [row] = await sql.rows<{ n: number }>(
    `select count(*)::int as n from (select from risk_attempts
       where merchant_id = $1 and environment = $2 and address_hash = any($3::bytea[]) and fact = $4
         and at > now() - make_interval(secs => $5) limit $6) as recent`,
    [owner.merchantId, owner.environment, addressHashes, fact, counted.windowSeconds, counted.limit + 1],
  );
  return row?.n ?? 0;
}

/** Attempts with the most used of the cards. */
export async function countOfCards(
  sql: Sql,
  owner: Owner,
  cards: readonly string[],
  counted: CountWindow,
): Promise<number> {
  const [row] = await sql.rows<{ n: number }>(
    `select coalesce(max(n), 0)::int as n from unnest($3::text[]) as card, lateral (
       select count(*) as n from (select from risk_attempts
         where merchant_id = $1 and environment = $2 and card_fingerprint = card and card <> ''
           and at > now() - make_interval(secs => $4) limit $5) as recent) as one`,
    [owner.merchantId, owner.environment, cards, counted.windowSeconds, counted.limit + 1],
  );
  return row?.n ?? 0;
}

// Honest buyers have a few cards.
const cardsMax = 20;

/** Sessions created for the e-mail within the window, and its latest cards. */
export async function historyOfEmail(
  sql: Sql,
  owner: Owner,
  email: string,
  counted: CountWindow,
): Promise<{ sessions: number; cards: string[] }> {
  const [row] = await sql.rows<{ n: number; cards: string[] }>(
    `select
       (select count(*)::int from (select from sessions
          where merchant_id = $1 and environment = $2 and lower(customer_email) = $3 and customer_email <> ''
            and created_at > now() - make_interval(secs => $4) limit $5) as recent) as n,
       array(select distinct card_fingerprint from (select card_fingerprint from risk_attempts
          where merchant_id = $1 and environment = $2 and email = $3 and email <> '' and card_fingerprint <> ''
          order by at desc limit ${cardsMax}) as latest) as cards`,
    [owner.merchantId, owner.environment, email, counted.windowSeconds, counted.limit + 1],
  );
  return { sessions: row?.n ?? 0, cards: row?.cards ?? [] };
}

// The longest window of a rule is a week.
const keepDays = 8;
const sweepMax = 5_000;

/** @returns true: there may be more */
export async function sweepAttempts(sql: Sql): Promise<boolean> {
  const rows = await sql.rows(
    `delete from risk_attempts where (session_id, fact, occurrence) in (
       select session_id, fact, occurrence from risk_attempts where at < now() - make_interval(days => $1) limit $2)
     returning session_id`,
    [keepDays, sweepMax],
  );
  return rows.length === sweepMax;
}
