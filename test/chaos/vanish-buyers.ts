// Buyers that never give up: each buys in a loop, retries rejected or unanswered requests with the same key, and
// remembers its payments. Also checks that events leave the services and reach the merchant.
import { Database } from "#platform/database/database.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { apiClient } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { payInFrame } from "../harness/pay.ts";
import { untilAnswered } from "./restore-traffic.ts";
import type { VanishRig } from "./vanish-rig.ts";

export interface Buyers {
  /** Payments reported to a buyer. */
  readonly paid: readonly string[];
  /** Payments delivered to the merchant. */
  readonly delivered: ReadonlySet<string>;
  readonly publishers: readonly Publisher[];
  /** Waits until so much more is bought. */
  more(purchases: number): Promise<void>;
  /** Each of them has begun to buy since then, and has bought. @param at monotonic milliseconds */
  haveAllBoughtSince(at: number): boolean;
  /** They finish what they buy. */
  end(): Promise<void>;
  /** Without waiting for them. */
  close(): Promise<void>;
}

export interface Publisher {
  readonly service: string;
  /** No event has waited for a second. */
  readonly isUpToDate: () => Promise<boolean>;
}

const moreMsMax = 120_000;

/** @param count who buy side by side */
export async function startBuyers(rig: VanishRig, count: number): Promise<Buyers> {
  const paid: string[] = [];
  const delivered = new Set<string>();
  const boughtBegunAt = Array.from({ length: count }, () => Number.NEGATIVE_INFINITY);
  let isOpen = true;
  let orders = 0;
  rig.receiver.answer(({ body }) => {
    delivered.add(JSON.parse(body.toString()).payment_id);
    return { status: 200 };
  });
  const loops = boughtBegunAt.map(async (_none, buyer) => {
    while (isOpen) {
      const begunAt = performance.now();
      const payment = await buy(rig, `drill-${++orders}`, () => isOpen);
      if (payment === undefined) return;
      paid.push(payment);
      boughtBegunAt[buyer] = begunAt;
    }
  });
  const log = createLog("drill", "silent");
  const open = async (service: string) =>
    [service, await Database.open({ url: rig.databaseOf(service), name: "drill", log, connectionsMax: 1 })] as const;
  const books = await Promise.all(["checkout", "payments", "merchant", "webhook"].map(open));
  return {
    paid,
    delivered,
    publishers: books.map(([service, db]) => ({ service, isUpToDate: () => isUpToDate(db) })),
    async more(purchases) {
      const goal = paid.length + purchases;
      await eventually("more purchases", () => paid.length >= goal, { limitMs: moreMsMax });
    },
    haveAllBoughtSince: (at) => boughtBegunAt.every((begunAt) => begunAt >= at),
    async end() {
      isOpen = false;
      await Promise.all(loops);
    },
    async close() {
      isOpen = false;
      await Promise.allSettled(loops);
      await Promise.all(books.map(([, db]) => db.close()));
    },
  };
}

async function isUpToDate(db: Database): Promise<boolean> {
  const rows = await db.rows(
    `select 1 from outbox where published_at is null and created_at < now() - interval '1 second' limit 1`,
  );
  return rows.length === 0;
}

/** @returns the payment; undefined: buyers were not wanted any more before it was paid */
async function buy(rig: VanishRig, key: string, isWanted: () => boolean): Promise<string | undefined> {
  const { gateway } = rig.running.stack;
  const made = await untilAnswered(rig.merchant, "/v1/checkout-sessions", { amount: 1_000, currency: "EUR" }, key, 201);
  if (!isWanted()) return undefined;
  await eventually("the buyer to pay", async () => (await payInFrame(made.text("render.frame_url"))).status === 200, {
    limitMs: moreMsMax,
    everyMs: 200,
  });
  const path = `/v1/checkout/${made.text("id")}/confirm?secret=${encodeURIComponent(made.text("session_secret"))}`;
  return (await untilAnswered(apiClient(gateway), path, undefined, "", 200)).text("payment_id");
}
