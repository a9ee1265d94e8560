import * as assert from "uvu/assert";
import { at, paidIntent, refusedAs, requireChange, unpaidIntent } from "../../../test/harness/sample-intent.ts";
import { suite } from "../../../test/harness/suite.ts";
import { acceptDispute, decideDispute, moveDispute, openDispute, submitEvidence } from "./dispute.ts";
import type { DisputeStatus, Intent } from "./intent.ts";

const test = suite("dispute");
const facts = { id: "dsp_1", amount: null, reason: "fraudulent", status: "needs_response", now: at } as const;
const move = (intent: Intent, status: DisputeStatus) => moveDispute(intent, "dsp_1", status, at);

test("disputes the captured amount by default and never more", () => {
  const { intent, events } = requireChange(openDispute(paidIntent(), facts));
  const [dispute] = intent.disputes;
  assert.equal([dispute?.amount, dispute?.closed_at, events], [1_000, null, ["dispute.opened"]]);
  assert.is(dispute?.evidence_due_at, "2026-11-28T12:00:00.000Z");
  assert.is(refusedAs(openDispute(paidIntent(), { ...facts, amount: 1_001 })), "amount_too_large");
});

test("disputes a paid intent only", () => {
  assert.is(refusedAs(openDispute(unpaidIntent(), facts)), "intent_not_disputable");
});

test("never changes a closed dispute", () => {
  const open = requireChange(openDispute(paidIntent(), facts)).intent;
  const lost = requireChange(move(open, "lost"));
  assert.equal([lost.intent.disputes[0]?.closed_at, lost.events], [at, ["dispute.closed"]]);
  assert.is(refusedAs(move(lost.intent, "won")), "dispute_not_movable");
  assert.is(move(lost.intent, "lost"), null);
});

test("turns an inquiry into a dispute, never the reverse", () => {
  const inquiry = requireChange(openDispute(paidIntent(), { ...facts, status: "warning_needs_response" })).intent;
  const dispute = requireChange(move(inquiry, "needs_response"));
  assert.equal(dispute.events, ["dispute.updated"]);
  assert.is(refusedAs(move(dispute.intent, "warning_closed")), "dispute_not_movable");
  assert.is(refusedAs(move(inquiry, "won")), "dispute_not_movable");
});

const answer = (text: string) => ({ reference: "ev_1", evidence: { uncategorized_text: text }, now: at });
const opened = (status: "needs_response" | "warning_needs_response" = "needs_response") =>
  requireChange(openDispute(paidIntent(), { ...facts, status })).intent;

test("accepts evidence once while a response is needed, then reviews", () => {
  for (const [status, reviewed] of [
    ["needs_response", "under_review"],
    ["warning_needs_response", "warning_under_review"],
  ] as const) {
    const sent = requireChange(submitEvidence(opened(status), "dsp_1", answer("It was delivered.")));
    const [dispute] = sent.intent.disputes;
    assert.equal([dispute?.status, dispute?.evidence_reference, sent.events], [reviewed, "ev_1", ["dispute.updated"]]);
    assert.equal(sent.delayed, [], "no decision without a magic text");
    assert.is(refusedAs(submitEvidence(sent.intent, "dsp_1", answer("again"))), "dispute_not_answerable");
  }
  const lost = requireChange(move(opened(), "lost")).intent;
  assert.is(refusedAs(submitEvidence(lost, "dsp_1", answer("late"))), "dispute_not_answerable");
});

test("accepts evidence up to the deadline", () => {
  const [dispute] = opened().disputes;
  const due = dispute?.evidence_due_at ?? "";
  const after = new Date(Date.parse(due) + 1).toISOString();
  requireChange(submitEvidence(opened(), "dsp_1", { ...answer("in time"), now: due }));
  assert.is(refusedAs(submitEvidence(opened(), "dsp_1", { ...answer("late"), now: after })), "dispute_not_answerable");
});

test("decides disputes and inquiries by the magic texts after a delay", () => {
  for (const [status, text, decided] of [
    ["needs_response", "winning_evidence", "won"],
    ["needs_response", "losing_evidence", "lost"],
    ["warning_needs_response", "winning_evidence", "warning_closed"],
    ["warning_needs_response", "losing_evidence", "needs_response"],
  ] as const) {
    const sent = requireChange(submitEvidence(opened(status), "dsp_1", answer(text)));
    assert.equal(sent.delayed, [{ kind: "decide_dispute", object_id: "dsp_1", delays: 1 }]);
    const after = requireChange(decideDispute(sent.intent, "dsp_1", at)).intent;
    assert.is(after.disputes[0]?.status, decided);
    if (decided === "won") assert.is(decideDispute(after, "dsp_1", at), null, "once");
  }
  assert.is(decideDispute(opened(), "dsp_1", at), null);
});

test("loses an accepted dispute, but refuses an inquiry and one under review", () => {
  const accepted = requireChange(acceptDispute(opened(), "dsp_1", at));
  assert.equal([accepted.intent.disputes[0]?.status, accepted.events], ["lost", ["dispute.closed"]]);
  assert.is(acceptDispute(accepted.intent, "dsp_1", at), null);
  const answered = requireChange(submitEvidence(opened(), "dsp_1", answer("It was delivered."))).intent;
  for (const intent of [answered, opened("warning_needs_response")]) {
    assert.is(refusedAs(acceptDispute(intent, "dsp_1", at)), "dispute_not_answerable");
  }
});

test.run();
