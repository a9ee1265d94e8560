import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { moveDispute, openDispute } from "./dispute.ts";
import type { DisputeStatus, Intent } from "./intent.ts";
import { at, changed, paidIntent, refusedAs, unpaidIntent } from "./sample-intent.ts";

const test = suite("dispute");
const facts = { id: "dsp_1", amount: null, reason: "fraudulent", status: "needs_response", now: at } as const;
const move = (intent: Intent, status: DisputeStatus) => moveDispute(intent, "dsp_1", status, at);

test("a dispute is for all that was captured unless told, and not for more", () => {
  const { intent, events } = changed(openDispute(paidIntent(), facts));
  const [dispute] = intent.disputes;
  assert.equal([dispute?.amount, dispute?.closed_at, events], [1_000, null, ["dispute.opened"]]);
  assert.is(dispute?.evidence_due_at, "2026-11-28T12:00:00.000Z");
  assert.is(refusedAs(openDispute(paidIntent(), { ...facts, amount: 1_001 })), "amount_too_large");
});

test("only a paid intent can be disputed", () => {
  assert.is(refusedAs(openDispute(unpaidIntent(), facts)), "intent_not_disputable");
});

test("a dispute ends closed, and never moves on from there", () => {
  const open = changed(openDispute(paidIntent(), facts)).intent;
  const lost = changed(move(open, "lost"));
  assert.equal([lost.intent.disputes[0]?.closed_at, lost.events], [at, ["dispute.closed"]]);
  assert.is(refusedAs(move(lost.intent, "won")), "dispute_not_movable");
  assert.is(move(lost.intent, "lost"), null);
});

test("an inquiry can become a dispute, a dispute never an inquiry", () => {
  const inquiry = changed(openDispute(paidIntent(), { ...facts, status: "warning_needs_response" })).intent;
  const dispute = changed(move(inquiry, "needs_response"));
  assert.equal(dispute.events, ["dispute.updated"]);
  assert.is(refusedAs(move(dispute.intent, "warning_closed")), "dispute_not_movable");
  assert.is(refusedAs(move(inquiry, "won")), "dispute_not_movable");
});

test.run();
