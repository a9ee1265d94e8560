// Processor events: which are applied, which wait and are delivered again, and which change nothing; and what becomes
// of an intent that the processor lost. A scripted connector answers for the processor.
import assert from "node:assert/strict";
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
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import { paymentsDeps } from "./deps.ts";

const test = suite("processors' events", { timeoutMs: 30_000 });

const services = fixture(test, () => startMoneyServices());
const deps = fixture(test, () => paymentsDeps(services, 3_600));
const account = fixture(test, async () => {
  const { id } = await newPayment();
  return await deps.accounts.byId((await findPayment(deps.db, id))?.connectorAccountId ?? "");
});

async function newPayment() {
  const money = merchantMoney(services, deps.db);
  const id = await money.created();
  return { id, ref: await money.refOf(id) };
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

/** Applies the event while the processor answers as given. @returns false: the event was known */
function applyEvent(
  of: ProcessorEvent,
  answer: ProcessorAnswer<IntentReport>,
  by: ProcessorAccount = account,
): Promise<boolean> {
  const connectors = { get: () => ({ name: "simulator", retrieveIntent: async () => answer }) };
  return applyProcessorEvent({ ...deps, connectors: connectors as unknown as Connectors }, by, of);
}

const isKnown = ({ id }: ProcessorEvent) => isKnownEvent(deps.db, "simulator", id);
const outcomeOf = async ({ id }: { id: string }) => (await findPayment(deps.db, id as never))?.state.outcome;

test("an event waits until the processor lists the object that it names", async () => {
  const payment = await newPayment();
  const notification = event(payment.ref, { objectRef: "at_1" });
  await assert.rejects(applyEvent(notification, report(payment, [])), isRefusal("CONNECTOR_ERROR"));
  assert.equal(await isKnown(notification), false);
  assert.equal(await applyEvent(notification, report(payment, [paid])), true);
  assert.equal(await outcomeOf(payment), "succeeded");
});

test("an event of a released authorization does not wait for a refund", async () => {
  const payment = await newPayment();
  const answer = report(payment, []);
  assert(answer.kind === "succeeded");
  const notification = event(payment.ref, { objectRef: "re_1" });
  await assert.rejects(applyEvent(notification, answer), isRefusal("CONNECTOR_ERROR"));
  assert.equal(await applyEvent(notification, { ...answer, value: { ...answer.value, releases: ["re_1"] } }), true);
});

test("for an attempt that the intent may no longer show, the processor is asked by the event's id", async () => {
  const payment = await newPayment();
  const eventIds: unknown[] = [];
  const retrieveIntent = async (_account: unknown, _ref: unknown, eventId: unknown) => {
    eventIds.push(eventId);
    return report(payment, []);
  };
  const connectors = { get: () => ({ name: "simulator", retrieveIntent }) } as unknown as Connectors;
  for (const isForgettable of [true, false])
    await applyProcessorEvent({ ...deps, connectors }, account, event(payment.ref, { id: "evt_1", isForgettable }));
  assert.deepEqual(eventIds, ["evt_1", ""]);
});

test("such an event waits while the processor's list is behind it, but not longer than an hour", async () => {
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
      isRefusal("CONNECTOR_ERROR"),
    );
    assert.equal(await isKnown(notification), false);
  }
  now = after(3_600);
  assert.equal(await applyProcessorEvent({ ...deps, connectors }, account, notification), true);
});

test("an event about an intent of ours is not applied while the processor cannot show the intent", async () => {
  const payment = await newPayment();
  const notification = event(payment.ref);
  await assert.rejects(applyEvent(notification, missing(after(3_600))), isRefusal("CONNECTOR_ERROR"));
  assert.equal(await isKnown(notification), false);
});

test("an event about an unknown intent waits while a replica may be behind, and is then dropped", async () => {
  const notification = event("pi_of_a_stranger");
  await assert.rejects(applyEvent(notification, missing(after(60))), isRefusal("CONNECTOR_ERROR"));
  assert.equal(await isKnown(notification), false);
  assert.equal(await applyEvent(notification, missing(after(3_600))), true);
  assert.equal(await isKnown(notification), true);
});

test("an event of one account changes no payment of another", async () => {
  const payment = await newPayment();
  const notification = event(payment.ref);
  assert.equal(await applyEvent(notification, report(payment, [paid]), { ...account, id: "mco_other" }), true);
  assert.notEqual(await outcomeOf(payment), "succeeded");
});

test("a repeated event changes nothing, whatever the processor answers then", async () => {
  const payment = await newPayment();
  const notification = event(payment.ref);
  assert.equal(await applyEvent(notification, report(payment, [])), true);
  assert.equal(await applyEvent(notification, report(payment, [paid])), false);
  assert.notEqual(await outcomeOf(payment), "succeeded");
});

/** The processor answers "not found" at these seconds of its clock. @returns false: the check failed */
async function missedAt(seconds: number, id: string): Promise<boolean> {
  const connector = { name: "simulator", keyLifeSeconds, retrieveIntent: async () => missing(after(seconds)) };
  const connectors = { get: () => connector } as unknown as Connectors;
  return await verifyIntent({ ...deps, connectors }, id, "reconcile").then(
    () => true,
    (error: unknown) => {
      assert.ok(isRefusal("CONNECTOR_ERROR")(error));
      return false;
    },
  );
}

const keyLifeSeconds = 1_000;
const isListed = async (ref: string) => (await fundsAbout(deps.db, "simulator", ref))[0]?.state === "open";

test("a missing intent is listed for operators, and its payment ends after a key's life", async () => {
  const { id, ref } = await newPayment();
  for (const seconds of [0, 5]) assert.equal(await missedAt(seconds, id), false);
  assert.equal(await isListed(ref), false, "a replica may be behind");
  for (const seconds of [100, 900]) assert.equal(await missedAt(seconds, id), false);
  assert.deepEqual([await isListed(ref), await outcomeOf({ id })], [true, "pending"]);
  assert.equal(await missedAt(1_000, id), true);
  assert.deepEqual([await isListed(ref), await outcomeOf({ id })], [false, "canceled"]);
});

test("two misses far apart end no payment before it was listed for operators", async () => {
  const { id, ref } = await newPayment();
  assert.equal(await missedAt(0, id), false);
  assert.equal(await missedAt(5_000, id), false);
  assert.deepEqual([await isListed(ref), await outcomeOf({ id })], [true, "pending"]);
  assert.equal(await missedAt(5_001, id), true);
  assert.equal(await outcomeOf({ id }), "canceled");
});

test.run();
