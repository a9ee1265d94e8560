// The filters of a list as SQL over `payments t` (and `customer_emails e`), put together with numbered parameters. The texts are few and fixed.
import { timeRange } from "#platform/day-range.ts";
import type { Owner } from "./payment-records.ts";

/** The values of a statement's `$1…`, in their order. */
export class Params {
  readonly values: unknown[] = [];

  /** @returns the value's place, such as `$3` */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** A condition and its values, not numbered yet. */
export class Condition {
  readonly #text: string;
  readonly #values: readonly unknown[];

  /** @param text with a `?` for each value, in their order */
  constructor(text: string, ...values: readonly unknown[]) {
    this.#text = text;
    this.#values = values;
  }

  and(text: string, ...values: readonly unknown[]): Condition {
    return new Condition(`${this.#text} and ${text}`, ...this.#values, ...values);
  }

  /** The text with its values numbered as the statement's next. */
  in(params: Params): string {
    const values = this.#values.values();
    return this.#text.replaceAll("?", () => params.add(values.next().value));
  }
}

/** The filters besides the search. */
export interface PlainFilters {
  /** Exact; empty: all. */
  readonly status: string;
  /** Both ends included. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** Minor units, both ends included. */
  readonly minAmount: bigint | undefined;
  readonly maxAmount: bigint | undefined;
}

/** All of them together. */
export function conditionOf(owner: Owner, filters: PlainFilters): Condition {
  const { from, to } = timeRange(filters.from, filters.to);
  let where = ownPayments(owner);
  if (filters.status !== "") where = where.and("t.status = ?", filters.status);
  if (filters.from) where = where.and("t.created_at >= ?", from);
  if (filters.to) where = where.and("t.created_at < ?", to);
  if (filters.minAmount !== undefined) where = where.and("t.amount >= ?", filters.minAmount);
  if (filters.maxAmount !== undefined) where = where.and("t.amount <= ?", filters.maxAmount);
  return where;
}

/** What the owner can see at all. */
export function ownPayments(owner: Owner): Condition {
  return new Condition("t.merchant_id = ? and t.environment = ? and t.visible", owner.merchantId, owner.environment);
}

/** The e-mails of the owner's payments, as `customer_emails e`. */
export function ownEmails(owner: Owner): Condition {
  return new Condition("e.merchant_id = ? and e.environment = ?", owner.merchantId, owner.environment);
}
