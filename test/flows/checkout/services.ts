// The checkout service with merchant, payments and the simulator, all real, for flow tests; with the buyer's actions
// and access to the database, where tests also move times.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Database } from "#platform/database/database.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { CheckoutService, type CreateSessionRequestSchema } from "#proto/checkout/v1/checkout_pb.ts";
import { PaymentLinkService } from "#proto/checkout/v1/links_pb.ts";
import { startCheckout } from "../../../services/checkout/service.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { payInFrame } from "../../harness/pay.ts";
import { type MoneyOptions, type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { copyOf } from "../../harness/servers/backup.ts";
import { type AnnouncedEvents, listenTo } from "../service-config.ts";

export interface CheckoutServices {
  readonly money: MoneyServices;
  readonly checkout: Client<typeof CheckoutService>;
  readonly links: Client<typeof PaymentLinkService>;
  readonly db: Database;
  /** The checkout service's own URL. */
  readonly databaseUrl: string;
  /** Of the owner of the tables. */
  readonly ownerUrl: string;
  /** RPC address of the checkout service. */
  readonly url: string;
  readonly announced: AnnouncedEvents;
  /** A session of the test's merchant. @param key idempotency key */
  create(change?: SessionOrder, key?: string): Promise<CreatedSession>;
  /** The session as the merchant reads it. */
  get(sessionId: string): Promise<{ status: string; paymentStatus: string }>;
  /** Moves the session's end into the past. @param sweep false: the job does not check it now */
  makeOverdue(sessionId: string, sweep?: boolean): Promise<void>;
  /** Stops checkout, copies its database and starts it again. @returns the service's URL of the copy */
  backup(): Promise<string>;
  /** Restarts checkout at the same address on this database. */
  restart(databaseUrl: string): Promise<void>;
  stop(): Promise<void>;
}

/** A request to create a session. */
export type SessionOrder = MessageInitShape<typeof CreateSessionRequestSchema>;

export interface CreatedSession {
  readonly id: string;
  readonly secret: string;
  readonly paymentId: string;
  readonly checkoutUrl: string;
  readonly replayed: boolean;
  /** Pays by the card form. @returns its result: `succeeded`, `failed`, `canceled` … */
  pay(card?: string): Promise<string>;
  confirm(): Promise<{ status: string; paymentStatus: string; paymentId: string }>;
}

/**
 * @param origin of the hosted page
 * @param reach maps payments' URL to the one that checkout uses
 */
export async function startCheckoutServices(
  origin?: string,
  reach: (paymentsUrl: string) => Promise<string> = async (url) => url,
  options: MoneyOptions = {},
): Promise<CheckoutServices> {
  const money = await startMoneyServices(options);
  const database = await freshDatabase("checkout");
  const config = {
    ...money.settings,
    DATABASE_URL: database.serviceUrl,
    PAYMENTS_URL: await reach(money.urls.payments),
    MERCHANT_URL: money.urls.merchant,
    CHECKOUT_ORIGIN: origin,
    BACKUP_DAYS: 30,
    // Tests call the job with their own days.
    RETENTION_UNPAID_SESSION_DAYS: 3_650,
    IDEMPOTENCY_LEASE_SECONDS: 90,
  };
  let service = await startCheckout(config);
  const url = `http://127.0.0.1:${service.port}`;
  const peer = connectPeer({ url, token: money.settings.RPC_TOKEN });
  const checkout = peer.client(CheckoutService);
  let db = await openDatabase(database.url);
  const announced = await listenTo(money.settings, "checkout");
  const { merchantId, environment } = money;
  return {
    money,
    checkout,
    links: peer.client(PaymentLinkService),
    get db() {
      return db;
    },
    databaseUrl: database.serviceUrl,
    ownerUrl: database.url,
    url,
    announced,
    create: async (change, key) => {
      const order: SessionOrder = { merchantId, environment, amount: 1_050n, currency: "EUR", ...change };
      if (key !== undefined) order.idempotency = { key, fingerprint: new Uint8Array(32) };
      return createdOf(checkout, await checkout.createSession(order));
    },
    get: async (sessionId) => {
      const { session } = await checkout.getSession({ merchantId, environment, sessionId });
      assert(session);
      return session;
    },
    makeOverdue: async (sessionId, sweep = true) => {
      await db.rows(
        `update sessions set created_at = now() - interval '1 day', expires_at = now() - interval '1 second',
           next_check_at = case when $2 then now() else next_check_at end where id = $1`,
        [sessionId, sweep],
      );
    },
    backup: async () => {
      const PORT = service.port;
      await service.stop();
      await db.close();
      const copy = await copyOf(database.serviceUrl);
      db = await openDatabase(database.url);
      service = await startCheckout({ ...config, PORT });
      return copy;
    },
    restart: async (databaseUrl) => {
      const PORT = service.port;
      await service.stop();
      service = await startCheckout({ ...config, PORT, DATABASE_URL: databaseUrl });
    },
    stop: async () => {
      await announced.stop();
      await db.close();
      peer.close();
      await service.stop();
      await money.stop();
    },
  };
}

function createdOf(
  checkout: Client<typeof CheckoutService>,
  made: Awaited<ReturnType<Client<typeof CheckoutService>["createSession"]>>,
): CreatedSession {
  const { session, sessionSecret: secret, render } = made;
  assert(session && render);
  const named = { sessionId: session.id, sessionSecret: secret };
  return {
    id: session.id,
    secret,
    paymentId: session.paymentId,
    checkoutUrl: made.checkoutUrl,
    replayed: made.replayed,
    pay: async (card) => {
      const answer = await payInFrame(render.frameUrl, card);
      return answer.text("status");
    },
    confirm: () => checkout.confirmSession(named),
  };
}

/** A unique idempotency key. */
export function freshKey(): string {
  return randomBytes(8).toString("hex");
}
