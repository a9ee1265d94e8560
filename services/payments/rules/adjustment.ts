// An adjustment of the journal: one person proposes it, another approves it, and it is decided once. Pure.
import { currencyExponent } from "#platform/values/money.ts";
import type { JournalAccount } from "./journal.ts";

export type AdjustmentState = "proposed" | "approved" | "rejected";

export interface AdjustmentLine {
  readonly currency: string;
  readonly debit: JournalAccount;
  readonly credit: JournalAccount;
  /** Minor units, above zero. */
  readonly amount: bigint;
}

interface Decidable {
  readonly state: AdjustmentState;
  readonly proposedBy: string;
  /** Empty while undecided. */
  readonly decidedBy: string;
}

type Decision =
  | { readonly kind: "decide" }
  /** This person has already decided the same. */
  | { readonly kind: "unchanged" }
  | { readonly kind: "own" }
  | { readonly kind: "decided" };

/** The proposer may reject but never approve. */
export function decideAdjustment(
  { state, proposedBy, decidedBy }: Decidable,
  wanted: "approved" | "rejected",
  person: string,
): Decision {
  if (state === wanted && decidedBy === person) return { kind: "unchanged" };
  if (state !== "proposed") return { kind: "decided" };
  return wanted === "approved" && person === proposedBy ? { kind: "own" } : { kind: "decide" };
}

const accounts: ReadonlySet<string> = new Set<JournalAccount>([
  "processor_clearing",
  "merchant_balance",
  "fees_revenue",
  "refunds_pending",
  "disputes_held",
  "suspense",
  "adjustments",
]);

export function isJournalAccount(text: string): text is JournalAccount {
  return accounts.has(text);
}

/** Parses a line, or names its invalid field. */
export function readLine(line: {
  readonly currency: string;
  readonly debit: string;
  readonly credit: string;
  readonly amount: bigint;
}): AdjustmentLine | { readonly field: string; readonly problem: string } {
  const { currency, debit, credit, amount } = line;
  if (currencyExponent(currency) === undefined)
    return { field: "currency", problem: "must be an ISO 4217 currency code" };
  if (!isJournalAccount(debit)) return { field: "debit", problem: "is not an account" };
  if (!isJournalAccount(credit)) return { field: "credit", problem: "is not an account" };
  if (debit === credit) return { field: "credit", problem: "must be another account than the debited one" };
  return { currency, debit, credit, amount };
}
