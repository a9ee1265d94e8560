// Proves a payment from its books: recomputes captured, refunded, fee and disputed amounts and the status from the journal, the
// refunds and the disputes, and names every difference. Pure; it shares no arithmetic with what wrote the books.
import { type DisputeStatus, holdOf } from "./dispute.ts";
import { type Account, type MovementKind, postings } from "./journal.ts";
import { type DisputeHold, type Outcome, type PaymentStatus, statusOf } from "./payment.ts";
import type { RefundStatus } from "./refund.ts";

/** A journal row: one account debited, one credited. `kind` and accounts as stored, whatever they say. */
export interface JournalRow {
  readonly kind: string;
  readonly cause: string;
  readonly debit: string;
  readonly credit: string;
  /** Minor units. */
  readonly amount: bigint;
  /** Merchant, environment and currency are the payment's. */
  readonly sameOwner: boolean;
}

/** Everything that is stored about the money of one payment, read at one moment. */
export interface PaymentBooks {
  readonly id: string;
  readonly outcome: Outcome;
  readonly status: PaymentStatus;
  readonly capturedAmount: bigint;
  readonly refundedAmount: bigint;
  readonly feeAmount: bigint;
  readonly disputeHold: DisputeHold;
  readonly disputedAmount: bigint;
  readonly paidAttempts: readonly string[];
  readonly refunds: readonly { readonly id: string; readonly status: RefundStatus; readonly amount: bigint }[];
  readonly disputes: readonly { readonly id: string; readonly status: DisputeStatus; readonly amount: bigint }[];
  readonly journal: readonly JournalRow[];
}

/** What does not agree, one sentence each; empty when the books are right. */
export function journalDifferences(books: PaymentBooks): string[] {
  const found: string[] = [];
  const expect = (what: string, stored: unknown, recomputed: unknown) => {
    if (stored !== recomputed) found.push(`${what} is ${stored}, the books give ${recomputed}`);
  };
  found.push(...books.journal.flatMap(misposted));
  const sum = (kind: MovementKind, cause?: string) =>
    books.journal.reduce(
      (s, r) => (r.kind === kind && (cause === undefined || r.cause === cause) ? s + r.amount : s),
      0n,
    );
  const captured = sum("captured");
  const refunded = sum("refund_reserved") - sum("refund_released") - sum("refund_returned");
  const held = sum("dispute_held") - sum("dispute_released") - sum("dispute_lost");
  const lost = sum("dispute_lost") - sum("dispute_recovered");
  const disputeHold = held > 0n ? "open" : lost > 0n ? "lost" : "none";
  expect("captured amount", books.capturedAmount, captured);
  expect("refunded amount", books.refundedAmount, refunded);
  expect("fee", books.feeAmount, sum("fee_charged"));
  expect("dispute hold", books.disputeHold, disputeHold);
  expect("disputed amount", books.disputedAmount, held > 0n ? held : lost);
  const { outcome } = books;
  expect(
    "status",
    books.status,
    statusOf({ outcome, capturedAmount: captured, refundedAmount: refunded, disputeHold }),
  );
  if (refunded > captured) found.push(`refunds of ${refunded} exceed the ${captured} captured`);
  const causes = new Set(books.journal.filter((row) => row.kind === "captured").map((row) => row.cause));
  for (const cause of causes) {
    if (!books.paidAttempts.includes(cause)) found.push(`captured by attempt ${cause}, which did not succeed`);
  }
  for (const refund of books.refunds) found.push(...refundDifferences(refund, sum));
  for (const dispute of books.disputes) found.push(...disputeDifferences(dispute, sum));
  found.push(...strays(books), ...unbalanced(books.journal));
  return found;
}

type Sum = (kind: MovementKind, cause: string) => bigint;

function refundDifferences(refund: PaymentBooks["refunds"][number], sum: Sum): string[] {
  const { id, status, amount } = refund;
  const pending = sum("refund_reserved", id) - sum("refund_released", id) - sum("refund_paid", id);
  const paid = sum("refund_paid", id) - sum("refund_returned", id);
  return [
    differs(`refund ${id} (${status}) holds`, status === "pending" ? amount : 0n, pending),
    differs(`refund ${id} (${status}) has paid`, status === "succeeded" ? amount : 0n, paid),
  ].flat();
}

function disputeDifferences(dispute: PaymentBooks["disputes"][number], sum: Sum): string[] {
  const { id, status, amount } = dispute;
  const held = sum("dispute_held", id) - sum("dispute_released", id) - sum("dispute_lost", id);
  const lost = sum("dispute_lost", id) - sum("dispute_recovered", id);
  return [
    differs(`dispute ${id} (${status}) holds`, holdOf(status) === "open" ? amount : 0n, held),
    differs(`dispute ${id} (${status}) has lost`, holdOf(status) === "lost" ? amount : 0n, lost),
  ].flat();
}

function differs(what: string, stored: bigint, recomputed: bigint): string[] {
  return stored === recomputed ? [] : [`${what} ${stored}, the journal gives ${recomputed}`];
}

/** Rows that another code than rules/journal.ts must have written. */
function misposted(row: JournalRow): string[] {
  const what = `journal row ${row.kind} of ${row.cause}`;
  const wanted = Object.entries(postings).find(([kind]) => kind === row.kind)?.[1];
  if (!wanted) return [`${what}: no such movement`];
  const owner = row.sameOwner ? [] : [`${what}: another merchant, environment or currency than the payment's`];
  const fits = wanted.debit === row.debit && wanted.credit === row.credit;
  return fits ? owner : [...owner, `${what}: debits ${row.debit} and credits ${row.credit}`];
}

/** Rows about a refund or a dispute that does not exist. */
function strays({ journal, refunds, disputes }: PaymentBooks): string[] {
  const known = new Set([...refunds, ...disputes].map((one) => one.id));
  return journal
    .filter((row) => /^(refund|dispute)_/.test(row.kind) && !known.has(row.cause))
    .map((row) => `journal row ${row.kind} of ${row.cause}: nothing has this id`);
}

/** Debits minus credits over all accounts: zero by the shape of a row, and said again here. */
function unbalanced(journal: readonly JournalRow[]): string[] {
  const balances = new Map<string, bigint>();
  const add = (account: string, amount: bigint) => balances.set(account, (balances.get(account) ?? 0n) + amount);
  for (const row of journal) {
    add(row.debit, row.amount);
    add(row.credit, -row.amount);
  }
  const total = [...balances.values()].reduce((sum, amount) => sum + amount, 0n);
  const pending: Account = "refunds_pending";
  const overdrawn = (balances.get(pending) ?? 0n) > 0n ? [`more refunds left ${pending} than entered it`] : [];
  return total === 0n ? overdrawn : [...overdrawn, `debits and credits differ by ${total}`];
}
