// A merchant's backend and its buyers, as benchmarks play them: requests to the gateway, and cards typed at the
// processor.
import { Pool } from "undici";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import type { Request } from "./load.ts";

export interface Shop {
  readonly merchant: TestMerchant;
  /** The headers of a merchant's request. */
  readonly auth: Readonly<Record<string, string>>;
  /** @returns the answer's body. @throws when the status is not 2xx: a benchmark of failures measures nothing */
  send(request: Request): Promise<string>;
  /** The request as a piece of work; undefined when all are sent. */
  sending(request: Request | undefined): (() => Promise<string>) | undefined;
  /** The body of an order. */
  order(): string;
  create(): Request;
  /** A session that is paid at the processor. @returns its confirm */
  paidSession(): Promise<Request>;
  /** Creates this number of paid sessions. */
  paidSessions(count: number): Promise<Request[]>;
  /** A whole order: created, paid, opened by its buyer, confirmed and read. @returns the payment's id */
  sale(): Promise<string>;
  refund(paymentId: string): Request;
  close(): Promise<void>;
}

const sessionsAtOnce = 16;

export async function openShop(stack: StackInfo): Promise<Shop> {
  const merchant = await freshMerchant(stack);
  const gateway = new Pool(stack.gateway, { connections: 64, pipelining: 1 });
  const processor = new Pool(stack.processor, { connections: sessionsAtOnce, pipelining: 1 });
  const auth = { authorization: `Bearer ${merchant.apiKey}`, "content-type": "application/json" };
  let orders = 0;
  const send = async (pool: Pool, request: Request) => {
    const { method, path, headers = auth, body = null } = request;
    const answer = await pool.request({ method, path, headers, body });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${path.split("?")[0]}: ${answer.statusCode} ${text}`);
    return text;
  };
  const order = () => {
    orders += 1;
    // Every order has a buyer of its own: risk screening counts sessions per e-mail.
    const buyer = { customer_email: `buyer${orders}@example.com` };
    return JSON.stringify({ amount: 1050, currency: "EUR", description: "Order 1001", ...buyer });
  };
  const create = (): Request => ({ method: "POST", path: "/v1/checkout-sessions", body: order() });
  const paidSession = async (): Promise<Request> => {
    const session = JSON.parse(await send(gateway, create()));
    const form = new URL(session.render.frame_url);
    const card = { number: "4242424242424242", exp_month: 12, exp_year: 2034, cvc: "123" };
    await send(processor, {
      method: "POST",
      path: `${form.pathname}/pay`,
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ client_secret: session.render.client_secret, ...card }),
    });
    return {
      method: "POST",
      path: `/v1/checkout/${session.id}/confirm?secret=${session.session_secret}`,
      headers: {},
    };
  };
  return {
    merchant,
    auth,
    send: (request) => send(gateway, request),
    sending: (request) => request && (() => send(gateway, request)),
    order,
    create,
    paidSession,
    paidSessions: async (count) => {
      const made: Request[] = [];
      await inParallel(count, sessionsAtOnce, async () => void made.push(await paidSession()));
      return made;
    },
    sale: async () => {
      const confirm = await paidSession();
      await send(gateway, { method: "GET", path: confirm.path.replace("/confirm", ""), headers: {} });
      const { payment_id: payment } = JSON.parse(await send(gateway, confirm));
      await send(gateway, { method: "GET", path: `/v1/payments/${payment}` });
      return payment;
    },
    refund: (paymentId) => ({ method: "POST", path: `/v1/payments/${paymentId}/refunds`, body: '{"amount":1}' }),
    close: async () => {
      await gateway.close();
      await processor.close();
    },
  };
}

/** Runs the work `count` times, `width` at once. */
export async function inParallel(count: number, width: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let i = next++; i < count; i = next++) await work(i);
    }),
  );
}
