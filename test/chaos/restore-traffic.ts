// A merchant's shop around a restore: buyers who buy, refunds, keys and endpoints that change. Every order remembers
// the keys that its requests had, so that the merchant can repeat them afterwards, and what was answered.
import { type Answer, type Api, merchantApi } from "../harness/api.ts";
import { cards, cardToken, payInFrame } from "../harness/pay.ts";
import { Random } from "./random.ts";
import type { RestoreRig } from "./restore-rig.ts";

/** A request as it can be repeated. */
export interface RepeatableRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly key: string;
  /** Field of the answer with the created object, and its value: an id or the processor's; empty: not yet. */
  readonly at: "id" | "connector_ref";
  readonly id: string;
  /** It was answered after the first copy was begun. */
  readonly isLate: boolean;
}

export interface Order {
  readonly request: RepeatableRequest;
  readonly paymentId: string;
  isPaid: boolean;
  readonly refunds: RepeatableRequest[];
}

export interface Traffic {
  /** Rejects when a buyer is answered what no client should be. */
  readonly failed: Promise<never>;
  readonly orders: readonly Order[];
  /** They finish what they do. */
  end(): Promise<void>;
}

const againMs = 200;
const patienceMs = 60_000;

/** @param isLate whether the copy was already made. @param openShare share of sessions that are not paid */
export function startTraffic(
  rig: RestoreRig,
  seed: number,
  { buyers, isLate, openShare }: { buyers: number; isLate: () => boolean; openShare: number },
): Traffic {
  const orders: Order[] = [];
  const shop = { rig, isLate, openShare, orders };
  let isOpen = true;
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  const loops = Array.from({ length: buyers }, async (_none, buyer) => {
    const random = new Random(seed * 1_009 + buyer);
    try {
      for (let i = 0; isOpen; i++) await buy(shop, random, `${seed}-${buyer}-${i}`);
    } catch (error) {
      reject(error);
    }
  });
  return {
    orders,
    failed,
    async end() {
      isOpen = false;
      await Promise.all(loops);
    },
  };
}

interface Shop {
  readonly rig: RestoreRig;
  readonly isLate: () => boolean;
  readonly openShare: number;
  readonly orders: Order[];
}

async function buy(shop: Shop, random: Random, name: string): Promise<void> {
  const { rig, openShare, orders } = shop;
  const amount = random.int(500, 9_000);
  const order = { amount, currency: "EUR", description: `order ${name}`, metadata: { order: name } };
  if (random.chance(0.2)) {
    const paymentMethod = await cardToken(rig.running.stack.processor, rig.account);
    const body = { ...order, payment_method: paymentMethod };
    const { made, request } = await ask(shop, { path: "/v1/payments", body, key: `pay-${name}`, at: "id" });
    const bought = { request, paymentId: request.id, isPaid: made.text("status") === "succeeded", refunds: [] };
    orders.push(bought);
    return await refund(shop, random, name, amount, bought);
  }
  const { made, request } = await ask(shop, {
    path: "/v1/checkout-sessions",
    body: order,
    key: `session-${name}`,
    at: "id",
  });
  const bought: Order = { request, paymentId: `pay_${request.id.slice("cs_".length)}`, isPaid: false, refunds: [] };
  orders.push(bought);
  if (random.chance(openShare)) return;
  if (random.chance(0.1)) await payInFrame(made.text("render.frame_url"), cards.declined);
  await payInFrame(made.text("render.frame_url"));
  const confirm = `/v1/checkout/${request.id}/confirm?secret=${encodeURIComponent(made.text("session_secret"))}`;
  await untilAnswered(rig.buyer, confirm, undefined, "", 200);
  bought.isPaid = true;
  await refund(shop, random, name, amount, bought);
}

async function refund(shop: Shop, random: Random, name: string, amount: number, order: Order): Promise<void> {
  if (!order.isPaid || !random.chance(0.5)) return;
  const path = `/v1/payments/${order.paymentId}/refunds`;
  const body = { amount: random.int(1, Math.floor(amount / 2)), reason: `refund ${name}` };
  const { request } = await ask(shop, { path, body, key: `refund-${name}`, at: "connector_ref" });
  order.refunds.push(request);
}

async function ask(
  { rig, isLate }: Shop,
  input: Pick<RepeatableRequest, "path" | "body" | "key" | "at">,
): Promise<{ made: Answer; request: RepeatableRequest }> {
  const made = await untilAnswered(rig.merchant, input.path, input.body, input.key, 201);
  return { made, request: { ...input, id: String(made.at(input.at) ?? ""), isLate: isLate() } };
}

/** As persistent programs do: refused or unanswered, it goes again with its key. */
export async function untilAnswered(
  to: Api,
  path: string,
  body: RepeatableRequest["body"] | undefined,
  key: string,
  status: number,
): Promise<Answer> {
  const end = performance.now() + patienceMs;
  const headers = key === "" ? {} : { "idempotency-key": key };
  for (;;) {
    const answer = await to.post(path, body, headers).catch(() => undefined);
    if (answer?.status === status) return answer;
    const mayPass = !answer || answer.status >= 500 || [404, 409, 425, 429].includes(answer.status);
    if (!mayPass || performance.now() > end) throw new Error(`${path} with ${key}: ${answer ?? "no answer"}`);
    await new Promise((resolve) => setTimeout(resolve, againMs));
  }
}

/** The merchant's changes to its own settings around the copy. */
export interface Changes {
  /** Raw keys that must not work any more: revoked, and rolled without an overlap, after the copy. */
  readonly ended: readonly string[];
  /** Ids of what was made after the copy: the report has to name each. */
  readonly lost: readonly string[];
}

/** Before the copy. @returns what makes the changes after it */
export async function prepareChanges({ merchant, receiver, running }: RestoreRig): Promise<() => Promise<Changes>> {
  const key = async (name: string) => {
    const scopes = ["payments:read", "merchant:read"];
    const made = (await merchant.post("/v1/merchants/me/api-keys", { name, scopes })).expect(201);
    return { id: made.text("id"), secret: made.text("api_key") };
  };
  const endpoint = async (path: string) => {
    const body = { url: `${receiver.url}${path}`, event_types: ["payment.succeeded"] };
    return (await merchant.post("/v1/merchants/me/webhooks", body)).expect(201).text("id");
  };
  const [revoked, rolled, deleted] = [await key("revoked"), await key("rolled"), await endpoint("/deleted")];
  return async () => {
    (await merchant.delete(`/v1/merchants/me/api-keys/${revoked.id}`)).expect(204);
    const roll = { expires_in: 0 };
    const successor = (await merchant.post(`/v1/merchants/me/api-keys/${rolled.id}/roll`, roll)).expect(201);
    (await merchant.delete(`/v1/merchants/me/webhooks/${deleted}`)).expect(204);
    const [made, added] = [await key("made since"), await endpoint("/added")];
    for (const { secret } of [made]) (await merchantApi(running.stack.gateway, secret).get("/v1/payments")).expect(200);
    return { ended: [revoked.secret, rolled.secret], lost: [made.id, successor.text("id"), added, deleted] };
  };
}
