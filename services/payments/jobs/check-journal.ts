// Proves the books: the auditor (audit/) judges every payment. As a job it passes over all payments again and again, a batch at a time;
// as a command it makes one pass. A difference is an alert, never a correction.
import type { Database, Sql } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { auditAdjustments } from "../audit/adjustments.ts";
import { booksDifferences } from "../audit/books.ts";
import { booksAfter } from "../audit/read-books.ts";
import type { PaymentsMetrics } from "../metrics.ts";
import { claimStretch, finishStretch } from "../store/journal-check.ts";

export interface BooksDifference {
  readonly paymentId: string;
  /** One sentence each. */
  readonly differences: readonly string[];
}

// A batch is some tens of milliseconds of reading, without a lock; with the pause below a pass goes at about 1,000
// payments a second, which leaves the database to the buyers.
const batchMax = 1_000;
const stretchEveryMs = 1_000;
const passEverySeconds = 3_600;
// A batch that takes longer than this has lost its process.
const leaseSeconds = 60;

interface CheckDeps {
  readonly db: Database;
  readonly log: Log;
  readonly metrics: PaymentsMetrics;
}

/**
 * One pass over all payments. @param onDifference told of each payment whose books do not agree. @returns payments
 * checked.
 */
export async function checkJournal(sql: Sql, onDifference: (found: BooksDifference) => void): Promise<number> {
  let checked = 0;
  let after = "";
  for (;;) {
    const { last, count, found, next } = await checkStretch(sql, after);
    checked += count;
    found.forEach(onDifference);
    if (next === "") return checked;
    after = last;
  }
}

/**
 * The next batch of the shared pass, if one is due. @returns false: the pause before the next batch is part of the
 * design.
 */
export async function checkNextStretch(deps: CheckDeps): Promise<boolean> {
  const after = await claimStretch(deps.db, leaseSeconds);
  if (after === undefined) return false;
  if (after === "") await checkAdjustments(deps);
  const { last, found, next } = await checkStretch(deps.db, after);
  for (const { paymentId, differences } of found) {
    deps.metrics.moneyAlerts.inc({ kind: "journal_difference" });
    deps.log.fatal({ alert: "journal_difference", payment_id: paymentId, differences }, "the books do not agree");
  }
  if (next !== "") await finishStretch(deps.db, last, 0);
  else await finishStretch(deps.db, "", passEverySeconds);
  return false;
}

/** With each pass over the payments, as it begins. */
async function checkAdjustments({ db, log, metrics }: CheckDeps): Promise<void> {
  await auditAdjustments(db, ({ adjustmentId, differences }) => {
    metrics.moneyAlerts.inc({ kind: "journal_difference" });
    log.fatal({ alert: "journal_difference", adjustment_id: adjustmentId, differences }, "the books do not agree");
  });
}

export function checkJournalJob(deps: CheckDeps): JobContext {
  return { name: "check-journal", everyMs: stretchEveryMs, runOnce: () => checkNextStretch(deps) };
}

interface Stretch {
  readonly last: string;
  readonly count: number;
  readonly found: readonly BooksDifference[];
  /** After which payment the next one begins; empty: there is none. */
  readonly next: string;
}

/** A batch of payments, in the order of their ids. */
export async function checkStretch(sql: Sql, after: string): Promise<Stretch> {
  const books = await booksAfter(sql, after, batchMax);
  const found = books
    .map((one) => ({ paymentId: one.id, differences: booksDifferences(one) }))
    .filter((one) => one.differences.length > 0);
  const last = books.at(-1)?.id ?? after;
  return { last, count: books.length, found, next: books.length === batchMax ? last : "" };
}
