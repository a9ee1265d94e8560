// Which methods a payment offers, and which refunds their terms allow.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type MethodTerms, offerMethods, refundMisfit } from "./payment-method.ts";

const test = suite("payment methods");
const card: MethodTerms = {
  ...{ type: "card", currencies: [], refund: "partial", delayed: false, disputes: true, manualCapture: true },
};
const ideal: MethodTerms = { ...card, type: "ideal", currencies: ["EUR"], manualCapture: false };
const terms = [card, ideal];
const order = { currency: "EUR", captureMethod: "automatic" } as const;

test("automatic offers what is switched on and fits the order", () => {
  const offered = (chosen: readonly string[], change: object = {}) =>
    offerMethods(terms, chosen, [], { ...order, ...change });
  assert.deepEqual(offered(["card"]), { methods: ["card"] });
  assert.deepEqual(offered(["card", "ideal"]), { methods: ["card", "ideal"] });
  assert.deepEqual(offered(["card", "ideal"], { currency: "USD" }), { methods: ["card"] });
  assert.deepEqual(offered(["card", "ideal"], { captureMethod: "manual" }), { methods: ["card"] });
  // A method that another release of the connector had.
  assert.deepEqual(offered(["card", "gone"]), { methods: ["card"] });
  assert.ok("problems" in offered(["ideal"], { currency: "USD" }));
});

test("a requested method that does not fit is named with the reason, and none is left out silently", () => {
  const problems = (requested: readonly string[], change: object = {}) => {
    const offer = offerMethods(terms, ["card", "ideal"], requested, { ...order, ...change });
    return "problems" in offer ? offer.problems.map(({ field, problem }) => `${field} ${problem}`) : [];
  };
  assert.deepEqual(problems(["ideal"]), []);
  assert.deepEqual(problems(["card", "klarna"]), ["payment_methods[1] must be switched on for the account"]);
  assert.deepEqual(problems(["ideal"], { currency: "USD" }), ["payment_methods[0] must be available in the currency"]);
  assert.equal(problems(["ideal", "klarna"], { captureMethod: "manual" }).length, 2);
});

test("a refund follows the terms: any part, only the whole, or none; without terms any part", () => {
  const misfit = (refund: MethodTerms["refund"], amount: bigint) => refundMisfit({ ...card, refund }, amount, 1_000n);
  assert.deepEqual([misfit("partial", 1n), misfit("partial", 1_000n)], [undefined, undefined]);
  assert.deepEqual([misfit("full", 999n), misfit("full", 1_000n)], ["only_whole", undefined]);
  assert.equal(misfit("none", 1_000n), "not_refundable");
  assert.equal(refundMisfit(undefined, 1n, 1_000n), undefined);
});

test.run();
