// Computes a payment's amounts, status and net from the processor's objects alone. Independent of the rules and the
// auditor of the payments service.

/** A fee schedule as its table has it. */
export interface Schedule {
  readonly merchant: string;
  readonly currency: string;
  readonly connector: string;
  /** Seconds since 1970, as all times here. */
  readonly from: number;
  readonly basisPoints: number;
  readonly fixed: number;
}

/** An intent at a processor with its objects. Minor units. */
export interface TheirIntent {
  readonly id: string;
  /** Our payment id, as it was given when the intent was made: what others write there later is not ours. */
  readonly reference: string;
  readonly status: string;
  readonly amount: number;
  readonly currency: string;
  readonly captured_amount: number;
  /** The captures that `captured_amount` sums, oldest first. */
  readonly captures: readonly TheirCapture[];
  /** Canceled because the authorization expired. */
  readonly isExpired?: boolean;
  readonly attempts: readonly { readonly status: string }[];
  readonly refunds: readonly TheirRefund[];
  readonly disputes: readonly { readonly id: string; readonly amount: number; readonly status: string }[];
  /** Number of its webhooks that never arrived, held or lost; absent: unknown. */
  readonly untold?: number;
  /** Its debit came back after it had succeeded, and it was not paid again. */
  readonly isReturned?: boolean;
  /** One of its debits was returned, whatever followed. */
  readonly wasReturned?: boolean;
  /** The processor answers that it has no such intent. */
  readonly isLost?: boolean;
}

export interface TheirCapture {
  readonly amount: number;
  /** Seconds since 1970, by the processor's clock. */
  readonly at: number;
}

interface TheirRefund {
  readonly id: string;
  readonly amount: number;
  readonly status: string;
  /** Our id; empty or absent: created in the dashboard. */
  readonly reference?: string;
}

export interface MoneyMovement {
  readonly amount: number;
  readonly status: string;
}

/** The processor's word. Minor units. */
export interface ProcessorTotals {
  readonly captured: number;
  readonly refunds: readonly MoneyMovement[];
  readonly disputes: readonly MoneyMovement[];
}

export interface ExpectedMoney {
  readonly refunded: number;
  /** Of a paid payment. */
  readonly status: string;
  /** The amount of open disputes, else of lost ones. */
  readonly disputed: number;
  readonly hold: string;
  readonly lost: number;
}

export function expectedMoney({ captured, refunds, disputes }: ProcessorTotals): ExpectedMoney {
  const sum = (list: readonly MoneyMovement[], ...statuses: string[]) =>
    list.reduce((total, one) => (statuses.includes(one.status) ? total + one.amount : total), 0);
  const refunded = sum(refunds, "pending", "requires_action", "succeeded");
  const [open, lost] = [sum(disputes, "needs_response", "under_review"), sum(disputes, "lost")];
  const hold = open > 0 ? "open" : lost > 0 ? "lost" : "none";
  const byAmounts = refunded === 0 ? "succeeded" : refunded >= captured ? "refunded" : "partially_refunded";
  return { refunded, status: hold === "none" ? byAmounts : "disputed", disputed: open || lost, hold, lost };
}

/** The expected net_amount of GET /v1/payments/{id}. */
export function netOf(
  captured: number,
  fee: number,
  { refunded, lost }: Pick<ExpectedMoney, "refunded" | "lost">,
): number {
  return captured === 0 ? 0 : captured - refunded - fee - lost;
}

/**
 * The fee of all captures, each by the schedule in effect when it was made. The simulator names the time of the first
 * alone, so that a later one may have that of the first, of its event, or of its booking.
 * @returns each that is right
 */
export function feesOf(
  [first, ...later]: readonly { readonly amount: number; readonly at: number }[],
  of: Parameters<typeof feeOf>[1],
  schedules: readonly Schedule[],
  bookedAt: number,
): number[] {
  if (!first) return [0];
  let fees = [feeOf(first.amount, of, first.at, schedules)];
  let before = first.amount;
  for (const { amount, at } of later) {
    const added = [first.at, at, bookedAt].map(
      (time) => feeOf(before + amount, of, time, schedules) - feeOf(before, of, time, schedules),
    );
    fees = [...new Set(fees.flatMap((fee) => added.map((more) => fee + more)))];
    before += amount;
  }
  return fees;
}

/**
 * The fee of a capture by the schedule that was in effect then: the narrowest one, and of one kind the latest that had
 * begun.
 */
export function feeOf(
  captured: number,
  of: { readonly merchant: string; readonly currency: string; readonly connector: string },
  at: number,
  schedules: readonly Schedule[],
): number {
  if (captured === 0) return 0;
  const keys = [of.merchant, "*"].flatMap((merchant) =>
    [of.currency, "*"].flatMap((currency) =>
      [of.connector, "*"].map((connector) => `${merchant} ${currency} ${connector}`),
    ),
  );
  const begun = schedules.filter(({ from }) => from <= at).sort((a, b) => b.from - a.from);
  for (const key of keys) {
    const found = begun.find((one) => `${one.merchant} ${one.currency} ${one.connector}` === key);
    if (found) return Math.round((captured * found.basisPoints) / 10_000) + found.fixed;
  }
  return 0;
}
