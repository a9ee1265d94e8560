// Closes a month of the books in three phases, each safe to rerun: the close itself, the end of older transactions, and
// the hash of the trial balance.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Database, Sql } from "#platform/database/database.ts";
import { callContext, remainingMs } from "#platform/values/call-context.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type AccountSum, merchantsInBooks, sumAccounts } from "../store/ledger/entries.ts";
import {
  countOlderTransactions,
  findClose,
  finishClose,
  insertClose,
  type MonthClose,
  readObstacles,
} from "../store/ledger/month-closes.ts";

// A transaction of ours lasts seconds. An operator calls again after a longer one, such as a backup's.
const waitMsMax = 20_000;
const pollMs = 100;
const merchantsPerRead = 1_000;

interface ClosedMonth extends MonthClose {
  readonly entries: bigint;
  readonly hash: string;
  /** Of the books as they are now: another one shows that the closed month was changed. */
  readonly currentHash: string;
}

/**
 * @param month YYYY-MM
 * @param accepted why open differences are accepted; empty: they are not
 * @throws Failure INVALID_BODY, SERVICE_UNAVAILABLE
 */
export async function closeMonth(db: Database, month: string, accepted: string): Promise<ClosedMonth> {
  const close = (await findClose(db, month)) ?? (await beginClose(db, month, accepted));
  if (close.hash === undefined) await waitForOlder(db, close.closedAt);
  const now = await db.snapshot((sql) => hashMonth(sql, month));
  if (close.hash === undefined) await finishClose(db, month, now.entries, now.hash);
  const finished = await findClose(db, month);
  const { entries, hash } = finished ?? {};
  if (!finished || entries === undefined || hash === undefined)
    throw new Error(`the close of ${month} is not finished`);
  return { ...finished, entries, hash, currentHash: now.hash };
}

async function beginClose(db: Database, month: string, accepted: string): Promise<MonthClose> {
  const { isRunning, openBefore, differences } = await readObstacles(db, month);
  if (isRunning) throw invalidField("month", "has not ended by UTC");
  if (openBefore !== null) throw invalidField("month", `${openBefore} has entries and is open: close it first`);
  if (differences > 0 && accepted === "") {
    throw invalidField("accepted", `${differences} differences are open (statements differences): give the reason`);
  }
  const closedBy = callContext.getStore()?.actor || "operator";
  await db.transaction((tx) => insertClose(tx, month, closedBy, accepted));
  const close = await findClose(db, month);
  if (!close) throw new Error(`the close of ${month} is missing`);
  return close;
}

/** An entry of a transaction that began before the close counts in the month, so the hash waits for it. */
async function waitForOlder(db: Database, closedAt: Date): Promise<void> {
  const deadlineMs = performance.now() + remainingMs(waitMsMax);
  while ((await countOlderTransactions(db, closedAt)) > 0) {
    if (performance.now() + pollMs > deadlineMs) throw new Failure("SERVICE_UNAVAILABLE");
    await pause(pollMs);
  }
}

async function hashMonth(sql: Sql, month: string): Promise<{ hash: string; entries: bigint }> {
  const { first, last } = monthBounds(month);
  const hash = createHash("sha256");
  let entries = 0n;
  let after = "";
  for (;;) {
    const merchants = await merchantsInBooks(sql, after, merchantsPerRead);
    for (const merchantId of merchants) {
      const lines = await sumAccounts(sql, merchantId, last, first);
      hash.update(balanceText(lines));
      entries += lines.reduce((sum, line) => sum + line.entries, 0n);
    }
    if (merchants.length < merchantsPerRead) return { hash: hash.digest("hex"), entries };
    after = merchants.at(-1) ?? "";
  }
}

function monthBounds(month: string): { first: Date; last: Date } {
  const first = new Date(`${month}-01T00:00:00Z`);
  return { first, last: new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1)) };
}

/** A merchant's part of the text that is hashed, a line for each account. Its form must never change. */
function balanceText(lines: readonly AccountSum[]): string {
  const rest = lines.reduce((sum, { debit, credit }) => sum + debit - credit, 0n);
  assert.equal(rest, 0n, "debits and credits of a merchant are equal");
  return lines
    .map(({ merchantId, environment, currency, account, debit, credit }) => {
      const name = environment === Environment.LIVE ? "live" : "sandbox";
      return `${merchantId} ${name} ${currency} ${account} ${debit} ${credit}\n`;
    })
    .join("");
}
