// Compares a line of a processor's statement with our line of the same id. Pure.
export type StatementObject = "payment" | "refund" | "dispute";
export type DifferenceKind =
  | FindingKind
  | "unknown_to_us"
  | "unknown_to_processor"
  | "amount"
  | "status"
  | "currency"
  /** Of a payment: the journal and the processor's movements differ. */
  | "clearing"
  /** Of a payout: its movements explain a part. */
  | "unattributed"
  /** Of a currency: the processor's balance is not the sum of its movements. */
  | "balance";

/** Findings of other checks, which are listed with those of statements. */
export const findingKinds = [
  "journal_difference",
  "intent_mismatch",
  "other_capture",
  "processing_too_long",
  "event_stuck",
  "event_list_too_long",
] as const;
export type FindingKind = (typeof findingKinds)[number];

/** A movement of money on the processor's statement. */
export interface StatementLine {
  readonly object: StatementObject;
  /** The object's id at the processor. */
  readonly ref: string;
  /** The id of its intent there. */
  readonly intentRef: string;
  /** Minor units; the captured amount of a payment. */
  readonly amount: bigint;
  readonly currency: string;
  /** Status of a refund or a dispute; empty for a payment. */
  readonly status: string;
}

/** The same in our books. */
export type OurLine = Omit<StatementLine, "intentRef"> & { readonly paymentId: string };

export interface Difference {
  readonly object: StatementObject | "movement" | "payout" | "balance" | "adjustment" | "event" | "account";
  /** Its id there; ours of a movement, a payout, a payment's clearing and most findings; the currency of a balance. */
  readonly ref: string;
  readonly kind: DifferenceKind;
  /** Empty: we have no such payment. */
  readonly paymentId: string;
  readonly ours: string;
  readonly theirs: string;
}

/** undefined: both match. */
export function lineDifference(theirs: StatementLine, ours: OurLine | undefined): Difference | undefined {
  const { object, ref } = theirs;
  const differs = (kind: DifferenceKind, our: string, their: string): Difference => ({
    object,
    ref,
    kind,
    paymentId: ours?.paymentId ?? "",
    ours: our,
    theirs: their,
  });
  if (!ours) return differs("unknown_to_us", "", `${theirs.amount} ${theirs.currency} ${theirs.status}`.trim());
  if (ours.currency !== theirs.currency) return differs("currency", ours.currency, theirs.currency);
  if (ours.amount !== theirs.amount) return differs("amount", String(ours.amount), String(theirs.amount));
  return ours.status === theirs.status ? undefined : differs("status", ours.status, theirs.status);
}

/** A line of ours that the processor does not have. */
export function missingThere(ours: OurLine): Difference {
  const { object, ref, paymentId } = ours;
  const text = `${ours.amount} ${ours.currency} ${ours.status}`.trim();
  return { object, ref, kind: "unknown_to_processor", paymentId, ours: text, theirs: "" };
}
