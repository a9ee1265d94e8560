// What the list benchmark asks: the filters of GET /v1/payments alone and together, far offsets, and searches from one
// hit to more than a million.
import type { Database } from "#platform/database/database.ts";
import type { PageWindow } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import type { Place } from "#platform/lists/place.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type DisputeFilters, listDisputeRecords } from "../../services/payments/lists/disputes.ts";
import { listPayments, type PaymentFilters } from "../../services/payments/lists/payments.ts";
import { listRefundRecords, type RefundFilters } from "../../services/payments/lists/refunds.ts";
import { everything } from "../harness/payments/payment-rows.ts";

export interface ListQuery {
  readonly name: string;
  /** @returns the total */
  readonly run: (i: number) => Promise<bigint>;
  /** Of one that takes seconds. */
  readonly runsMax?: number;
}

const dayMs = 86_400_000;
const big = { merchantId: "mer_big", environment: Environment.SANDBOX };
export function listQueries(db: Database): readonly ListQuery[] {
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const day = (ago: number) => new Date(today - ago * dayMs);
  const lastMs = (ago: number) => new Date(day(ago).getTime() + dayMs - 1);
  // Some minutes into an hour, another one each time.
  const moment = (ago: number, i: number) => new Date(day(ago).getTime() + 34_567_890 + i * 60_000);
  const list = (name: string, filters: (i: number) => Partial<PaymentFilters>, offset = 0n): ListQuery => ({
    name,
    run: async (i) => (await listPayments(db, big, { ...everything, ...filters(i) }, { limit: 50, offset })).total,
  });
  const refunds = (name: string, filters: (i: number) => RefundFilters): ListQuery => ({
    name,
    run: async (i) => (await listRefundRecords(db, big, filters(i), { limit: 50, offset: 0n })).total,
  });
  const always = timeRange(undefined, undefined);
  const small = { ...big, merchantId: "mer_7" };
  return [
    list("first page, no filter", () => ({})),
    list("status succeeded", () => ({ status: "succeeded" })),
    list("status disputed", () => ({ status: "disputed" })),
    list("30 whole days", () => ({ from: day(60), to: lastMs(31) })),
    list("9 months between two moments, status failed", (i) => ({
      status: "failed",
      from: moment(300, i),
      to: moment(30, i),
    })),
    list("amount at least 10.00", (i) => ({ minAmount: 1_000n + BigInt(i) })),
    list("amount at least a favourite price", () => ({ minAmount: 1_999n })),
    list("exactly a favourite price", () => ({ minAmount: 4_999n, maxAmount: 4_999n })),
    list("amount within 1 %", (i) => ({ minAmount: 5_100n + BigInt(i), maxAmount: 5_150n + BigInt(i) })),
    list("amounts and status", () => ({ status: "succeeded", minAmount: 777n, maxAmount: 55_555n })),
    list("amounts, status, 9 months between two moments", (i) => ({
      ...{ status: "succeeded", from: moment(300, i), to: moment(30, i), minAmount: 777n, maxAmount: 55_555n },
    })),
    list("amounts, 10 days between two moments", (i) => ({
      from: moment(40, i),
      to: moment(30, i),
      minAmount: 2_222n,
    })),
    list("rare amounts, rare status", () => ({ status: "disputed", minAmount: 90_000n })),
    list("last4", (i) => ({ q: String(1_000 + i) })),
    list("last4, amounts, status, 9 months", (i) => ({
      ...{ q: String(1_000 + i), status: "succeeded", from: moment(300, i), to: moment(30, i), minAmount: 2_222n },
    })),
    list("e-mail, 50 hits", (i) => ({ q: `Buyer${12_345 + i}@` })),
    list("part of an e-mail, 550 hits", (i) => ({ q: `yer${1_234 + i}` })),
    list("part of an e-mail, amounts, status, 9 months", (i) => ({
      ...{ q: `yer${1_234 + i}`, status: "succeeded", from: moment(300, i), to: moment(30, i), minAmount: 2_222n },
    })),
    list("part of an e-mail, no hit", (i) => ({ q: `nobody${i}` })),
    list("id that begins so for all", () => ({ q: "pay_0" })),
    list("id that begins so for some hours", () => ({
      q: `pay_0${day(100).getTime().toString(16).padStart(12, "0").slice(0, 6)}`,
    })),
    list("id that begins so for three days", () => ({
      q: `pay_0${day(100).getTime().toString(16).padStart(12, "0").slice(0, 5)}`,
    })),
    ...orderNumberQueries(list, day, moment),
    list("a common currency", () => ({ currency: "EUR" })),
    list("a rare currency", () => ({ currency: "KWD" })),
    list("a connector", () => ({ connector: "stripe" })),
    list("currency, connector and status", () => ({ currency: "USD", connector: "simulator", status: "succeeded" })),
    list("currency and rare status", () => ({ currency: "EUR", status: "disputed" })),
    list("currency, 9 months between two moments", (i) => ({
      currency: "EUR",
      from: moment(300, i),
      to: moment(30, i),
    })),
    list("currency, amounts, status, 9 months between two moments", (i) => ({
      ...{ currency: "EUR", status: "succeeded", from: moment(300, i), to: moment(30, i) },
      ...{ minAmount: 777n, maxAmount: 55_555n },
    })),
    list("last4 and currency", (i) => ({ q: String(1_000 + i), currency: "USD" })),
    list("captured within a day", (i) => ({ capturedFrom: moment(31, i), capturedTo: moment(30, i) })),
    list("captured within whole 30 days", () => ({ capturedFrom: day(60), capturedTo: lastMs(31) })),
    list("captured within 9 months between two moments", (i) => ({
      capturedFrom: moment(300, i),
      capturedTo: moment(30, i),
    })),
    list("captured within 9 months, currency, connector, status", (i) => ({
      ...{ capturedFrom: moment(300, i), capturedTo: moment(30, i) },
      ...{ currency: "EUR", connector: "simulator", status: "succeeded" },
    })),
    list("captured within 9 months, amounts", (i) => ({
      ...{ capturedFrom: moment(300, i), capturedTo: moment(30, i), minAmount: 777n, maxAmount: 55_555n },
    })),
    list("captured and created within 10 days", (i) => ({
      ...{ capturedFrom: moment(40, i), capturedTo: moment(30, i), from: moment(41, i), to: moment(31, i) },
    })),
    list("offset 1,000,000", () => ({}), 1_000_000n),
    list("offset 1,000,000, currency", () => ({ currency: "EUR" }), 1_000_000n),
    list("offset 1,000,000, status succeeded", () => ({ status: "succeeded" }), 1_000_000n),
    list("offset 1,000,000, amount at least 10.00", () => ({ minAmount: 1_000n }), 1_000_000n),
    list(
      "offset 1,000,000, amounts, status, 9 months",
      (i) => ({
        ...{ status: "succeeded", from: moment(300, i), to: moment(30, i), minAmount: 777n, maxAmount: 55_555n },
      }),
      1_000_000n,
    ),
    ...behindQueries(db, moment),
    refunds("refunds", () => ({ status: "", range: always })),
    refunds("refunds that failed", () => ({ status: "failed", range: always })),
    refunds("refunds that failed, 9 months", (i) => ({
      ...{ status: "failed", range: timeRange(moment(300, i), moment(30, i)) },
    })),
    ...disputeQueries(db, day, moment),
    {
      name: "a small merchant, amounts and status",
      run: async () => {
        const filters = { ...everything, status: "succeeded", minAmount: 2_222n };
        return (await listPayments(db, small, filters, { limit: 50, offset: 0n })).total;
      },
    },
    list("part of an e-mail, 5,500 hits", (i) => ({ q: `yer${123 + i}` })),
    list("part of an e-mail, 50,000 hits", () => ({ q: "silva" })),
    {
      ...list("captured and created within 9 months (no aim)", (i) => ({
        ...{ capturedFrom: moment(300, i), capturedTo: moment(30, i), from: moment(301, i), to: moment(31, i) },
      })),
      runsMax: 10,
    },
    { ...list("beginning of an order number, 800,000 hits (no aim)", () => ({ q: "order-1" })), runsMax: 10 },
    { ...list("part of an e-mail, a third of all (no aim)", () => ({ q: "mail.example" })), runsMax: 10 },
  ];
}

/** Of somebody who reads on and on, half-way through the list. */
function behindQueries(db: Database, moment: (ago: number, i: number) => Date): readonly ListQuery[] {
  const behind = (name: string, filters: (i: number) => Partial<PaymentFilters>, own: Partial<PageWindow> = {}) => ({
    name: `behind a payment in the middle, ${name}`,
    run: async (i: number) => {
      const [after] = await db.rows<Place>(
        `select id, created_at as "createdAt" from payments where merchant_id = $1 and environment = $2 and visible
           and created_at <= $3 order by created_at desc, id desc limit 1`,
        [big.merchantId, big.environment, moment(180, i)],
      );
      const window = { limit: 50, offset: 0n, ...(after && { after }), ...own };
      return (await listPayments(db, big, { ...everything, ...filters(i) }, window)).total;
    },
  });
  return [
    behind("no filter", () => ({})),
    behind("no filter, 1,000 of them, uncounted", () => ({}), { limit: 1_000, isUncounted: true }),
    behind("status failed, 9 months between two moments", (i) => ({
      ...{ status: "failed", from: moment(300, i), to: moment(30, i) },
    })),
    behind("currency, 9 months between two moments", (i) => ({
      ...{ currency: "EUR", from: moment(300, i), to: moment(30, i) },
    })),
  ];
}

/** Those that came at random, and those of a day: the hits of long ago are behind millions of others. */
function orderNumberQueries(
  list: (name: string, filters: (i: number) => Partial<PaymentFilters>) => ListQuery,
  day: (ago: number) => Date,
  moment: (ago: number, i: number) => Date,
): readonly ListQuery[] {
  const month = (ago: number) => day(ago).toISOString().slice(0, 7).replace("-", "");
  return [
    list("an order number", (i) => ({ orderReference: `order-${123_456 + i}` })),
    list("beginning of an order number, 80 hits", (i) => ({ q: `order-${12_345 + i}` })),
    list("beginning of an order number, 8,000 hits", (i) => ({ q: `order-${123 + i}` })),
    list("beginning of an order number, 80,000 hits", (i) => ({ q: `order-${12 + (i % 80)}` })),
    list("beginning of an order number, 8,000 hits, amounts, status, 9 months", (i) => ({
      ...{ q: `order-${123 + i}`, status: "succeeded", from: moment(300, i), to: moment(30, i), minAmount: 2_222n },
    })),
    list("beginning of an order number, 80,000 hits, status, 9 months", (i) => ({
      ...{ q: `order-${12 + (i % 80)}`, status: "succeeded", from: moment(300, i), to: moment(30, i) },
    })),
    list("beginning of an order number of last year, 50,000 hits", () => ({ q: `R${month(330)}` })),
  ];
}

/** A hundred thousand, of which one in twenty waits for an answer. */
function disputeQueries(
  db: Database,
  day: (ago: number) => Date,
  moment: (ago: number, i: number) => Date,
): readonly ListQuery[] {
  const disputes = (name: string, filters: (i: number) => Partial<DisputeFilters>): ListQuery => ({
    name,
    run: async (i) => {
      const none = { status: "", paymentId: "", from: undefined, to: undefined, dueBefore: undefined };
      return (await listDisputeRecords(db, big, { ...none, ...filters(i) }, { limit: 50, offset: 0n })).total;
    },
  });
  return [
    disputes("disputes", () => ({})),
    disputes("disputes to be answered within a week", () => ({ status: "needs_response", dueBefore: day(-7) })),
    disputes("disputes that were won, 9 months", (i) => ({ status: "won", from: moment(300, i), to: moment(30, i) })),
    disputes("disputes due before a moment, 9 months", (i) => ({
      ...{ from: moment(300, i), to: moment(30, i), dueBefore: moment(100, i) },
    })),
  ];
}
