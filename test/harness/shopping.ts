// Buyers and a merchant at work without a pause: purchases one after the other, each answer compared with that of a
// quiet day. For tests that change the system under them and accept no failed request.
import assert from "node:assert/strict";
import { type Api, apiClient } from "./api.ts";
import { eventually } from "./eventually.ts";
import { payInFrame } from "./pay.ts";

/** A session that was made. */
export interface Order {
  /** The idempotency key of its creation. */
  readonly key: string;
  readonly session: string;
  readonly secret: string;
  readonly frameUrl: string;
}

/** An order that was paid and refunded in part. */
export interface Purchase extends Order {
  readonly payment: string;
}

export interface Shop {
  /** Of the gateway. */
  readonly url: string;
  readonly merchant: Api;
}

export interface Shopping {
  readonly bought: readonly Purchase[];
  /** Waits for this many more purchases. @throws the first failure */
  more(purchases: number): Promise<void>;
  /** Ends the load. @throws the first failure */
  end(): Promise<void>;
}

const amount = 1_000;
/** Amount of the first refund of a purchase. */
export const firstRefund = 400;
const moreMsMax = 120_000;

/** Starts the load. */
export function goShopping(shop: Shop, shoppers: number): Shopping {
  const bought: Purchase[] = [];
  const failures: unknown[] = [];
  let [open, orders] = [true, 0];
  const loops = Array.from({ length: shoppers }, async () => {
    while (open && failures.length === 0) {
      try {
        bought.push(await buyProduct(shop, await orderProduct(shop, `order-${++orders}`)));
      } catch (error) {
        failures.push(error);
      }
    }
  });
  const noFailure = () => {
    if (failures.length > 0) throw failures[0];
  };
  return {
    bought,
    async more(purchases) {
      const goal = bought.length + purchases;
      const limits = { limitMs: moreMsMax };
      await eventually("more purchases", () => bought.length >= goal || failures.length > 0, limits);
      noFailure();
    },
    async end() {
      open = false;
      await Promise.all(loops);
      noFailure();
    },
  };
}

/** Makes a session, or finds the one of this key again. */
export async function orderProduct(shop: Shop, key: string): Promise<Order> {
  const body = { amount, currency: "EUR" };
  const session = (await shop.merchant.post("/v1/checkout-sessions", body, { "idempotency-key": key })).expect(201);
  const [id, secret] = [session.text("id"), session.text("session_secret")];
  return { key, session: id, secret, frameUrl: session.text("render.frame_url") };
}

/** The buyer pays, the merchant reads and refunds a part. */
export async function buyProduct(shop: Shop, made: Order): Promise<Purchase> {
  (await apiClient(shop.url).get(`/v1/checkout/${made.session}?${secretOf(made)}`)).expect(200);
  (await payInFrame(made.frameUrl)).expect(200);
  const payment = await confirmOrder(shop, made);
  (await shop.merchant.get(`/v1/payments/${payment}`)).expect(200);
  await refundOrder(shop, payment, firstRefund);
  (await shop.merchant.get("/v1/payments?limit=5")).expect(200);
  (await shop.merchant.get("/v1/merchants/me/webhooks")).expect(200);
  return { ...made, payment };
}

/** Confirms, also again: a completed session replays its payment. */
export async function confirmOrder(shop: Shop, made: Order): Promise<string> {
  const confirmed = await apiClient(shop.url).post(`/v1/checkout/${made.session}/confirm?${secretOf(made)}`);
  assert.equal(confirmed.expect(200).text("status"), "completed");
  return confirmed.text("payment_id");
}

export async function refundOrder(shop: Shop, payment: string, partialAmount: number): Promise<void> {
  (await shop.merchant.post(`/v1/payments/${payment}/refunds`, { amount: partialAmount })).expect(201);
}

/** The payment has the amounts of the refund's answer. */
export async function assertRefunded(shop: Shop, payment: string, refunded: number): Promise<void> {
  const record = (await shop.merchant.get(`/v1/payments/${payment}`)).expect(200);
  assert.deepEqual([record.text("status"), record.number("refunded_amount")], ["partially_refunded", refunded]);
}

function secretOf({ secret }: Order): string {
  return `secret=${encodeURIComponent(secret)}`;
}
