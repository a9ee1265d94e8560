import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { type Fault, type FaultSubject, isDrawn, isMeant, kindsOf } from "./fault.ts";

const test = suite("fault");
const fault = (members: Partial<Fault>): Fault => ({
  id: "f",
  target: "api.*",
  kind: "error_before",
  ms: 0,
  seed: 1,
  drawn: 0,
  fired: 0,
  ...members,
});
const call: FaultSubject = { target: "api.refunds.get", account: "acct_1", references: ["re_1", "pay_1"] };

test("a switch means its own target; api.* means every API call, but no webhook", () => {
  assert.ok(isMeant(fault({}), call));
  assert.ok(isMeant(fault({ target: "api.refunds.get" }), call));
  assert.not.ok(isMeant(fault({ target: "api.refunds.create" }), call));
  assert.not.ok(isMeant(fault({}), { ...call, target: "webhooks" }));
});

test("account, reference, kind and count narrow it down", () => {
  assert.not.ok(isMeant(fault({ account: "acct_2" }), call));
  assert.ok(isMeant(fault({ reference: "pay_1" }), call));
  assert.not.ok(isMeant(fault({ reference: "pay_2" }), call));
  assert.not.ok(isMeant(fault({ kind: "delay" }), { ...call, kinds: ["hold"] }));
  assert.ok(isMeant(fault({ count: 2, fired: 1 }), call));
  assert.not.ok(isMeant(fault({ count: 2, fired: 2 }), call));
});

test("a target has the kinds of what its calls do: a list lags, one object is missing, a change is answered early", () => {
  const has = (target: Parameters<typeof kindsOf>[0]) =>
    (["stale_list", "missing", "answer_early", "hold", "cut"] as const).filter((kind) =>
      kindsOf(target).includes(kind),
    );
  assert.equal(has("api.intents.create"), ["answer_early", "cut"]);
  assert.equal(has("api.intents.get"), ["stale_list", "missing", "cut"]);
  assert.equal(has("api.events.get"), ["stale_list", "cut"]);
  assert.equal(has("api.*"), ["stale_list", "missing", "answer_early", "cut"]);
  assert.equal(has("webhooks"), ["hold"]);
});

test("chance is the same for the same seed, another for another, and about as often as asked", () => {
  const draws = (seed: number) =>
    Array.from({ length: 2_000 }, (_, n) => isDrawn(fault({ seed, probability: 0.3 }), n));
  assert.equal(draws(5), draws(5));
  assert.not.equal(draws(5), draws(6));
  const often = draws(5).filter(Boolean).length / 2_000;
  assert.ok(often > 0.25 && often < 0.35, String(often));
  assert.not.ok(isDrawn(fault({ probability: 0 }), 1));
  assert.ok(isDrawn(fault({ probability: 1 }), 1));
});

test.run();
