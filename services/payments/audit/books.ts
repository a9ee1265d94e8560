// Audits one payment: its stored amounts and the account balances of its journal against the expected values of
// facts.ts. Pure, and it imports nothing from the code that writes the books.
import { accounts, balancesOf, movementForms, type Subject } from "./accounts.ts";
import {
  type AccountDeltas,
  accountBalances,
  captureBalances,
  disputeBalances,
  expectedAmounts,
  feeOf,
  type PaymentFacts,
  refundBalances,
  suspenseBalances,
} from "./facts.ts";

/** A journal row as stored. */
export interface JournalRow {
  readonly kind: string;
  readonly cause: string;
  readonly debit: string;
  readonly credit: string;
  /** Minor units. */
  readonly amount: bigint;
  /** Merchant, environment and currency equal the payment's. */
  readonly sameOwner: boolean;
}

/** All stored data about the money of one payment, from one snapshot. */
export interface PaymentBooks extends PaymentFacts {
  readonly id: string;
  /** Requested amount, minor units. */
  readonly amount: bigint;
  readonly status: string;
  readonly refundedAmount: bigint;
  readonly feeAmount: bigint;
  readonly disputeHold: string;
  readonly disputedAmount: bigint;
  /** Refs of attempts recorded as succeeded. */
  readonly paidAttempts: readonly string[];
  /** Failed attempts. Each may have been paid and refunded before its debit was returned. */
  readonly failedAttempts: number;
  readonly journal: readonly JournalRow[];
}

/** One sentence per difference; empty: the books are right. */
export function booksDifferences(books: PaymentBooks): string[] {
  return [
    ...books.journal.flatMap((row) => rowDifferences(row, subjectsOf(books))),
    ...storedDifferences(books),
    ...captureDifferences(books),
    ...books.refunds.flatMap((refund) =>
      causeDifferences(books, refund.id, `refund ${refund.id} (${refund.status})`, refundBalances(refund)),
    ),
    ...books.disputes.flatMap((dispute) =>
      causeDifferences(
        books,
        dispute.id,
        `dispute ${dispute.id} (${dispute.status})`,
        disputeBalances(dispute, books.outcome === "succeeded"),
      ),
    ),
    ...books.suspense.flatMap((item) =>
      causeDifferences(books, item.id, `suspense ${item.id} (${item.state})`, suspenseBalances(item)),
    ),
    ...countedTwice(books),
    ...accountDifferences(books),
  ];
}

/** The columns of the payment against its attempts, refunds and disputes. */
function storedDifferences(books: PaymentBooks): string[] {
  const expected = expectedAmounts(books);
  const { outcome, capturedAmount, amount } = books;
  const found = [
    difference("refunded amount", books.refundedAmount, expected.refundedAmount),
    difference("dispute hold", books.disputeHold, expected.disputeHold),
    difference("disputed amount", books.disputedAmount, expected.disputedAmount),
    difference("status", books.status, expected.status),
    difference("fee", books.feeAmount, expected.fee),
  ].flat();
  if (capturedAmount > amount) found.push(`captured ${capturedAmount} of ${amount}`);
  if (outcome === "succeeded" && books.paidAttempts.length === 0) found.push("paid without a successful attempt");
  if (outcome !== "succeeded" && capturedAmount > 0n)
    found.push(`captured ${capturedAmount}, but the outcome is ${outcome}`);
  // Refunds of a returned debit remain, and a later capture may be smaller.
  const everCaptured = capturedAmount + amount * BigInt(books.failedAttempts);
  if (outcome === "succeeded" && expected.refundedAmount > everCaptured) {
    found.push(`refunds of ${expected.refundedAmount} exceed the ${capturedAmount} captured`);
  }
  return found;
}

/** The balances left by attempts, of which only one may have paid. */
function captureDifferences(books: PaymentBooks): string[] {
  const { capturedAmount, paidAttempts } = books;
  const rows = books.journal.filter(({ kind }) => movementForms.get(kind)?.about === "attempt");
  const balances = balancesOf(rows);
  const found = difference("captured amount", capturedAmount, balances.get("processor_clearing") ?? 0n);
  if (found.length === 0) {
    found.push(...balanceDifferences("the capture", balances, captureBalances(capturedAmount, feeOf(books.captures))));
  }
  for (const cause of new Set(rows.map((row) => row.cause))) {
    const kept = balancesOf(rows.filter((row) => row.cause === cause)).get("processor_clearing") ?? 0n;
    if (kept === 0n) continue;
    if (!paidAttempts.includes(cause)) found.push(`captured by attempt ${cause}, which did not succeed`);
    if (kept !== capturedAmount) found.push(`attempt ${cause} captured ${kept} of ${capturedAmount}`);
  }
  return found;
}

/** Money of one attempt that is booked as a capture and in suspense, which no balance shows. */
function countedTwice({ suspense, journal }: PaymentBooks): string[] {
  return suspense.flatMap((item) => {
    const { id, kind, paidBy, capturedIn } = item;
    const held = suspenseBalances(item).processor_clearing ?? 0n;
    if (held === 0n || paidBy === "") return [];
    const captured = journal.filter((row) => row.cause === paidBy && movementForms.get(row.kind)?.about === "attempt");
    const kept = balancesOf(captured).get("processor_clearing") ?? 0n;
    const found = `suspense ${id} holds ${held} of attempt ${paidBy}, which captured`;
    return [
      // An excess capture is the same attempt's amount above the payment's own capture.
      ...(kept === 0n || kind === "excess_capture" ? [] : [`${found} ${kept}`]),
      ...(capturedIn === "" ? [] : [`${found} in ${capturedIn}`]),
    ];
  });
}

/** Compares each account over the whole payment. */
function accountDifferences(books: PaymentBooks): string[] {
  const balances = balancesOf(books.journal);
  const expected = accountBalances(books, feeOf(books.captures));
  const found = accounts.flatMap((account) => {
    const [is, must] = [balances.get(account) ?? 0n, expected.get(account) ?? 0n];
    return is === must ? [] : [`account ${account} has ${is}, expected ${must}`];
  });
  const sum = [...expected.values()].reduce((total, amount) => total + amount, 0n);
  if (sum !== 0n) throw new Error(`the auditor's own accounts of ${books.id} sum to ${sum}`);
  const strange = [...balances.keys()].filter((account) => !accounts.some((known) => known === account));
  return [...found, ...strange.map((account) => `account ${account} is unknown`)];
}

/** Compares the balances left by the rows of one cause. */
function causeDifferences(books: PaymentBooks, cause: string, what: string, expected: AccountDeltas): string[] {
  const rows = books.journal.filter((row) => row.cause === cause);
  return balanceDifferences(what, balancesOf(rows), expected);
}

function balanceDifferences(what: string, balances: ReadonlyMap<string, bigint>, expected: AccountDeltas): string[] {
  return accounts.flatMap((account) => {
    const [is, must] = [balances.get(account) ?? 0n, expected[account] ?? 0n];
    return is === must ? [] : [`${what} must leave ${must} in ${account}, the journal has ${is}`];
  });
}

/** Rows of an unknown form, of another owner, or about a missing object. */
function rowDifferences(row: JournalRow, subjects: ReadonlyMap<string, Subject>): string[] {
  const what = `journal row ${row.kind} of ${row.cause}`;
  const form = movementForms.get(row.kind);
  if (!form) return [`${what}: unknown movement`];
  const found = row.sameOwner ? [] : [`${what}: another merchant, environment or currency than the payment's`];
  if (row.amount <= 0n) found.push(`${what}: moves ${row.amount}`);
  if (form.debit !== row.debit || form.credit !== row.credit) {
    found.push(`${what}: debits ${row.debit} and credits ${row.credit}`);
  }
  const subject = subjects.get(row.cause);
  if (subject !== form.about && (subject !== undefined || form.about !== "attempt")) {
    found.push(`${what}: ${subject === undefined ? "no object has this id" : `the id is a ${subject}`}`);
  }
  return found;
}

function subjectsOf({ refunds, disputes, suspense }: PaymentBooks): Map<string, Subject> {
  return new Map<string, Subject>([
    ...refunds.map(({ id }) => [id, "refund"] as const),
    ...disputes.map(({ id }) => [id, "dispute"] as const),
    ...suspense.map(({ id }) => [id, "suspense"] as const),
  ]);
}

function difference<T>(what: string, stored: T, recomputed: T): string[] {
  return stored === recomputed ? [] : [`${what} is ${stored}, expected ${recomputed}`];
}
