// What the counting and the list's indexes cost the writes of a payment: created and settled through the store's own
// functions, with all of it, then without.
import type pg from "pg";
import type { Database } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { insertPayments, recordIntents } from "../../services/payments/store/new-payments.ts";
import { lockPayment, savePayment } from "../../services/payments/store/payments.ts";
import { measure } from "./load.ts";

const connections = 8;
const seconds = 10;
const withoutLists = `
  drop trigger payments_counted on payments; drop trigger payments_moved on payments; drop trigger payments_uncounted on payments;
  drop trigger payments_email_counted on payments; drop trigger payments_email_shown on payments;
  drop index payments_by_amount; drop index payments_of_email; drop index payments_by_id;
  drop index payments_by_kind; drop index payments_by_capture; drop index payments_captured_early; drop index payments_by_reference`;

/** Prints the rates. All writes are of one merchant, the worst case for anything that counts. */
export async function writeCost(db: Database, client: pg.Client): Promise<void> {
  const rate = async () => (await measure({ connections, seconds, next: () => () => writePayment(db) })).perSecond;
  await rate();
  const counted = await rate();
  await client.query(withoutLists);
  const bare = await rate();
  const share = Math.round((100 * counted) / bare);
  console.log(
    `payments created and settled, ${connections} connections, one merchant: ${counted.toFixed(0)}/s, ` +
      `${bare.toFixed(0)}/s without counting and list indexes (${share} %)`,
  );
}

async function writePayment(db: Database): Promise<void> {
  const id = newId("payment");
  const payment = {
    id,
    merchantId: "mer_big",
    environment: Environment.SANDBOX,
    sessionId: `cs_${id.slice(4)}`,
    amount: 1_050n,
    currency: "EUR",
    description: "Order 1001",
    orderReference: "",
    customerEmail: `${id.slice(-8)}@example.com`,
    metadata: {},
    connector: "simulator",
    connectorAccountId: "mco_bench",
    surface: "embedded",
    captureMethod: "automatic" as const,
    expiresAt: new Date(Date.now() + 86_400_000),
  };
  const operation = { id: newId("operation"), sentAfter: undefined, sealedOrder: undefined, state: "started" } as const;
  await insertPayments(db, [{ payment, operation, operationSeconds: 3_600, checkSeconds: 3_600 }]);
  await recordIntents(db, [{ paymentId: id, connectorRef: `pi_${id}`, render: Buffer.alloc(300), renewals: 0 }]);
  await db.transaction(async (tx) => {
    const locked = await lockPayment(tx, id);
    if (!locked) throw new Error("no payment");
    const at = new Date();
    const card = { brand: "visa", last4: "4242", funding: "credit", fingerprint: "fp", expMonth: 12, expYear: 2034 };
    const paid = {
      outcome: "succeeded",
      capturedAmount: 1_050n,
      authorizedAt: at,
      capturedAt: at,
      visible: true,
      card,
    } as const;
    const state = { ...locked.payment.state, ...paid };
    await savePayment(tx, { id, connectorRef: `pi_${id}`, state, checkAfterSeconds: undefined }, []);
  });
}
