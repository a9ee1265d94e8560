// The filters of a list in the forms in which they are asked, as SQL over `payments t`, `customer_emails e` and the
// counts `c`, put together with numbered parameters. The texts are few and fixed.
import type { DatedFilter, Place } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import type { Owner } from "../store/payment-records.ts";

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

  with(other: Condition): Condition {
    return new Condition(`${this.#text} and ${other.#text}`, ...this.#values, ...other.#values);
  }

  /** The text with its values numbered as the statement's next. */
  in(params: Params): string {
    const values = this.#values.values();
    return this.#text.replaceAll("?", () => params.add(values.next().value));
  }
}

/** Of a row `t` behind the place. */
export function behind({ createdAt, id }: Place): Condition {
  return new Condition("(t.created_at, t.id) < (?::timestamptz, ?)", createdAt, id);
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

/** The filters besides the search, in the forms in which they are asked. */
export interface Narrowing {
  /** All of them, of `payments t`. */
  readonly where: Condition;
  /** Owner and status alone: of `payments t`, and of the counts `c`. */
  readonly rows: Condition;
  readonly counts: Condition;
  /** The owner's `customer_emails e`. */
  readonly emails: Condition;
  /** All but the amounts. */
  readonly dated: DatedFilter;
  /** Undefined: not narrowed by amount. Minor units, both ends included. */
  readonly amounts: { readonly min: bigint | undefined; readonly max: bigint | undefined } | undefined;
}

export function narrow(owner: Owner, { status, from, to, minAmount: min, maxAmount: max }: PlainFilters): Narrowing {
  const { merchantId, environment } = owner;
  const of = (table: "t" | "c" | "e", rest = "") =>
    new Condition(`${table}.merchant_id = ? and ${table}.environment = ?${rest}`, merchantId, environment);
  const ofStatus = (table: "t" | "c", all: Condition) => (status === "" ? all : all.and(`${table}.status = ?`, status));
  const range = timeRange(from, to);
  const rows = ofStatus("t", of("t", " and t.visible"));
  let where = rows;
  if (from) where = where.and("t.created_at >= ?", range.from);
  if (to) where = where.and("t.created_at < ?", range.to);
  if (min !== undefined) where = where.and("t.amount >= ?", min);
  if (max !== undefined) where = where.and("t.amount <= ?", max);
  return {
    where,
    rows,
    counts: ofStatus("c", of("c", " and c.list = 'payments'")),
    emails: of("e"),
    dated: { merchantId, environment, status, range },
    amounts: min === undefined && max === undefined ? undefined : { min, max },
  };
}
