// The exact bytes that merchants receive for internal events.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { eventTypes } from "./event-types.ts";
import { type AnnouncedFact, testEventBody, translateFact } from "./public-event.ts";
import { signatureHeader, signingKeys } from "./signature.ts";

const test = suite("public event");
const characters = "01jd3v9q6k8m2n4p6r8t0v2x4z";
const [payment, refund, session] = [`pay_${characters}`, `re_${characters}`, `cs_${characters}`];
const [dispute, report] = [`dp_${characters}`, `rpt_${characters}`];

function bodyOf(fact: AnnouncedFact): string {
  const translation = translateFact(fact);
  assert.equal(translation.kind, "event");
  return translation.kind === "event" ? `${translation.paymentId || "-"} ${translation.body}` : "";
}

test("docs/contract.md §9: a payment's, refund's, dispute's, session's or report's event contains its id and status, in this order", () => {
  const refunded = {
    objectId: payment,
    status: "refunded",
    attributes: { refund_id: refund, refund_status: "failed" },
  };
  assert.equal(
    bodyOf({ ...refunded, type: "payment.refunded" }),
    `${payment} {"type":"payment.refunded","payment_id":"${payment}","status":"refunded"}`,
  );
  assert.equal(
    bodyOf({ ...refunded, type: "payment.refund_failed" }),
    `${payment} {"type":"refund.failed","refund_id":"${refund}","payment_id":"${payment}","status":"failed"}`,
  );
  const lost = { dispute_id: dispute, dispute_status: "lost" };
  assert.equal(
    bodyOf({ type: "dispute.lost", objectId: payment, status: "disputed", attributes: lost }),
    `${payment} {"type":"dispute.lost","dispute_id":"${dispute}","payment_id":"${payment}","status":"lost"}`,
  );
  const ready = { type: "report.ready", objectId: report, status: "ready", attributes: {} };
  const paidOut = { type: "payout.paid", objectId: `po_${characters}`, status: "paid", attributes: {} };
  assert.equal(bodyOf(paidOut), `- {"type":"payout.paid","payout_id":"po_${characters}","status":"paid"}`);
  assert.equal(bodyOf(ready), `- {"type":"report.ready","report_id":"${report}","status":"ready"}`);
  const paid = { payment_id: payment };
  assert.equal(
    bodyOf({ type: "session.completed", objectId: session, status: "completed", attributes: paid }),
    `${payment} {"type":"checkout_session.completed","session_id":"${session}","payment_id":"${payment}","status":"completed"}`,
  );
});

test("body and Service-Signature have the bytes of release 0.1.0, recorded there, for every type that it sent", () => {
  const keys = ["whsec_new", "whsec_old"].map((secret) => signingKeys(Buffer.from(secret)));
  const recorded = [
    ["payment.disputed", "ed7e974e3fdbf3782755ee9eccf9149f3bf6be9d9c87272c13057d72eb54cb51"],
    ["payment.failed", "42534b261d8fc58dced3756c36e83847070f74adcc5a605e31ecd2aa72e8235b"],
    ["payment.refunded", "5d75dd7181dcfefc0c88800c733a8ebfb560e6461ba8c03cebe2f9c9aa996484"],
    ["payment.succeeded", "4ef38ffe2a3fc63956a45fc1d10b8f30fe8b33ead46ccd9087a6bb83f5d97c54"],
  ] as const;
  for (const [type, signature] of recorded) {
    const fact = translateFact({ type, objectId: payment, status: "succeeded", attributes: {} });
    const body = fact.kind === "event" ? fact.body : Buffer.alloc(0);
    assert.equal(body.toString(), `{"type":"${type}","payment_id":"${payment}","status":"succeeded"}`);
    assert.ok(signatureHeader(keys, 1_700_000_000, body).startsWith(`t=1700000000,v1=${signature},v1=`), type);
  }
  assert.equal(testEventBody(new Date(0)).toString(), '{"type":"test.ping","created_at":"1970-01-01T00:00:00.000Z"}');
});

test("a session without an attempt has no payment id, since no payment exists yet", () => {
  const attributes = { payment_id: "", payment_status: "canceled" };
  assert.equal(
    bodyOf({ type: "session.expired", objectId: session, status: "expired", attributes }),
    `- {"type":"checkout_session.expired","session_id":"${session}","status":"expired"}`,
  );
});

test("reserved codes and internal types are not public", () => {
  const fact = { objectId: payment, status: "pending", attributes: {} };
  for (const type of ["payment.updated", "payment.created", "session.created", "test.ping", "refund.failed"]) {
    assert.deepEqual(translateFact({ ...fact, type }), { kind: "internal" }, type);
  }
});

test("a fact without its object or with an invalid status is malformed", () => {
  const fact = { type: "payment.refund_succeeded", objectId: payment, status: "refunded" };
  const attributes = { refund_id: refund, refund_status: "succeeded" };
  const problem = (change: Partial<AnnouncedFact>) => {
    const translation = translateFact({ ...fact, attributes, ...change });
    return translation.kind === "malformed" ? translation.problem : translation.kind;
  };
  assert.equal(problem({}), "event");
  assert.equal(problem({ objectId: session }), "payment id is invalid");
  assert.equal(problem({ attributes: { refund_status: "succeeded" } }), "refund id is invalid");
  assert.equal(problem({ attributes: { ...attributes, refund_status: 'x","y":"' } }), "status is invalid");
  assert.equal(problem({ type: "dispute.won" }), "dispute id is invalid");
  assert.equal(problem({ type: "report.ready", status: "ready" }), "report id is invalid");
  assert.equal(problem({ type: "session.expired", status: "expired" }), "session id is invalid");
});

test("each code and each announced name appears once in the catalogue", () => {
  for (const names of [
    eventTypes.map(({ code }) => code),
    eventTypes.flatMap(({ announcedAs }) => announcedAs ?? []),
  ]) {
    assert.deepEqual(names.length, new Set(names).size);
  }
});

test.run();
