// The contract of the connector port: what flows rely on, proved for each connector against what plays its processor. A
// new connector gives a rig, and adds tests of its own for what only its processor has.
import assert from "node:assert/strict";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import type {
  Connector,
  CreatedIntent,
  EventPage,
  IntentReport,
  ProcessorAccount,
  ProcessorAnswer,
  ProcessorEvent,
  StatementPage,
  StatementPeriod,
} from "../../services/payments/connectors/connector.ts";
import type { IntentOrder, RefundOrder } from "../../services/payments/connectors/order.ts";
import { failureCodeOf } from "../../services/payments/rules/failure-code.ts";
import type { StatementLine } from "../../services/payments/rules/statement.ts";
import { suite } from "../harness/suite.ts";
import { type BalanceActions, balanceContract } from "./balance-contract.ts";
import { disputeContract } from "./dispute-contract.ts";

/** Fault of the next request that changes something. `silent`: it is done, and no answer arrives within the limit. */
export type Trouble = "fault" | "silent";

/** A processor in the hands of a test. */
export interface ConnectorRig {
  readonly connector: Connector;
  readonly account: ProcessorAccount;
  /** The same connector with an address where no server listens. */
  readonly unreachable: Connector;
  /** A credential that the processor checks, with a value of the right form that it rejects. */
  readonly wrongCredential: { readonly name: string; readonly value: string };
  /** Of the card that pays. */
  readonly last4: string;
  /** The signature covers the whole body and its time, or chosen fields; then a password proves the rest. */
  readonly signs: "bytes" | "fields";
  /** Files of evidence are uploaded before it, or sent in it. */
  readonly filesGo: "before" | "with evidence";
  /** The processor decides what it has accepted, and reports it. Absent: it decides at once. */
  settle?(): Promise<void>;
  /** The buyer pays the intent, or is declined. */
  pay(intent: CreatedIntent, outcome: "paid" | "declined"): Promise<void>;
  /** The buyer pays by another method; a delayed one stays in progress until `decide`. Absent: only cards. */
  payBy?(intent: CreatedIntent, type: string): Promise<void>;
  /** The bank pays a delayed method, or returns its debit. */
  decide?(ref: string, outcome: "paid" | "returned"): Promise<void>;
  /** Tokens of cards that the processor keeps. */
  tokens(): Promise<{ readonly good: string; readonly declined: string; readonly unknown: string }>;
  /** The buyer's bank disputes a paid intent. @returns the dispute's id there */
  dispute(ref: string, status: "needs_response" | "warning_needs_response"): Promise<string>;
  /** The processor's actions with the account's money. Absent: the connector has no balance. */
  readonly money?: BalanceActions;
  /** The kind of pages that the processor cannot end, and how to let their time pass. Absent: it can end all. */
  readonly endless?: { readonly kind: string; pass(): Promise<void> };
  /** Expires an authorization without a capture. */
  lapse(authorized: IntentReport): Promise<void>;
  /** The next creation of an intent or a refund, capture or submission of evidence goes wrong. */
  failNext(what: "intent" | "refund" | "capture" | "evidence", trouble: Trouble): Promise<void>;
  /** A signed event about the intent, as the processor would send it; `at` in seconds since 1970. */
  event(intent: CreatedIntent, at: number): Promise<{ body: Uint8Array; headers: Record<string, string> }>;
  stop(): Promise<void>;
}

/** Registers the suite. */
export function connectorContract(name: string, start: () => Promise<ConnectorRig>): void {
  const test = suite(`${name}: the connector contract`, { timeoutMs: 20_000 });
  let rig: ConnectorRig;
  test.before(async () => {
    rig = await start();
  });
  test.after(() => rig.stop());

  const order = (members: Partial<IntentOrder> = {}): IntentOrder => ({
    reference: newId("payment"),
    amount: 1_050n,
    currency: "EUR",
    description: "Order 7",
    returnUrl: "https://shop.example/return",
    surface: rig.connector.surfaces[0],
    captureMethod: "automatic",
    lineItems: [],
    ...members,
  });
  /** Numbers of ends reported for the intent and for its page, and other facts. */
  const endsOf = (report: IntentReport) => {
    const others = factKinds(report).filter((kind) => kind !== "intent_canceled");
    const canceled = factKinds(report).length - others.length;
    return [canceled + (report.pageEndedAt === undefined ? 0 : 1), others];
  };
  const refundOf = (report: IntentReport, amount: bigint): RefundOrder => ({
    intentRef: report.ref,
    reference: newId("refund"),
    amount,
    currency: report.currency,
    reason: "requested_by_customer",
  });
  const key = () => newId("operation");
  const created = async (members: Partial<IntentOrder> = {}) =>
    valueIn(await rig.connector.createIntent(rig.account, order(members), key()));
  const retrieved = async ({ report }: CreatedIntent) =>
    valueIn(await rig.connector.retrieveIntent(rig.account, report.ref));
  const paid = async (members: Partial<IntentOrder> = {}) => {
    const made = await created(members);
    await rig.pay(made, "paid");
    return retrieved(made);
  };

  /** The answer to a command, asked for again once the processor has decided. */
  const decided = async <T>(command: () => Promise<ProcessorAnswer<T>>): Promise<ProcessorAnswer<T>> => {
    const answer = await command();
    if (answer.kind !== "pending" || !rig.settle) return answer;
    await rig.settle();
    return await command();
  };
  const capture = ({ ref, currency }: IntentReport, amount: bigint, same: string = key()) =>
    decided(() => rig.connector.captureIntent(rig.account, { intentRef: ref, amount, currency }, same));
  const makeRefund = (wanted: RefundOrder, same: string = key()) =>
    decided(() => rig.connector.createRefund(rig.account, wanted, same));
  const cancel = (ref: string, authorized: "keep" | "release") =>
    decided(() => rig.connector.cancelIntent(rig.account, ref, authorized));
  /** The answer about an unknown object: a processor without lists cannot prove its absence. */
  const unknownKind = () => (rig.connector.replaysAnswers ? "unknown" : "not_found");

  /** Lets the time of a page pass that its processor cannot end. */
  const outlasted = async (made: CreatedIntent) => {
    if (rig.endless?.kind !== made.mount.kind) return;
    const early = await cancel(made.report.ref, "release");
    assert.equal(early.kind === "declined" && early.code, "not_cancelable");
    assert.deepEqual(endsOf(await retrieved(made)), [0, []]);
    await rig.endless.pass();
  };

  const paidNothing = async () => rig.pay(await created(), "declined");

  test("one key makes one intent, which has our reference and no facts", async () => {
    const [wanted, same] = [order(), key()];
    const first = valueIn(await rig.connector.createIntent(rig.account, wanted, same));
    const again = valueIn(await rig.connector.createIntent(rig.account, wanted, same));
    assert.equal(again.report.ref, first.report.ref);
    const { reference, amount, currency, facts, refunds, disputes } = first.report;
    assert.deepEqual([reference, amount, currency], [wanted.reference, 1_050n, "EUR"]);
    assert.deepEqual([facts, refunds, disputes], [[], [], []]);
  });

  test("each surface has what the browser needs for it", async () => {
    for (const surface of rig.connector.surfaces) {
      const { mount } = await created({ surface });
      if (mount.kind === "element") assert.ok(mount.scriptUrl && mount.publishableKey && mount.clientSecret);
      if (mount.kind === "frame") assert.ok(mount.frameUrl);
      assert.equal(mount.kind === "redirect", surface === "redirect");
      if (mount.kind === "redirect") assert.match(mount.redirectUrl, /^https?:/);
    }
  });

  test("an intent is found by our reference with what its browser needs, and nothing under an unknown one is proof", async () => {
    for (const surface of rig.connector.surfaces) {
      const made = await created({ surface });
      const found = valueIn(await rig.connector.findIntent(rig.account, { reference: made.report.reference, surface }));
      // A processor without lists repeats a secret only under its key.
      const { clientSecret } = rig.connector.replaysAnswers ? found.mount : made.mount;
      assert.deepEqual([found.report.ref, found.mount], [made.report.ref, { ...made.mount, clientSecret }]);
      const nothing = await rig.connector.findIntent(rig.account, { reference: newId("payment"), surface });
      assert.ok(nothing.kind === "not_found" && nothing.at, "with the processor's own time");
    }
  });

  test("a declined attempt and the paid one after it are reported in order, in the contract's terms", async () => {
    const made = await created();
    await rig.pay(made, "declined");
    assert.deepEqual(factKinds(await retrieved(made)), ["attempt_failed"]);
    await rig.pay(made, "paid");
    const report = await retrieved(made);
    assert.deepEqual(factKinds(report), ["attempt_failed", "attempt_succeeded"]);
    const [failed, succeeded] = report.facts;
    assert.ok(failed?.kind === "attempt_failed");
    assert.notEqual(failureCodeOf(rig.connector.failureNames, failed.code), "unknown", failed.code);
    assert.ok(succeeded?.kind === "attempt_succeeded");
    assert.notEqual(failed.attempt.ref, succeeded.attempt.ref);
    assert.deepEqual([succeeded.capturedAmount, succeeded.attempt.card?.last4], [1_050n, rig.last4]);
    const checks = succeeded.attempt.verification;
    assert.ok(checks);
    for (const check of [checks.avsLine1, checks.avsZip, checks.cvcCheck]) {
      assert.match(check, /^(pass|fail|unavailable|unchecked)$/);
    }
    assert.match(checks.riskLevel, /^(normal|elevated|highest|not_assessed)$/);
    assert.deepEqual(await retrieved(made), report, "asking again changes nothing");
  });

  test("each method has its terms once, cards first, and an intent offers the ordered ones on every surface", async () => {
    const { methods, surfaces, capturesLater } = rig.connector;
    assert.deepEqual([methods[0]?.type, new Set(methods.map(({ type }) => type)).size], ["card", methods.length]);
    assert.equal(methods[0]?.manualCapture, capturesLater);
    const fits = methods.filter(({ currencies }) => currencies.length === 0 || currencies.includes("EUR"));
    for (const surface of surfaces) await created({ surface, methods: fits.map(({ type }) => type) });
  });

  test("an unpaid intent is canceled however often it is asked for, a paid one is not cancelable", async () => {
    for (const surface of rig.connector.surfaces) {
      const made = await created({ surface });
      await outlasted(made);
      assert.deepEqual(endsOf(valueIn(await cancel(made.report.ref, "release"))), [1, []]);
      const again = await cancel(made.report.ref, "release");
      if (again.kind === "declined") assert.equal(again.code, "not_cancelable");
      else assert.deepEqual(endsOf(valueIn(again)), [1, []]);
      assert.deepEqual(endsOf(await retrieved(made)), [1, []]);
    }
    const answer = await cancel((await paid()).ref, "release");
    assert.equal(answer.kind === "declined" && answer.code, "not_cancelable");
  });

  const authorized = async (members: Partial<IntentOrder> = {}) => {
    const made = await created({ captureMethod: "manual", ...members });
    await rig.pay(made, "paid");
    return retrieved(made);
  };

  test("an intent with later capture is authorized with its capture window, and is captured once", async () => {
    const { connector } = rig;
    if (!connector.capturesLater) return;
    for (const surface of connector.surfaces) {
      const held = await authorized({ surface });
      assert.deepEqual([factKinds(held), held.captureMethod], [["attempt_succeeded"], "manual"]);
      const [fact] = held.facts;
      assert.ok(fact?.kind === "attempt_succeeded");
      assert.deepEqual([fact.capturedAmount, fact.capturedAt], [0n, undefined]);
      assert.ok(fact.captureBefore && fact.captureBefore > fact.authorizedAt);
      const same = key();
      const first = valueIn(await capture(held, 1_050n, same));
      const again = valueIn(await capture(held, 1_050n, same));
      assert.deepEqual(
        [capturedOf(first), capturedOf(again), factKinds(first)],
        [1_050n, 1_050n, ["attempt_succeeded"]],
      );
      const twice = await capture(held, 1_050n);
      assert.equal(twice.kind === "declined" && twice.code, "not_capturable", surface);
      const late = await cancel(held.ref, "release");
      assert.equal(late.kind === "declined" && late.code, "not_cancelable", surface);
    }
    const unpaid = await capture((await created()).report, 1n);
    assert.equal(unpaid.kind === "declined" && unpaid.code, "not_capturable");
  });

  test("a part is captured and the rest released, which is no refund; no more than is authorized, and no more is refunded than captured", async () => {
    const { connector, account } = rig;
    if (!connector.capturesLater) return;
    for (const surface of connector.surfaces) {
      const held = await authorized({ surface });
      const tooMuch = await capture(held, 1_051n);
      assert.equal(tooMuch.kind === "declined" && tooMuch.code, "amount_too_large");
      const none = await makeRefund(refundOf(held, 1n));
      assert.equal(none.kind === "declined" && none.code, "not_refundable");
      const partial = valueIn(await capture(held, 400n));
      assert.deepEqual([capturedOf(partial), partial.amount, partial.refunds], [400n, 1_050n, []]);
      const more = await makeRefund(refundOf(held, 401n));
      assert.equal(more.kind === "declined" && more.code, "amount_too_large");
      valueIn(await makeRefund(refundOf(held, 400n)));
      const { refunds } = valueIn(await connector.retrieveIntent(account, held.ref));
      assert.deepEqual(
        refunds.map(({ amount }) => amount),
        [400n],
      );
    }
  });

  test("an authorization is given up when that is wanted, and kept when only what is unpaid is to be canceled", async () => {
    const { connector } = rig;
    if (!connector.capturesLater) return;
    for (const surface of connector.surfaces) {
      const held = await authorized({ surface });
      const kept = await cancel(held.ref, "keep");
      assert.equal(kept.kind === "declined" && kept.code, "not_cancelable", surface);
      const nowhere = await cancel(`${held.ref}0`, "keep");
      assert.equal(nowhere.kind, "declined", surface);
      const released = valueIn(await cancel(held.ref, "release"));
      assert.deepEqual([factKinds(released), capturedOf(released)], [["attempt_succeeded", "intent_canceled"], 0n]);
      const end = released.facts.at(-1);
      assert.ok(end?.kind === "intent_canceled" && !end.isExpired);
      const late = await capture(held, 1n);
      assert.equal(late.kind === "declined" && late.code, "not_capturable", surface);
      const unpaid = await created({ surface, captureMethod: "manual" });
      await outlasted(unpaid);
      assert.deepEqual(endsOf(valueIn(await cancel(unpaid.report.ref, "keep"))), [1, []]);
    }
  });

  test("an authorization without a capture expires and reports the reason", async () => {
    if (!rig.connector.capturesLater) return;
    for (const surface of rig.connector.surfaces) {
      const held = await authorized({ surface });
      await rig.lapse(held);
      const lapsed = valueIn(await rig.connector.retrieveIntent(rig.account, held.ref));
      assert.deepEqual([factKinds(lapsed), lapsed.refunds], [["attempt_succeeded", "intent_canceled"], []]);
      const end = lapsed.facts.at(-1);
      assert.ok(end?.kind === "intent_canceled" && end.isExpired, surface);
    }
  });

  test("the statement has what was captured, of the time when it was, and nothing of what is only authorized", async () => {
    const { connector } = rig;
    if (!connector.readStatement || !connector.capturesLater) return;
    const [held, charged, released] = [await authorized(), await authorized(), await authorized()];
    valueIn(await capture(charged, 300n));
    valueIn(await cancel(released.ref, "release"));
    const hour = 3_600_000;
    const moved = await statementOf(rig, { from: new Date(Date.now() - hour), to: new Date(Date.now() + hour) });
    const ours = moved.filter(({ intentRef }) => [held, charged, released].some(({ ref }) => ref === intentRef));
    assert.deepEqual(
      ours.map(({ object, ref, amount }) => [object, ref, amount]),
      [["payment", charged.ref, 300n]],
    );
  });

  test("a payment by token can be authorized alone", async () => {
    if (!rig.connector.capturesLater) return;
    const { surface: _surface, returnUrl: _returnUrl, ...wanted } = order({ captureMethod: "manual" });
    const paymentMethod = (await rig.tokens()).good;
    const held = valueIn(await rig.connector.payIntent(rig.account, { ...wanted, paymentMethod }, key()));
    assert.deepEqual([factKinds(held), capturedOf(held)], [["attempt_succeeded"], 0n]);
  });

  test("a capture without an answer is unknown, and a read of the intent has its outcome", async () => {
    if (!rig.connector.capturesLater) return;
    const held = await authorized();
    await rig.failNext("capture", "silent");
    const lost = await capture(held, 400n);
    assert.ok(lost.kind === "unknown", lost.kind);
    await rig.settle?.();
    assert.equal(capturedOf(valueIn(await rig.connector.retrieveIntent(rig.account, held.ref))), 400n);
    const other = await authorized();
    const order = { intentRef: other.ref, amount: 1n, currency: other.currency };
    assert.equal((await rig.unreachable.captureIntent(rig.account, order, key())).kind, "not_sent");
  });

  test("one key makes one refund, within what was paid, and it is found by our reference", async () => {
    const report = await paid();
    const [partial, same] = [refundOf(report, 400n), key()];
    const first = valueIn(await makeRefund(partial, same));
    const again = valueIn(await makeRefund(partial, same));
    assert.deepEqual([again.ref, first.amount, first.reference], [first.ref, 400n, partial.reference]);
    assert.equal(valueIn(await rig.connector.findRefund(rig.account, partial)).ref, first.ref);
    assert.equal((await rig.connector.findRefund(rig.account, refundOf(report, 1n))).kind, unknownKind());
    const tooMuch = await makeRefund(refundOf(report, 651n));
    assert.equal(tooMuch.kind === "declined" && tooMuch.code, "amount_too_large");
    valueIn(await makeRefund(refundOf(report, 650n)));
    const nothingLeft = await makeRefund(refundOf(report, 1n));
    assert.equal(nothingLeft.kind === "declined" && nothingLeft.code, "not_refundable");
    const after = valueIn(await rig.connector.retrieveIntent(rig.account, report.ref));
    assert.deepEqual(after.refunds.map(({ amount }) => amount).toSorted(), [400n, 650n]);
  });

  test("a payment by token is paid at once; a decline is a fact, an unknown token a refusal", async () => {
    const tokens = await rig.tokens();
    const { surface: _surface, returnUrl: _returnUrl, ...wanted } = order();
    const pay = (paymentMethod: string, reference = newId("payment") as string) =>
      rig.connector.payIntent(rig.account, { ...wanted, reference, paymentMethod }, key());
    assert.deepEqual(factKinds(valueIn(await pay(tokens.good, wanted.reference))), ["attempt_succeeded"]);
    for (const surface of rig.connector.surfaces) {
      const found = valueIn(await rig.connector.findIntent(rig.account, { reference: wanted.reference, surface }));
      assert.deepEqual(
        factKinds(found.report),
        ["attempt_succeeded"],
        `found, whatever surface buyers get: ${surface}`,
      );
    }
    assert.equal(valueIn(await pay(tokens.declined)).facts[0]?.kind, "attempt_failed");
    const unknown = await pay(tokens.unknown);
    assert.equal(unknown.kind === "declined" && unknown.code, "unknown_payment_method");
  });

  test("a fault is unknown, as what got no answer is; both are found by our reference and made once under their key", async () => {
    const wanted = order();
    await rig.failNext("intent", "fault");
    const fault = await rig.connector.createIntent(rig.account, wanted, key());
    assert.ok(fault.kind === "unknown", fault.kind);
    await rig.failNext("intent", "silent");
    const same = key();
    const lost = await rig.connector.createIntent(rig.account, wanted, same);
    assert.ok(lost.kind === "unknown", lost.kind);
    const made = valueIn(await rig.connector.createIntent(rig.account, wanted, same));
    const found = await rig.connector.findIntent(rig.account, { reference: wanted.reference, surface: wanted.surface });
    assert.equal(valueIn(found).report.ref, made.report.ref);
    const refund = refundOf(await paid(), 100n);
    const keyOfRefund = key();
    await rig.failNext("refund", "silent");
    const inDoubt = await makeRefund(refund, keyOfRefund);
    assert.ok(inDoubt.kind === "unknown", inDoubt.kind);
    await rig.settle?.();
    assert.equal(valueIn(await rig.connector.findRefund(rig.account, refund)).amount, 100n);
    const { ref } = valueIn(await makeRefund(refund, keyOfRefund));
    const { refunds } = valueIn(await rig.connector.retrieveIntent(rig.account, refund.intentRef));
    assert.deepEqual(
      refunds.map((each) => each.ref),
      [ref],
      "sent again under its key, it is made once",
    );
  });

  disputeContract(test, () => rig, paid);

  balanceContract(test, () => rig, paid);

  test("what could not be sent, and what was refused before any work, did not happen", async () => {
    assert.equal((await rig.unreachable.createIntent(rig.account, order(), key())).kind, "not_sent");
    assert.equal((await rig.unreachable.retrieveIntent(rig.account, "pi_1")).kind, "unknown");
    assert.equal(
      (
        await rig.unreachable.findIntent(rig.account, {
          reference: newId("payment"),
          surface: rig.connector.surfaces[0],
        })
      ).kind,
      "unknown",
    );
    const { name, value } = rig.wrongCredential;
    const stranger = { ...rig.account, credentials: { ...rig.account.credentials, [name]: value } };
    assert.equal((await rig.connector.createIntent(stranger, order(), key())).kind, "not_sent");
    assert.equal((await rig.connector.retrieveIntent(rig.account, "pi_unknown")).kind, unknownKind());
  });

  test("the statement has what was captured and refunded under our ids on every surface, page by page, and of its period only", async () => {
    const { connector } = rig;
    if (!connector.readStatement) return;
    const began = Date.now();
    const payments: IntentReport[] = [];
    for (const surface of connector.surfaces) payments.push(await paid({ surface }));
    const [payment] = payments;
    if (!payment) throw new Error("no surface");
    await paidNothing();
    const refund = valueIn(await makeRefund(refundOf(payment, 50n)));
    const lines = (from: number, to: number) => statementOf(rig, { from: new Date(from), to: new Date(to) });
    const hour = 3_600_000;
    const moved = await lines(began - hour, began + hour);
    const line = { currency: "EUR", status: "" };
    for (const { ref } of payments) {
      const [found, ...others] = moved.filter((each) => each.ref === ref);
      assert.deepEqual(found, { ...line, object: "payment", ref, intentRef: ref, amount: 1_050n });
      assert.deepEqual(others, [], "one line for an object");
    }
    assert.deepEqual(
      moved.filter((each) => each.ref === refund.ref),
      [{ ...line, object: "refund", ref: refund.ref, intentRef: payment.ref, amount: 50n, status: refund.status }],
    );
    assert.equal(moved.filter((each) => each.amount === 0n).length, 0);
    assert.deepEqual(await lines(began - 3 * hour, began - 2 * hour), []);
  });

  test("a payment by another method names it, has no card, and a delayed one is in progress, paid and perhaps returned", async () => {
    const { payBy, decide } = rig;
    if (!payBy || !decide)
      return assert.deepEqual(
        rig.connector.methods.map(({ type }) => type),
        ["card"],
      );
    const lastOf = async (made: CreatedIntent) => {
      const fact = (await retrieved(made)).facts.at(-1);
      assert.ok(fact && fact.kind !== "intent_canceled");
      return fact;
    };
    for (const type of ["ideal", "sepa_debit"]) {
      const terms = rig.connector.methods.find((each) => each.type === type);
      const made = await created({ methods: ["card", type] });
      await payBy(made, type);
      const begun = await lastOf(made);
      assert.equal(begun.kind, terms?.delayed ? "processing_started" : "attempt_succeeded");
      assert.deepEqual([begun.attempt.method?.type, begun.attempt.card], [type, undefined]);
      assert.match(begun.attempt.method?.bank?.last4 ?? "", /^\w{4}$/);
      if (!terms?.delayed) continue;
      await decide(made.report.ref, "paid");
      const paidFact = await lastOf(made);
      assert.deepEqual([paidFact.kind, paidFact.attempt.ref], ["attempt_succeeded", begun.attempt.ref]);
      await decide(made.report.ref, "returned");
      const returned = await lastOf(made);
      assert.deepEqual([returned.kind, returned.attempt.ref], ["attempt_failed", begun.attempt.ref]);
      assert.deepEqual(returned.attempt.method, begun.attempt.method);
    }
  });

  test("the processor's own time is known after its first answer, and not before", async () => {
    await rig.unreachable.retrieveIntent(rig.account, "pi_1");
    assert.equal(rig.unreachable.processorTime(), undefined);
    await created();
    assert.ok(rig.connector.processorTime());
    assert.ok(rig.connector.keyLifeSeconds > 0);
  });

  test("the event list has payments without a webhook, from the given time on", async () => {
    const { connector, account } = rig;
    if (!connector.readEvents) return;
    await created();
    const now = connector.processorTime();
    assert.ok(now);
    const payment = await paid();
    const day = 86_400_000;
    const events = await eventsOf(rig, new Date(now.getTime() - day));
    assert.ok(events.some(({ report, intentRef }) => (report?.ref ?? intentRef) === payment.ref));
    assert.equal(new Set(events.map(({ id }) => id)).size, events.length, "each once");
    assert.deepEqual(await eventsOf(rig, new Date(now.getTime() + day)), []);
    const newest = await connector.readEvents(account, undefined, "");
    assert.ok(valueIn(newest).events.some(({ report, intentRef }) => (report?.ref ?? intentRef) === payment.ref));
  });

  test("what a listed event is about, its intent shows: a refund, a dispute, an attempt, or what was let go", async () => {
    const { connector, account } = rig;
    if (!connector.readEvents) return;
    if (connector.capturesLater) {
      const [partial, released, lapsed] = [await authorized(), await authorized(), await authorized()];
      valueIn(await capture(partial, 400n));
      valueIn(await makeRefund(refundOf(partial, 100n)));
      valueIn(await cancel(released.ref, "release"));
      await rig.lapse(lapsed);
    }
    const day = 86_400_000;
    const hints = await eventsOf(rig, new Date(Date.now() - day));
    for (const { id, type, intentRef, objectRef = "", isForgettable } of hints) {
      if (intentRef === "") continue;
      const answer = await connector.retrieveIntent(account, intentRef, isForgettable ? id : "");
      const report = valueIn(answer);
      assert.equal(report.isBehind, undefined, type);
      const attempts = report.facts.flatMap((fact) => ("attempt" in fact ? fact.attempt : []));
      const parts = [...report.refunds, ...report.disputes, ...attempts].map(({ ref }) => ref);
      assert.ok(["", ...parts, ...(report.releases ?? [])].includes(objectRef), `${type} of ${objectRef}: ${parts}`);
    }
  });

  test("a webhook is read only with a signature over its bytes and its time, or over its fields and with a password", async () => {
    const made = await created();
    const now = Math.floor(Date.now() / 1_000);
    const { body, headers } = await rig.event(made, now);
    const read = (bytes: Uint8Array, sent = headers) => rig.connector.readWebhook(rig.account, bytes, sent);
    const [event, ...others] = await read(body);
    assert.deepEqual([event?.report?.ref ?? event?.intentRef, others], [made.report.ref, []]);
    const isUnauthorized = (error: unknown) => error instanceof Failure && error.reason === "UNAUTHORIZED";
    const refused = async (bytes: Uint8Array, sent = headers) =>
      await assert.rejects(read(bytes, sent), isUnauthorized);
    await refused(body, {});
    if (rig.signs === "fields") {
      const changed = Buffer.from(Buffer.from(body).toString().replaceAll("1050", "1051"));
      return await refused(changed);
    }
    await refused(Buffer.concat([body, Buffer.from(" ")]));
    const old = await rig.event(made, now - 301);
    await refused(old.body, old.headers);
  });

  test("credentials are judged by their form, and then by the processor", async () => {
    const { environment, credentials } = rig.account;
    assert.deepEqual(rig.connector.judgeCredentials(environment, credentials), []);
    const names = rig.connector.judgeCredentials(environment, { colour: "red" }).map((problem) => problem.name);
    assert.ok(names.includes(rig.wrongCredential.name) && names.includes("colour"), String(names));
    const account = valueIn(await rig.connector.readAccount(environment, credentials));
    assert.deepEqual([account.externalAccountId, account.canCharge], [rig.account.externalAccountId, true]);
    const { name, value } = rig.wrongCredential;
    const wrong = await rig.connector.readAccount(environment, { ...credentials, [name]: value });
    assert.equal(wrong.kind, "declined");
    if (wrong.kind === "declined") assert.equal(wrong.credential?.name ?? "secret_key", name);
  });

  test.run();
}

/** The value of an answer that brings one; fails with the answer otherwise. */
export function valueIn<T>(answer: ProcessorAnswer<T>): T {
  if (answer.kind === "succeeded" || answer.kind === "pending") return answer.value;
  throw new Error(`${answer.kind}: ${answer.kind === "declined" ? answer.message : String(answer.cause)}`);
}

export function factKinds(report: IntentReport): string[] {
  return report.facts.map((fact) => fact.kind);
}

/** The captured amount, minor units. */
export function capturedOf({ facts }: IntentReport): bigint {
  return facts.reduce((sum, fact) => sum + (fact.kind === "attempt_succeeded" ? fact.capturedAmount : 0n), 0n);
}

/** All pages of the event list since a moment. */
async function eventsOf({ connector, account }: Pick<ConnectorRig, "connector" | "account">, since: Date) {
  const events: ProcessorEvent[] = [];
  let after = "";
  do {
    const answer: ProcessorAnswer<EventPage> | undefined = await connector.readEvents?.(account, since, after);
    if (!answer) throw new Error("no event list");
    const page = valueIn(answer);
    events.push(...page.events);
    after = page.next;
  } while (after !== "");
  return events;
}

/** All pages of a period. */
export async function statementOf(
  { connector, account }: Pick<ConnectorRig, "connector" | "account">,
  period: StatementPeriod,
): Promise<StatementLine[]> {
  const lines: StatementLine[] = [];
  let after = "";
  do {
    const answer: ProcessorAnswer<StatementPage> | undefined = await connector.readStatement?.(account, period, after);
    if (!answer) throw new Error("no statement");
    const page = valueIn(answer);
    lines.push(...page.lines);
    after = page.next;
  } while (after !== "");
  return lines;
}
