// Captures and cancellations with unknown outcomes, on a real PostgreSQL with a scripted processor: what is sent again,
// refused, or left to the job.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { cancelPayment } from "../../../services/payments/flows/endings/cancel-payment.ts";
import { capturePayment } from "../../../services/payments/flows/endings/capture-payment.ts";
import { settlePayment } from "../../../services/payments/flows/settle-payment.ts";
import { driveOperations } from "../../../services/payments/jobs/reconcile.ts";
import { claimChecks } from "../../../services/payments/store/payment-checks.ts";
import { findPayment } from "../../../services/payments/store/payments.ts";
import { openRenewal } from "../../../services/payments/store/renewals.ts";
import { Random } from "../../chaos/random.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal } from "../service-config.ts";
import {
  authorizedFact,
  capturedFact,
  keyLifeSeconds,
  noAnswer,
  notSent,
  owner,
  playedPayments,
  reportOf,
} from "./played.ts";

const test = suite("captures in doubt", { timeoutMs: 20_000 });
const played = playedPayments(test);

const began = new Date("2026-01-01T12:00:00Z");
const declined = (code: string) => ({ kind: "declined", code, message: "no" }) as const;

async function held(): Promise<string> {
  const paymentId = await played.payment({ captureMethod: "manual" });
  await played.settleReport(paymentId, { facts: [authorizedFact()] });
  return paymentId;
}

/** The processor shows the intent with these facts. */
const shows = (paymentId: string, ...facts: ReturnType<typeof authorizedFact>[]) => ({
  kind: "succeeded",
  value: reportOf(paymentId, { facts }),
});
const canceled = { kind: "intent_canceled", at: began } as const;

function scope(operation: string, key: string) {
  return { ...owner, operation, key, fingerprint: new Uint8Array(32).fill(1) };
}

function capture(paymentId: string, amount: bigint | undefined, key = newId("operation") as string) {
  const idempotency = scope("capture_payment", key);
  return capturePayment(played.deps, { ...owner, paymentId, amount, idempotency });
}

function cancel(paymentId: string) {
  return cancelPayment(played.deps, { ...owner, paymentId, idempotency: undefined });
}

async function stateOf(paymentId: string) {
  const payment = (await findPayment(played.db, paymentId)) ?? assert.fail("no payment");
  const operations = await played.db.rows<{ id: string; what: string }>(
    `select id, kind || ' ' || state as what from operations where payment_id = $1 and kind in ('capture', 'cancel')`,
    [paymentId],
  );
  const ends = operations.map(({ what }) => what).join(", ");
  return { ...payment.state, ends, operationId: operations[0]?.id ?? "" };
}

/** Runs the job on its open operations now. */
async function driven(paymentId: string): Promise<void> {
  const due = "update operations set next_try_at = now() where payment_id = $1 and kind in ('capture', 'cancel')";
  await played.db.rows(due, [paymentId]);
  await driveOperations(played.deps);
}

test("a capture that was not sent is an error, and the same request sends it under a new processor key", async () => {
  const paymentId = await held();
  const sent: unknown[] = [];
  played.answers.captureIntent = (_account, _order, key) => {
    sent.push(key);
    return notSent;
  };
  await assert.rejects(capture(paymentId, 400n, "k1"), isRefusal("CONNECTOR_ERROR"));
  assert.equal((await stateOf(paymentId)).ends, "capture done");
  played.answers = {
    retrieveIntent: () => shows(paymentId, authorizedFact()),
    captureIntent: (_account, _order, key) => {
      sent.push(key);
      return shows(paymentId, capturedFact(400n));
    },
  };
  played.time = began;
  const answer = await capture(paymentId, 400n, "k1");
  assert.deepEqual([answer.payment?.capturedAmount, new Set(sent).size], [400n, 2]);
});

test("a capture without an answer returns the payment as it is, and is sent again under its key only after a lookup", async () => {
  const paymentId = await held();
  const sent: unknown[] = [];
  played.answers = {
    captureIntent: (_account, _order, key) => {
      sent.push(key);
      return noAnswer;
    },
    retrieveIntent: () => shows(paymentId, authorizedFact()),
  };
  played.time = began;
  const answer = await capture(paymentId, 400n);
  assert.deepEqual([answer.payment?.status, answer.payment?.capturedAmount], ["succeeded", 0n]);
  assert.deepEqual(played.calls, ["captureIntent", "retrieveIntent"]);
  await driven(paymentId);
  assert.deepEqual(played.calls.slice(2), ["retrieveIntent", "captureIntent", "retrieveIntent"]);
  assert.equal(new Set(sent).size, 1, "one key");
  played.answers.retrieveIntent = () => shows(paymentId, capturedFact(400n));
  played.calls.length = 0;
  await driven(paymentId);
  assert.deepEqual(played.calls, ["retrieveIntent"], "found, and not sent");
  const { capturedAmount, ends } = await stateOf(paymentId);
  assert.deepEqual([capturedAmount, ends], [400n, "capture done"]);
});

test("a key that failed twice is replaced, since the processor may repeat its stored fault", async () => {
  // Late: the first key worked after all. The second is declined, and the intent shows the capture.
  for (const isLate of [false, true]) {
    const paymentId = await held();
    const sent: unknown[] = [];
    const settled = shows(paymentId, capturedFact(400n));
    played.answers = {
      captureIntent: (_account, _order, key) => {
        sent.push(key);
        if (key === sent[0]) return noAnswer;
        if (!isLate) return settled;
        played.answers.retrieveIntent = () => settled;
        return declined("not_capturable");
      },
      retrieveIntent: () => shows(paymentId, authorizedFact()),
    };
    played.time = began;
    await capture(paymentId, 400n);
    await driven(paymentId);
    assert.equal(new Set(sent).size, 1, "the same key goes again first");
    await assert.rejects(cancel(paymentId), isRefusal("NOT_CANCELABLE"));
    await driven(paymentId);
    assert.deepEqual([sent.length, new Set(sent).size], [3, 2]);
    const { capturedAmount, ends } = await stateOf(paymentId);
    assert.deepEqual([capturedAmount, ends], [400n, "capture done"]);
  }
});

test("new capture keys are used for half of a key's life, and then absence is proved", async () => {
  const paymentId = await held();
  const sent: unknown[] = [];
  played.answers = {
    captureIntent: (_account, _order, key) => {
      sent.push(key);
      return noAnswer;
    },
    retrieveIntent: () => shows(paymentId, authorizedFact()),
  };
  played.time = began;
  await capture(paymentId, 400n);
  for (let i = 0; i < 4; i++) await driven(paymentId);
  assert.deepEqual([sent.length, new Set(sent).size], [5, 4]);
  await played.db.rows("update operations set key_since = now() - interval '1 day' where payment_id = $1", [paymentId]);
  await driven(paymentId);
  assert.equal(sent.length, 5, "nothing more is sent");
  played.time = new Date(began.getTime() + keyLifeSeconds * 1_000);
  await driven(paymentId);
  assert.equal((await stateOf(paymentId)).ends, "capture done");
});

test("an unsent try does not end a capture that another run has tried meanwhile", async () => {
  const paymentId = await held();
  played.answers.captureIntent = async () => {
    await played.db.rows("update operations set tries = 1 where payment_id = $1 and kind = 'capture'", [paymentId]);
    return notSent;
  };
  assert.equal((await capture(paymentId, 400n)).payment?.capturedAmount, 0n);
  assert.equal((await stateOf(paymentId)).ends, "capture started");
});

test("an unsent try does not end a capture that another request has joined", async () => {
  const paymentId = await held();
  played.answers.captureIntent = async () => {
    assert.equal((await capture(paymentId, 400n)).payment?.capturedAmount, 0n);
    return notSent;
  };
  assert.equal((await capture(paymentId, 400n)).payment?.capturedAmount, 0n);
  assert.equal((await stateOf(paymentId)).ends, "capture started");
});

test("a rarely checked authorization is checked right after its time", async () => {
  const paymentId = await held();
  const old = `update payments set checks = 9, next_check_at = now(), capture_before = now() + interval '1 hour' where id = $1`;
  await played.db.rows(old, [paymentId]);
  assert.ok((await claimChecks(played.db, [60, 86_400], 600, 100)).includes(paymentId));
  const [row] = await played.db.rows<{ after: string }>(
    `select extract(epoch from next_check_at - capture_before)::text as after from payments where id = $1`,
    [paymentId],
  );
  assert.equal(Number(row?.after), 60);
});

test("a declined capture is answered by the intent: captured as requested, otherwise captured, canceled, or too large", async () => {
  const cases = [
    [[capturedFact(400n)], "not_capturable", undefined],
    [[capturedFact(250n)], "not_capturable", "NOT_CAPTURABLE"],
    [[authorizedFact(), canceled], "not_capturable", "NOT_CAPTURABLE"],
    [[authorizedFact()], "amount_too_large", "AMOUNT_TOO_LARGE"],
    [[authorizedFact()], "refused", "NOT_CAPTURABLE"],
  ] as const;
  for (const [facts, code, reason] of cases) {
    const paymentId = await held();
    const report = { kind: "succeeded", value: reportOf(paymentId, { facts }) };
    played.answers = { captureIntent: () => declined(code), retrieveIntent: () => report };
    if (reason === undefined) assert.equal((await capture(paymentId, 400n)).payment?.capturedAmount, 400n);
    else await assert.rejects(capture(paymentId, 400n), isRefusal(reason));
    assert.equal((await stateOf(paymentId)).ends, "capture done", code);
  }
});

test("a declined capture whose intent cannot be read is left to the job", async () => {
  const paymentId = await held();
  played.answers.captureIntent = () => declined("not_capturable");
  assert.equal((await capture(paymentId, 400n)).payment?.capturedAmount, 0n);
  assert.equal((await stateOf(paymentId)).ends, "capture started");
});

test("every captured amount that was not requested is an alert, and no other is", async () => {
  const random = new Random(4_711);
  for (let round = 0; round < 25; round++) {
    const paymentId = await held();
    const requested = random.chance(0.6) ? BigInt(random.int(1, 1_000)) : undefined;
    if (requested !== undefined) await capture(paymentId, requested);
    const amounts = Array.from(
      { length: random.int(1, 4) },
      () => (random.chance(0.4) && requested) || random.int(1, 1_000),
    );
    let [capturedSoFar, log] = [0n, `requested ${requested}`];
    for (const amount of amounts.map(BigInt).toSorted((a, b) => Number(a - b))) {
      const report = reportOf(paymentId, { facts: [capturedFact(amount)] });
      const settled = await played.db.transaction((tx) =>
        settlePayment(tx, played.deps, paymentId, report, "processor"),
      );
      const isOther = capturedSoFar === 0n ? requested !== undefined && amount !== requested : amount > capturedSoFar;
      log += `, then ${amount}`;
      assert.equal(settled.isOtherCapture === true, isOther, log);
      capturedSoFar = amount;
    }
  }
});

test("an amount that the processor never accepts is refused before anything is written or sent", async () => {
  for (const amount of [undefined, 1n, 400n, 1_000n]) {
    const paymentId = await held();
    const before = await stateOf(paymentId);
    played.refusal = "must be whole hundreds";
    await assert.rejects(capture(paymentId, amount), isRefusal("INVALID_BODY"));
    played.refusal = undefined;
    assert.deepEqual(await stateOf(paymentId), { ...before, ends: "", operationId: "" });
    assert.deepEqual(played.calls, []);
    played.answers.captureIntent = () => shows(paymentId, capturedFact(amount ?? 1_000n));
    assert.equal((await capture(paymentId, amount)).payment?.capturedAmount, amount ?? 1_000n);
    played.calls.length = 0;
  }
});

test("a cancellation is repeated until the processor confirms it", async () => {
  const paymentId = await held();
  assert.equal((await cancel(paymentId)).payment?.status, "succeeded");
  await driven(paymentId);
  assert.deepEqual(
    [played.calls, (await stateOf(paymentId)).ends],
    [["cancelIntent", "cancelIntent"], "cancel started"],
  );
  played.answers.cancelIntent = () => ({
    kind: "succeeded",
    value: reportOf(paymentId, { facts: [authorizedFact(), canceled] }),
  });
  await driven(paymentId);
  const { outcome, ends } = await stateOf(paymentId);
  assert.deepEqual([outcome, ends], ["canceled", "cancel done"]);
});

test("an unsent cancellation and a declined one are different errors", async () => {
  const paymentId = await held();
  played.answers.cancelIntent = () => notSent;
  await assert.rejects(cancel(paymentId), isRefusal("CONNECTOR_ERROR"));
  played.answers = {
    cancelIntent: () => declined("not_cancelable"),
    retrieveIntent: () => shows(paymentId, capturedFact()),
  };
  await assert.rejects(cancel(paymentId), isRefusal("NOT_CANCELABLE"));
  const { outcome, capturedAmount, ends } = await stateOf(paymentId);
  assert.deepEqual([outcome, capturedAmount, ends], ["succeeded", 1_000n, "cancel done"]);
});

test("a declined cancellation succeeds when the intent is canceled already", async () => {
  const paymentId = await held();
  played.answers = {
    cancelIntent: () => declined("not_cancelable"),
    retrieveIntent: () => shows(paymentId, authorizedFact(), canceled),
  };
  assert.equal((await cancel(paymentId)).payment?.status, "canceled");
});

test("a cancellation waits for an unproven page renewal, and cancels the intent that it finds", async () => {
  const paymentId = await played.payment({ captureMethod: "manual" });
  await played.settleReport(paymentId, {});
  await played.db.rows("update payments set visible = true where id = $1", [paymentId]);
  const begun = { id: newId("operation"), paymentId, renewal: 1, sentAfter: undefined };
  await played.db.transaction((tx) => openRenewal(tx, begun, 60));
  assert.equal((await cancel(paymentId)).payment?.status, "pending");
  assert.deepEqual(played.calls, ["findIntent"], "nothing is canceled while another may come");
  const renewed = { ...reportOf(paymentId, {}), ref: "pi_renewed" };
  played.answers = {
    findIntent: () => ({ kind: "succeeded", value: { report: renewed, mount: {} } }),
    cancelIntent: (_account, ref) => ({ kind: "succeeded", value: { ...renewed, ref, pageEndedAt: began } }),
  };
  await driven(paymentId);
  const { outcome, ends } = await stateOf(paymentId);
  assert.deepEqual([outcome, ends], ["canceled", "cancel done"]);
});

test.run();
