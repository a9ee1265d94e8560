// Makes one object at a processor exactly once, however often it is tried. Every try sends under the same key, so the processor
// does the work once; since processors forget keys (after a day as a rule), every try but the first asks by our reference before
// it sends. Only a key under which a fault was stored is replaced, and only after the processor proved that it has nothing.
import { crashPoint } from "#platform/crash-point.ts";
import type { Database } from "#platform/database.ts";
import {
  type Account,
  type Answer,
  type Connector,
  type CreatedIntent,
  type IntentOrder,
  type IntentReport,
  isTold,
  type PaymentOrder,
  type RefundOrder,
  type RefundReport,
} from "../connectors/connector.ts";
import { type Operation, processorKey, recordDoubt } from "../store/operations.ts";

/** The intent of an operation. */
export async function makeIntent(
  db: Database,
  connector: Connector,
  account: Account,
  order: IntentOrder,
  operation: Operation,
): Promise<Answer<CreatedIntent>> {
  return await makeOnce(db, operation, {
    find: () => connector.findIntent(account, order),
    send: (key) => connector.createIntent(account, order, key),
  });
}

/** The payment of an operation: an intent that is paid at once. */
export async function makePayment(
  db: Database,
  connector: Connector,
  account: Account,
  order: PaymentOrder,
  operation: Operation,
): Promise<Answer<IntentReport>> {
  return await makeOnce(db, operation, {
    find: async () =>
      reportOf(await connector.findIntent(account, { reference: order.reference, surface: account.surface })),
    send: (key) => connector.payIntent(account, order, key),
  });
}

function reportOf(found: Answer<CreatedIntent>): Answer<IntentReport> {
  return isTold(found) ? { ...found, value: found.value.report } : found;
}

/** The refund of an operation. */
export async function makeRefund(
  db: Database,
  connector: Connector,
  account: Account,
  order: RefundOrder,
  operation: Operation,
): Promise<Answer<RefundReport>> {
  return await makeOnce(db, operation, {
    find: () => connector.findRefund(account, order),
    send: (key) => connector.createRefund(account, order, key),
  });
}

interface Calls<T> {
  readonly find: () => Promise<Answer<T>>;
  readonly send: (key: string) => Promise<Answer<T>>;
}

async function makeOnce<T>(db: Database, operation: Operation, calls: Calls<T>): Promise<Answer<T>> {
  const sent = await calls.send(processorKey(operation));
  if (sent.kind === "not_sent" && operation.tried) return { kind: "unknown", cause: sent.cause };
  if (sent.kind !== "unknown") return sent;
  await recordDoubt(db, operation.id, false, String(sent.cause));
  crashPoint("make-at-processor.1-in-doubt");
  const found = await calls.find();
  return isTold(found) ? found : sent;
}
