// The lower bound of the work: the flows' own statements, run by the bare driver with named statements and fsync on, in
// separate databases on the stack's server, without HTTP, RPC, NATS or the processor.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { type GroupedSql, openTx, type Tx } from "#platform/database/database.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { migrateDatabase } from "../../deploy/cli/setup/migrate-database.ts";
import { insertSessions, type NewSession } from "../../services/checkout/store/new-sessions.ts";
import { changeSessions, findSession } from "../../services/checkout/store/sessions.ts";
import type { IntentReport, RefundReport } from "../../services/payments/connectors/connector.ts";
import { settlePayment, settleRefund } from "../../services/payments/flows/settle-payment.ts";
import { insertPayments, recordIntents } from "../../services/payments/store/new-payments.ts";
import { firstTry } from "../../services/payments/store/operations.ts";
import { findPayment, lockPayment, type StoredPayment } from "../../services/payments/store/payments.ts";
import { insertReservations } from "../../services/payments/store/refunds/refund-reservations.ts";
import type { StoredRefund } from "../../services/payments/store/refunds/refunds.ts";
import { type LoadResult, measureLoad } from "./load.ts";
import { analyzeAll } from "./statistics.ts";

const sealed = randomBytes(300);
const owner = { merchantId: "mer_bench", environment: Environment.SANDBOX };

/**
 * Rates of the writes behind create, confirm and refund, each measured after as many seconds of the same as the flows
 * get.
 */
export async function bareSql(
  stem: string,
  connections: number,
  seconds: number,
  warmSeconds: number,
): Promise<{ create: LoadResult; confirm: LoadResult; refund: LoadResult }> {
  const admin = new pg.Client({ connectionString: stem });
  await admin.connect();
  const bases = await Promise.all(
    (["payments", "checkout"] as const).map((service) => database(admin, stem, service, connections)),
  );
  const [payments, checkout] = bases as [Base, Base];
  const warm = async (next: () => (() => Promise<unknown>) | undefined) => {
    await measureLoad({ connections, seconds: warmSeconds, next });
    await analyzeAll(stem);
    return await measureLoad({ connections, seconds, next });
  };
  const made: string[] = [];
  const create = await warm(() => async () => void made.push(await createWrites(payments, checkout)));
  const paid: string[] = [];
  const confirm = await warm(() => {
    const id = made.pop();
    return id === undefined
      ? undefined
      : async () => {
          await confirmWrites(payments, checkout, id);
          paid.push(id);
        };
  });
  let turn = 0;
  const refund = await warm(() => () => refundWrites(payments, paid[turn++ % paid.length] ?? ""));
  for (const base of bases) {
    await base.pool.end();
    await admin.query(`drop database ${base.name} with (force)`);
  }
  await admin.end();
  return { create, confirm, refund };
}

interface Base extends GroupedSql {
  readonly name: string;
  readonly pool: pg.Pool;
  readonly transaction: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;
}

async function database(
  admin: pg.Client,
  stem: string,
  service: "payments" | "checkout",
  connections: number,
): Promise<Base> {
  const name = `bench_${service}_${randomBytes(4).toString("hex")}`;
  await admin.query(`create database ${name}`);
  const url = new URL(stem);
  url.pathname = `/${name}`;
  await migrateDatabase({ databaseUrl: url.href, service });
  const pool = new pg.Pool({ connectionString: url.href, max: connections });
  // A connection that the drop of the database cuts while it closes.
  pool.on("error", () => {});
  const names = new Map<string, string>();
  const on = (client: pg.Pool | pg.PoolClient): GroupedSql => {
    return openTx(async <Row>(text: string, params: readonly unknown[] = []) => {
      const statement = names.get(text) ?? `b${names.size}`;
      names.set(text, statement);
      return (await client.query({ name: statement, text, values: [...params] })).rows as Row[];
    });
  };
  return {
    name,
    pool,
    ...on(pool),
    transaction: async (work) => {
      const client = await pool.connect();
      try {
        await client.query("begin");
        // The statements under test never use the entity manager.
        const result = await work(on(client) as Tx);
        await client.query("commit");
        return result;
      } finally {
        client.release();
      }
    },
  };
}

const paymentsOutbox = new Outbox({ namespace: "bench", source: "payments" });
const settleDeps = { outbox: paymentsOutbox, reconcileAfterSeconds: 30 };
const checkoutOutbox = new Outbox({ namespace: "bench", source: "checkout" });

async function createWrites(payments: Base, checkout: Base): Promise<string> {
  const id = newId("payment");
  const session = newSession(id);
  const { description, customerEmail, metadata, amount, currency, connector, surface, expiresAt } = session;
  const payment = {
    ...owner,
    id,
    sessionId: session.id,
    connectorAccountId: "mco_bench",
    description,
    orderReference: "",
    customerEmail,
    metadata,
  };
  await insertPayments(payments, [
    {
      payment: { ...payment, amount, currency, connector, surface, captureMethod: "automatic", expiresAt },
      operation: firstTry(newId("operation"), "create_intent", payment.id, undefined),
      operationSeconds: 3_600,
      checkSeconds: 3_600,
    },
  ]);
  await recordIntents(payments, [{ paymentId: id, connectorRef: `pi_${id}`, render: sealed, renewals: 0 }]);
  await insertSessions(checkout, [
    {
      session,
      secretHash: { keyId: "", hash: randomBytes(32) },
      render: sealed,
      events: checkoutOutbox.toRows([event("session.created", session.id)]),
      results: [],
    },
  ]);
  return id;
}

async function confirmWrites(payments: Base, checkout: Base, id: string): Promise<void> {
  const session = await findSession(checkout, newSession(id).id);
  if (!session) throw new Error("no session");
  await payments.transaction((tx) => settlePayment(tx, settleDeps, id, paidReport(id), "confirm"));
  const state = { ...session.state, status: "completed", paymentStatus: "succeeded" } as const;
  const events = checkoutOutbox.toRows([event("session.completed", session.id)]);
  await checkout.batched(changeSessions, { session, state, events });
}

async function refundWrites(payments: Base, id: string): Promise<void> {
  const refundId = newId("refund");
  const operation = firstTry(newId("operation"), "create_refund", id, undefined, { refundId });
  const reserveFrom = async (sql: GroupedSql, payment: StoredPayment | undefined) => {
    if (!payment) throw new Error("no payment");
    const refund: StoredRefund = {
      id: refundId,
      paymentId: id,
      ...owner,
      currency: "EUR",
      amount: 1n,
      status: "pending",
      connector: "simulator",
      connectorRef: "",
      reason: "",
      failureCode: "",
      failureMessage: "",
      acknowledged: false,
      unasked: false,
      createdAt: new Date(),
    };
    const events = paymentsOutbox.toRows([event("refund.requested", refundId)]);
    return await sql.batched(insertReservations, {
      version: payment.version,
      refund,
      operation,
      tryAfterSeconds: 3_600,
      events,
    });
  };
  const isReserved = await reserveFrom(payments, await findPayment(payments, id));
  if (!isReserved) await payments.transaction(async (tx) => reserveFrom(tx, (await lockPayment(tx, id))?.payment));
  const report: RefundReport = {
    ref: `rf_${refundId}`,
    reference: refundId,
    amount: 1n,
    status: "succeeded",
    reason: "",
    failureCode: "",
    failureMessage: "",
    createdAt: new Date(),
  };
  await payments.transaction((tx) => settleRefund(tx, settleDeps, id, report));
}

function newSession(paymentId: string): NewSession {
  return {
    ...owner,
    id: `cs_${paymentId.slice(4)}`,
    amount: 1_050n,
    currency: "EUR",
    description: "Order 1001",
    orderReference: "",
    customerEmail: "ada@example.com",
    metadata: {},
    connector: "simulator",
    surface: "embedded",
    captureMethod: "automatic",
    successUrl: "",
    cancelUrl: "",
    locale: "",
    paymentLinkId: "",
    lineItems: [],
    createdAt: new Date(),
    expiresAt: new Date(Date.now() + 86_400_000),
  };
}

function paidReport(id: string): IntentReport {
  const at = new Date();
  const card = { brand: "visa", last4: "4242", funding: "credit", fingerprint: "fp", expMonth: 12, expYear: 2034 };
  const attempt = { ref: `at_${id}`, startedAt: at, card, verification: undefined };
  return {
    ref: `pi_${id}`,
    reference: id,
    amount: 1_050n,
    currency: "EUR",
    facts: [
      {
        kind: "attempt_succeeded",
        attempt,
        capturedAmount: 1_050n,
        authorizedAt: at,
        capturedAt: at,
        authorizationCode: "A1",
        receiptUrl: "https://receipt.example",
      },
    ],
    refunds: [],
    disputes: [],
  };
}

function event(type: string, objectId: string) {
  return { type, ...owner, objectId, status: "open", at: new Date() };
}
