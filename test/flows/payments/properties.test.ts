// Properties of random histories of refunds and sent calls, on a real PostgreSQL with a scripted processor.
import assert from "node:assert/strict";
import fc from "fast-check";
import { type CallContext, callContext } from "#platform/values/call-context.ts";
import { newId } from "#platform/values/id.ts";
import type { RefundReport } from "../../../services/payments/connectors/connector.ts";
import { createPayment } from "../../../services/payments/flows/create-payment.ts";
import { capturePayment } from "../../../services/payments/flows/endings/capture-payment.ts";
import { refundPayment, reserveRefund } from "../../../services/payments/flows/refunds/refund-payment.ts";
import { resolveFunds } from "../../../services/payments/flows/unexpected-funds/resolve-funds.ts";
import { isCounted } from "../../../services/payments/rules/refund.ts";
import { findPayment } from "../../../services/payments/store/payments.ts";
import { fundsAbout } from "../../../services/payments/store/suspense.ts";
import { suite } from "../../harness/suite.ts";
import { authorizedFact, capturedFact, noAnswer, notSent, owner, playedPayments, reportOf } from "./played.ts";

const test = suite("payments properties", { timeoutMs: 120_000 });
// A fixed seed, so that a failure repeats.
const fixedRuns = { seed: 4_242, numRuns: 60 };
const played = playedPayments(test);

const declined = { kind: "declined", code: "refused", message: "no" } as const;
const nothing = () => ({ kind: "not_found", at: new Date(), cause: new Error("none") }) as const;

interface RefundOrder {
  readonly reference: string;
  readonly amount: bigint;
}

function refundOf(
  { reference, amount }: RefundOrder,
  status: RefundReport["status"] = "succeeded",
  createdAt = new Date(),
): RefundReport {
  const text = { reason: "", failureCode: "", failureMessage: "" };
  return { ...text, ref: newId("operation"), reference, amount, status, createdAt };
}

async function paid(amount = 1_000n): Promise<string> {
  const id = await played.payment();
  await played.settleReport(id, { facts: [capturedFact()] });
  if (amount !== 1_000n) await played.settleReport(id, { facts: [capturedFact(amount)] });
  return id;
}

const refundedOf = async (id: string) => (await findPayment(played.db, id))?.state.refundedAmount ?? 0n;

test("no refund exceeds its caller's limit, whatever earlier requests did", async () => {
  const amounts = { a: 100n, b: 300n, c: 500n };
  const step = fc.record({
    key: fc.constantFrom("a" as const, "b" as const, "c" as const),
    limit: fc.constantFrom(undefined, 200n, 400n, 700n),
    answer: fc.constantFrom("made" as const, "not sent" as const, "unknown" as const),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 8 }), async (steps) => {
      const paymentId = await paid();
      played.answers.findRefund = nothing;
      for (const { key, limit, answer } of steps) {
        played.answers.createRefund = (_account, order) => {
          if (answer === "made") return { kind: "succeeded", value: refundOf(order as RefundOrder) };
          return answer === "unknown" ? noAnswer : notSent;
        };
        const before = await refundedOf(paymentId);
        const scope = { ...owner, operation: "refund_payment", key: `${key} of ${paymentId}` };
        const idempotency = { ...scope, fingerprint: new Uint8Array(32).fill(1) };
        const wanted = { amount: amounts[key], refundedAtMost: limit, reason: "", idempotency };
        await refundPayment(played.deps, { ...owner, paymentId, ...wanted }).catch(() => {});
        const after = await refundedOf(paymentId);
        assert.ok(after <= 1_000n);
        if (after > before) assert.ok(limit === undefined || after <= limit, `${after} were refunded`);
      }
    }),
    fixedRuns,
  );
});

test("a run whose key was taken over continues with the refund that was reserved meanwhile", async () => {
  const paymentId = await paid(1_000n);
  const read = (await findPayment(played.db, paymentId)) ?? assert.fail();
  const wanted = { id: newId("refund"), amount: 300n, refundedAtMost: undefined, reason: "", image: undefined };
  assert.ok(await reserveRefund(played.deps, read, wanted, false));
  const reread = (await findPayment(played.db, paymentId)) ?? assert.fail();
  for (const known of [read, reread]) {
    assert.equal(await reserveRefund(played.deps, known, wanted, false), undefined);
    assert.equal(await refundedOf(paymentId), 300n);
  }
});

test("an operator's refund of an excess capture returns exactly the excess, whatever else is being refunded", async () => {
  const drawnRefund = fc.record({
    isItems: fc.boolean(),
    amount: fc.bigInt({ min: 1n, max: 200n }),
    status: fc.constantFrom("pending" as const, "succeeded" as const, "failed" as const),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(drawnRefund, { maxLength: 4 }), async (all) => {
      const paymentId = await paid(1_200n);
      const item = (await fundsAbout(played.db, "simulator", `pi_${paymentId}`))[0] ?? assert.fail();
      const refunds: RefundReport[] = [];
      const refundedForItem = () =>
        refunds
          .filter(({ reference, status }) => reference.startsWith(item.id) && isCounted(status))
          .reduce((sum, { amount }) => sum + amount, 0n);
      for (const [i, { isItems, amount, status }] of all.entries()) {
        if (isItems && refundedForItem() + amount > 200n && status !== "failed") continue;
        const reference = isItems ? item.id : i % 2 === 0 ? "" : newId("refund");
        refunds.push(refundOf({ reference, amount }, status));
      }
      const report = () => reportOf(paymentId, { facts: [capturedFact(1_200n)], refunds: [...refunds] });
      await played.settleReport(paymentId, report());
      played.answers.retrieveIntent = () => ({ kind: "succeeded", value: report() });
      played.answers.findRefund = nothing;
      played.answers.createRefund = (_account, order) => {
        const made = refundOf(order as RefundOrder);
        refunds.push(made);
        return { kind: "succeeded", value: made };
      };
      const decision = { action: "refund", operator: "ann", note: "" } as const;
      await resolveFunds(played.deps, { ...decision, suspenseId: item.id }).catch((error: Error) => {
        // When everything was refunded before, the row is closed.
        assert.match(String(error), /INVALID_BODY/);
      });
      assert.equal(refundedForItem(), 200n);
    }),
    fixedRuns,
  );
});

const sends = ["payIntent", "captureIntent", "createRefund"] as const;

/** Calls that send a money-moving request, each for a new object. */
const asking: Record<string, () => Promise<() => Promise<unknown>>> = {
  "a refund": async () => {
    const paymentId = await paid();
    const wanted = { ...owner, paymentId, amount: 300n, reason: "", idempotency: undefined };
    return () => refundPayment(played.deps, wanted);
  },
  "a capture": async () => {
    const paymentId = await played.payment({ captureMethod: "manual" });
    await played.settleReport(paymentId, { facts: [authorizedFact()] });
    const wanted = { ...owner, paymentId, amount: 300n, idempotency: undefined };
    return () => capturePayment(played.deps, wanted);
  },
  "a payment by token": async () => {
    const text = { description: "", orderReference: "", customerEmail: "", metadata: {}, paymentMethod: "pm_1" };
    const what = { id: newId("payment"), amount: 1_000n, currency: "EUR", captureMethod: "automatic" } as const;
    return () => createPayment(played.deps, { ...owner, ...what, ...text, resumeOnly: false });
  },
  "a refund of unexpected funds": async () => {
    const paymentId = await paid(1_200n);
    const report = reportOf(paymentId, { facts: [capturedFact(1_200n)] });
    played.answers.retrieveIntent = () => ({ kind: "succeeded", value: report });
    const item = (await fundsAbout(played.db, "simulator", report.ref))[0] ?? assert.fail();
    const decision = { suspenseId: item.id, action: "refund", operator: "ann", note: "" } as const;
    return () => resolveFunds(played.deps, decision);
  },
};

test("a call is marked as sent before it sends, and only then", async () => {
  const answers = { noAnswer, notSent, declined, broken: undefined };
  const names = Object.keys(answers) as (keyof typeof answers)[];
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(asking)),
      fc.constantFrom(...names),
      fc.boolean(),
      async (what, name, isUnavailable) => {
        played.answers = {};
        const ask = (await asking[what]?.()) ?? assert.fail();
        const call: CallContext = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: undefined };
        const begunFlags: unknown[] = [];
        for (const each of sends) {
          played.answers[each] = () => {
            begunFlags.push(callContext.getStore()?.begun);
            if (name === "broken") throw new Error("the process breaks");
            return answers[name];
          };
        }
        const byId = played.deps.accounts.byId;
        if (isUnavailable) played.deps.accounts.byId = () => Promise.reject(new Error("merchant is unavailable"));
        try {
          await callContext.run(call, ask).catch(() => {});
        } finally {
          played.deps.accounts.byId = byId;
        }
        assert.ok(
          begunFlags.every((begun) => begun === true),
          what,
        );
        assert.equal(call.begun === true, begunFlags.length > 0, `${what}: marked exactly when something was sent`);
      },
    ),
    fixedRuns,
  );
});

test.run();
