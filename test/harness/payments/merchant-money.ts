// Payments of the services' merchant at the simulator: how tests create and pay them, and read what came of them.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Database } from "#platform/database/database.ts";
import { newId } from "#platform/values/id.ts";
import type { MoneyServices } from "./money-services.ts";

/** Fields of the request that creates a payment's intent. */
interface IntentChange {
  readonly amount?: bigint;
  readonly currency?: string;
  readonly captureMethod?: string;
  readonly orderReference?: string;
}

/** @param db the payments database, which the test closes */
export function merchantMoney(services: MoneyServices, db: Database) {
  const owner = { merchantId: services.merchantId, environment: services.environment };
  const money = {
    owner,
    /** The request that creates a session's intent of 10.00 EUR. */
    order(change: IntentChange = {}) {
      const paymentId = newId("payment");
      const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
      const sessionId = `cs_${paymentId.slice(4)}`;
      return { ...owner, paymentId, sessionId, amount: 1_000n, currency: "EUR", expiresAt, ...change };
    },
    /** @returns the id of a payment with an unpaid intent */
    async created(change: IntentChange = {}): Promise<string> {
      const request = money.order(change);
      await services.payments.createIntent(request);
      return request.paymentId;
    },
    /** The processor's id of the payment's intent. */
    async refOf(paymentId: string): Promise<string> {
      const [row] = await db.rows<{ ref: string | null }>(`select connector_ref as ref from payments where id = $1`, [
        paymentId,
      ]);
      return row?.ref ?? assert.fail("no intent");
    },
    /** As the buyer does at the processor; payments is not notified. */
    async pay(paymentId: string, card = "4242424242424242"): Promise<void> {
      await services.processor("POST", `/test/intents/${await money.refOf(paymentId)}/pay`, { card });
    },
    /** @returns the id of a payment that was paid and confirmed */
    async paid(change: IntentChange = {}, card?: string): Promise<string> {
      const paymentId = await money.created(change);
      await money.pay(paymentId, card);
      await services.payments.verifyIntent({ paymentId });
      return paymentId;
    },
    /** The payment as its merchant reads it. */
    async record(paymentId: string) {
      const { payment } = await services.payments.getPayment({ ...owner, paymentId });
      return payment ?? assert.fail("no payment");
    },
    /** Switches a fault on; by default it happens once. */
    async fault(target: string, kind: string, settings: object = {}): Promise<void> {
      await services.processor("PUT", "/test/faults", { target, kind, count: 1, ...settings });
    },
    /** A list that the processor's API answers. */
    async atProcessor(path: string) {
      const { body } = await services.processor("GET", path);
      return (body as { data: { id: string; kind: string }[] }).data;
    },
    /** Movements of the payment in the journal, oldest first: `captured 1000`. */
    async movements(paymentId: string): Promise<string[]> {
      const rows = await db.rows<{ line: string }>(
        `select kind || ' ' || amount as line from journal where payment_id = $1 order by id`,
        [paymentId],
      );
      return rows.map(({ line }) => line);
    },
    /** Balances of the payment's accounts; a debit balance is positive, zero balances are left out. */
    async balances(paymentId: string): Promise<Record<string, number>> {
      const rows = await db.rows<{ account: string; amount: string }>(
        `select account, sum(amount) as amount from (
           select debit as account, amount from journal where payment_id = $1
           union all select credit, -amount from journal where payment_id = $1) lines
         group by account having sum(amount) <> 0 order by account`,
        [paymentId],
      );
      return Object.fromEntries(rows.map((row) => [row.account, Number(row.amount)]));
    },
    /** Types of the events about the object, oldest first: `payment.succeeded`. */
    async announced(objectId: string): Promise<string[]> {
      const rows = await db.rows<{ subject: string }>(
        `select subject from outbox where position($1::bytea in body) > 0 order by seq`,
        [Buffer.from(objectId)],
      );
      return rows.map(({ subject }) => subject.split(".payments.")[1] ?? subject);
    },
  };
  return money;
}
