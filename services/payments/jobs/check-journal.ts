// Audits the books of every payment (audit/): as a job in repeated passes of batches, as a command in one pass. A
// difference raises an alert and is never corrected.
import type { Database, Sql } from "#platform/database/database.ts";
import type { JobContext } from "#platform/process/job.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { auditAdjustments } from "../audit/adjustments.ts";
import { booksDifferences } from "../audit/books.ts";
import { booksAfter } from "../audit/read-books.ts";
import type { PaymentsMetrics } from "../metrics.ts";
import { claimStretch, finishStretch } from "../store/ledger/journal-check.ts";

interface BooksDifference {
  readonly paymentId: string;
  /** One sentence each. */
  readonly differences: readonly string[];
}

// A batch reads for some tens of milliseconds without a lock. About 1,000 payments a second leave the database to
// buyers.
const batchMax = 1_000;
const stretchEveryMs = 1_000;
const passEverySeconds = 3_600;
// After this the process of a batch is presumed dead.
const leaseSeconds = 60;

interface CheckDeps {
  readonly db: Database;
  readonly log: Log;
  readonly metrics: PaymentsMetrics;
  readonly findings: JournalFindings;
}

/** A difference is an open finding until a later pass agrees, or an operator explains it. */
interface JournalFindings {
  record(object: "payment" | "adjustment", id: string, differences: readonly string[]): Promise<void>;
  /** Resolves what was not found again between two ids. @param last empty: to the end */
  resolve(
    object: "payment" | "adjustment",
    stretch: { readonly after: string; readonly last: string; readonly found: readonly string[] },
  ): Promise<void>;
}

/**
 * One pass over all payments.
 * @param onDifference called for each payment with differences
 * @returns payments checked
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
 * Checks the next batch of the shared pass if one is due.
 * @returns false, which keeps the pause before the next batch
 */
export async function checkNextStretch(deps: CheckDeps): Promise<boolean> {
  const after = await claimStretch(deps.db, leaseSeconds);
  if (after === undefined) return false;
  if (after === "") await checkAdjustments(deps);
  const { last, found, next } = await checkStretch(deps.db, after);
  await deps.findings.resolve("payment", { after, last, found: found.map((one) => one.paymentId) });
  for (const { paymentId, differences } of found) {
    deps.metrics.moneyAlerts.inc({ kind: "journal_difference" });
    deps.log.fatal({ alert: "journal_difference", payment_id: paymentId, differences }, "books differ");
    await deps.findings.record("payment", paymentId, differences);
  }
  if (next !== "") await finishStretch(deps.db, last, 0);
  else await finishStretch(deps.db, "", passEverySeconds);
  return false;
}

/** Runs at the start of each pass over the payments. */
async function checkAdjustments({ db, log, metrics, findings }: CheckDeps): Promise<void> {
  const wrong: { readonly adjustmentId: string; readonly differences: readonly string[] }[] = [];
  await auditAdjustments(db, (found) => wrong.push(found));
  const found = wrong.map(({ adjustmentId }) => adjustmentId);
  await findings.resolve("adjustment", { after: "", last: "", found });
  for (const { adjustmentId, differences } of wrong) {
    metrics.moneyAlerts.inc({ kind: "journal_difference" });
    log.fatal({ alert: "journal_difference", adjustment_id: adjustmentId, differences }, "books differ");
    await findings.record("adjustment", adjustmentId, differences);
  }
}

export function checkJournalJob(deps: CheckDeps): JobContext {
  return { name: "check-journal", everyMs: stretchEveryMs, runOnce: () => checkNextStretch(deps) };
}

interface Stretch {
  readonly last: string;
  readonly count: number;
  readonly found: readonly BooksDifference[];
  /** The payment after which the next batch begins; empty: this was the last batch. */
  readonly next: string;
}

/** Checks a batch of payments in the order of their ids. */
export async function checkStretch(sql: Sql, after: string): Promise<Stretch> {
  const books = await booksAfter(sql, after, batchMax);
  const found = books
    .map((one) => ({ paymentId: one.id, differences: booksDifferences(one) }))
    .filter((one) => one.differences.length > 0);
  const last = books.at(-1)?.id ?? after;
  return { last, count: books.length, found, next: books.length === batchMax ? last : "" };
}
