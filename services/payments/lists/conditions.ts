// Builds the SQL conditions of a list's filters over `payments t`, `customer_emails e` and the counts `c`.
import { Condition, inTimeRange } from "#platform/lists/condition.ts";
import type { DatedFilter } from "#platform/lists/dated-list.ts";
import { type TimeRange, timeRange } from "#platform/lists/day-range.ts";
import type { Owner } from "../store/payment-records.ts";

/** The filters without the search. */
export interface PlainFilters {
  /** Exact; empty: all. */
  readonly status: string;
  /** Exact; empty: all. */
  readonly orderReference: string;
  /** Both ends included. */
  readonly from: Date | undefined;
  readonly to: Date | undefined;
  /** Minor units, both ends included. */
  readonly minAmount: bigint | undefined;
  readonly maxAmount: bigint | undefined;
  /** Exact; empty: all. */
  readonly currency: string;
  readonly connector: string;
  /** Both ends included. */
  readonly capturedFrom: Date | undefined;
  readonly capturedTo: Date | undefined;
}

/** Payments are counted per kind (schema/0015-list-filters.sql). */
export interface Kind {
  readonly currency: string;
  readonly connector: string;
}

/** Condition of the partial index on order references. */
export const hasReference = "t.order_reference <> ''";

/** The reference in any case, for the index. */
export const isOfReference = `${hasReference} and lower(t.order_reference) = lower(?)`;

/** Conditions of the filters without the search, one per query that uses them. */
export interface Narrowing {
  /** All filters, of `payments t`. */
  readonly where: Condition;
  /** Owner and time of creation of `payments t`: the columns of the index in list order. */
  readonly list: Condition;
  /** Owner, status and kinds of `payments t`, and of the counts `c`. */
  readonly rows: Condition;
  readonly counts: Condition;
  /** The owner's `customer_emails e`. */
  readonly emails: Condition;
  /** All filters except amounts, kinds and captures. */
  readonly dated: DatedFilter;
  /** Minor units, both ends included; undefined: no filter by amount. */
  readonly amounts: { readonly min: bigint | undefined; readonly max: bigint | undefined } | undefined;
  /** The time column of the counts: creation, or capture if only captures are filtered. */
  readonly clock: { readonly column: "t.created_at" | "t.captured_at"; readonly range: TimeRange };
  /** undefined: no filter by capture. */
  readonly captured: TimeRange | undefined;
}

/** @param kinds undefined: all */
export function buildNarrowing(owner: Owner, filters: PlainFilters, kinds?: readonly Kind[]): Narrowing {
  const { merchantId, environment } = owner;
  const { status, from, to, minAmount: min, maxAmount: max } = filters;
  const of = (table: "t" | "c" | "e", rest = "") =>
    new Condition(`${table}.merchant_id = ? and ${table}.environment = ?${rest}`, merchantId, environment);
  const ofStatus = (table: "t" | "c", all: Condition) => (status === "" ? all : all.and(`${table}.status = ?`, status));
  const range = timeRange(from, to);
  const captured = capturedRange(filters);
  const own = of("t", " and t.visible");
  const rows = ofKinds(ofStatus("t", own), filters, kinds);
  const lists = listsOf(captured ? "captured" : "payments", kinds);
  return {
    where: applyAll(captured ? rows.with(inTimeRange("t.captured_at", captured)) : rows, filters),
    list: from || to ? own.with(inTimeRange("t.created_at", range)) : own,
    rows,
    counts: ofStatus("c", of("c").and("c.list = any(?)", lists)),
    emails: of("e"),
    dated: { merchantId, environment, status, range },
    amounts: min === undefined && max === undefined ? undefined : { min, max },
    clock: captured ? { column: "t.captured_at", range: captured } : { column: "t.created_at", range },
    captured,
  };
}

function applyAll(rows: Condition, filters: PlainFilters): Condition {
  const { orderReference, from, to, minAmount: min, maxAmount: max } = filters;
  let where = rows;
  if (orderReference !== "")
    where = where.and(`${isOfReference} and t.order_reference = ?`, orderReference, orderReference);
  if (from || to) where = where.with(inTimeRange("t.created_at", timeRange(from, to)));
  if (min !== undefined) where = where.and("t.amount >= ?", min);
  if (max !== undefined) where = where.and("t.amount <= ?", max);
  return where;
}

/** Lists a connector's currencies, because the index by kind begins with the currency. */
function ofKinds(rows: Condition, { currency, connector }: PlainFilters, kinds: readonly Kind[] = []): Condition {
  if (currency === "" && connector === "") return rows;
  const own = currency === "" ? [...new Set(kinds.map((kind) => kind.currency))] : [currency];
  const narrowed = rows.and("t.currency = any(?)", own);
  return connector === "" ? narrowed : narrowed.and("t.connector = ?", connector);
}

function listsOf(list: "payments" | "captured", kinds: readonly Kind[] | undefined): readonly string[] {
  return kinds?.map(({ currency, connector }) => `${list}/${currency}/${connector}`) ?? [list];
}

function capturedRange({ capturedFrom: from, capturedTo: to }: PlainFilters): TimeRange | undefined {
  return from || to ? timeRange(from, to) : undefined;
}
