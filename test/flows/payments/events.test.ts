// Taking in a processor's event, by what the processor answers when it is asked about it: what is taken in, what waits
// and comes again, and what moves nothing; and what an intent that the processor does not know any more comes to. The
// processor is played by a connector that answers as the test says.
import assert from "node:assert/strict";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { newId } from "#platform/values/id.ts";
import type {
  IntentReport,
  ProcessorAccount,
  ProcessorAnswer,
  ProcessorEvent,
} from "../../../services/payments/connectors/connector.ts";
import type { Connectors } from "../../../services/payments/connectors/registry.ts";
import { applyProcessorEvent } from "../../../services/payments/flows/receive-processor-event.ts";
import { verifyIntent } from "../../../services/payments/flows/verify-intent.ts";
import type { IntentFact } from "../../../services/payments/rules/payment.ts";
import { findPayment } from "../../../services/payments/store/payments.ts";
import { isKnownEvent } from "../../../services/payments/store/processor/processor-events.ts";
import { fundsAbout } from "../../../services/payments/store/suspense.ts";
import { type MoneyServices, startMoneyServices } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { refused } from "../service-config.ts";
import { paymentsDeps } from "./deps.ts";

const test = suite("processors' events", { timeoutMs: 30_000 });
let services: MoneyServices;
let deps: Awaited<ReturnType<typeof paymentsDeps>>;
let account: ProcessorAccount;

test.before(async () => {
  services = await startMoneyServices();
  deps = await paymentsDeps(services, 3_600);
  const { id } = await newPayment();
  account = await deps.accounts.byId((await findPayment(deps.db, id))?.connectorAccountId ?? "");
});
test.after(async () => {
  await deps.stop();
  await services.stop();
});

async function newPayment() {
  const id = newId("payment");
  const owner = { merchantId: services.merchantId, environment: services.environment };
  const expiresAt = timestampFromDate(new Date(Date.now() + 3_600_000));
  const order = { amount: 1_000n, currency: "EUR", expiresAt, sessionId: `cs_${id.slice(4)}` };
  await services.payments.createIntent({ ...owner, ...order, paymentId: id });
  const ref = (await findPayment(deps.db, id))?.connectorRef ?? "";
  assert.notEqual(ref, "");
  return { id, ref };
}

const eventAt = new Date("2026-01-01T12:00:00Z");
const after = (seconds: number) => new Date(eventAt.getTime() + seconds * 1_000);
const missing = (at: Date): ProcessorAnswer<IntentReport> => ({ kind: "not_found", at, cause: undefined });

function report({ id, ref }: { id: string; ref: string }, facts: readonly IntentFact[]): ProcessorAnswer<IntentReport> {
  const value = { ref, reference: id, amount: 1_000n, currency: "EUR", facts, refunds: [], disputes: [] };
  return { kind: "succeeded", value };
}

const attempt = { ref: "at_1", startedAt: eventAt, card: undefined, verification: undefined };
const paid: IntentFact = {
  kind: "attempt_succeeded",
  attempt,
  capturedAmount: 1_000n,
  authorizedAt: eventAt,
  capturedAt: eventAt,
  authorizationCode: "",
  receiptUrl: "",
};

function event(intentRef: string, change: Partial<ProcessorEvent> = {}): ProcessorEvent {
  const id = `evt_${newId("event").slice(4)}`;
  return { id, type: "intent.updated", createdAt: eventAt, intentRef, objectRef: "", ...change } as ProcessorEvent;
}

/** Takes the event in while the processor answers so. @returns false: it was known. */
function takeIn(
  of: ProcessorEvent,
  answer: ProcessorAnswer<IntentReport>,
  by: ProcessorAccount = account,
): Promise<boolean> {
  const connectors = { get: () => ({ name: "simulator", retrieveIntent: async () => answer }) };
  return applyProcessorEvent({ ...deps, connectors: connectors as unknown as Connectors }, by, of);
}

const isKnown = ({ id }: ProcessorEvent) => isKnownEvent(deps.db, "simulator", id);
const outcomeOf = async ({ id }: { id: string }) => (await findPayment(deps.db, id as never))?.state.outcome;

test("an event waits until the processor's lists have what it is about", async () => {
  const payment = await newPayment();
  const notification = event(payment.ref, { objectRef: "at_1" });
  await assert.rejects(takeIn(notification, report(payment, [])), refused("CONNECTOR_ERROR"));
  assert.equal(await isKnown(notification), false);
  assert.equal(await takeIn(notification, report(payment, [paid])), true);
  assert.equal(await outcomeOf(payment), "succeeded");
});

test("an event of a refund that only let go of what was never captured does not wait for it among the refunds", async () => {
  const payment = await newPayment();
  const answer = report(payment, []);
  assert(answer.kind === "succeeded");
  const notification = event(payment.ref, { objectRef: "re_1" });
  await assert.rejects(takeIn(notification, answer), refused("CONNECTOR_ERROR"));
  assert.equal(await takeIn(notification, { ...answer, value: { ...answer.value, releases: ["re_1"] } }), true);
});

test("an event of an attempt that the intent may have forgotten has the processor look for it", async () => {
  const payment = await newPayment();
  const eventIds: unknown[] = [];
  const retrieveIntent = async (_account: unknown, _ref: unknown, eventId: unknown) => {
    eventIds.push(eventId);
    return report(payment, []);
  };
  const connectors = { get: () => ({ name: "simulator", retrieveIntent }) } as unknown as Connectors;
  for (const isForgettable of [true, false])
    await applyProcessorEvent({ ...deps, connectors }, account, event(payment.ref, { id: "evt_told", isForgettable }));
  assert.deepEqual(eventIds, ["evt_told", ""]);
});

test("an event of such an attempt waits while the processor's list is behind it, and not for ever", async () => {
  const payment = await newPayment();
  const notification = event(payment.ref, { isForgettable: true });
  const answer = report(payment, []);
  assert(answer.kind === "succeeded");
  const retrieveIntent = async () => ({ ...answer, value: { ...answer.value, isBehind: true } });
  let now: Date | undefined;
  const connector = { name: "simulator", retrieveIntent, processorTime: () => now };
  const connectors = { get: () => connector } as unknown as Connectors;
  for (now of [undefined, after(60)]) {
    await assert.rejects(
      applyProcessorEvent({ ...deps, connectors }, account, notification),
      refused("CONNECTOR_ERROR"),
    );
    assert.equal(await isKnown(notification), false);
  }
  now = after(3_600);
  assert.equal(await applyProcessorEvent({ ...deps, connectors }, account, notification), true);
});

test("an event about an intent that we wait for is not taken in without it, however old it is", async () => {
  const payment = await newPayment();
  const notification = event(payment.ref);
  await assert.rejects(takeIn(notification, missing(after(3_600))), refused("CONNECTOR_ERROR"));
  assert.equal(await isKnown(notification), false);
});

test("an event about a stranger's intent waits while a replica may be behind, and does not come again for ever", async () => {
  const notification = event("pi_of_a_stranger");
  await assert.rejects(takeIn(notification, missing(after(60))), refused("CONNECTOR_ERROR"));
  assert.equal(await isKnown(notification), false);
  assert.equal(await takeIn(notification, missing(after(3_600))), true);
  assert.equal(await isKnown(notification), true);
});

test("an account's event moves no payment of another account", async () => {
  const payment = await newPayment();
  const notification = event(payment.ref);
  assert.equal(await takeIn(notification, report(payment, [paid]), { ...account, id: "mco_other" }), true);
  assert.notEqual(await outcomeOf(payment), "succeeded");
});

test("an event that comes again changes nothing, whatever the processor says by then", async () => {
  const payment = await newPayment();
  const notification = event(payment.ref);
  assert.equal(await takeIn(notification, report(payment, [])), true);
  assert.equal(await takeIn(notification, report(payment, [paid])), false);
  assert.notEqual(await outcomeOf(payment), "succeeded");
});

/**
 * The processor does not know the payment's intent, at seconds of its own clock. @returns false: the question failed
 */
async function missedAt(seconds: number, id: string): Promise<boolean> {
  const connector = { name: "simulator", keyLifeSeconds, retrieveIntent: async () => missing(after(seconds)) };
  const connectors = { get: () => connector } as unknown as Connectors;
  return await verifyIntent({ ...deps, connectors }, id, "reconcile").then(
    () => true,
    (error: unknown) => {
      assert.ok(refused("CONNECTOR_ERROR")(error));
      return false;
    },
  );
}

const keyLifeSeconds = 1_000;
const isListed = async (ref: string) => (await fundsAbout(deps.db, "simulator", ref))[0]?.state === "open";

test("an intent that stays missing is listed for a person, and ends its payment when a key's life has gone by", async () => {
  const { id, ref } = await newPayment();
  for (const seconds of [0, 5]) assert.equal(await missedAt(seconds, id), false);
  assert.equal(await isListed(ref), false, "a replica may be behind");
  for (const seconds of [100, 900]) assert.equal(await missedAt(seconds, id), false);
  assert.deepEqual([await isListed(ref), await outcomeOf({ id })], [true, "pending"]);
  assert.equal(await missedAt(1_000, id), true);
  assert.deepEqual([await isListed(ref), await outcomeOf({ id })], [false, "canceled"]);
});

test("an intent that is not the one we asked for confirms nothing, and its question fails", async () => {
  const payment = await newPayment();
  const other = report(payment, [paid]);
  assert(other.kind === "succeeded");
  const retrieveIntent = async () => ({ ...other, value: { ...other.value, amount: 999n } });
  const connectors = { get: () => ({ name: "simulator", keyLifeSeconds, retrieveIntent }) } as unknown as Connectors;
  await assert.rejects(verifyIntent({ ...deps, connectors }, payment.id, "confirm"), refused("CONNECTOR_ERROR"));
  assert.equal(await outcomeOf(payment), "pending");
});

test("two misses that lie far apart end no payment before somebody was told", async () => {
  const { id, ref } = await newPayment();
  assert.equal(await missedAt(0, id), false);
  assert.equal(await missedAt(5_000, id), false);
  assert.deepEqual([await isListed(ref), await outcomeOf({ id })], [true, "pending"]);
  assert.equal(await missedAt(5_001, id), true);
  assert.equal(await outcomeOf({ id }), "canceled");
});

test.run();
