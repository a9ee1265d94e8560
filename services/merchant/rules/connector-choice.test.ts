import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type ConnectorFacts, chooseConnector, isEligible, mayServe, surfaceOf } from "./connector-choice.ts";

const test = suite("connector choice");
const primary: ConnectorFacts & { readonly id: string } = {
  id: "mco_1",
  isPrimary: true,
  isActive: true,
  canBePrimary: true,
  allowedSurfaces: ["embedded", "hosted"],
  defaultSurface: "embedded",
  selectedSurface: undefined,
  paymentMethods: ["card"],
};
const nothing = { selectedSurface: undefined, makePrimary: false };

test("only an active merchant's primary, active account serves new sessions", () => {
  const outcome = (choice: ReturnType<typeof chooseConnector>) => (choice.kind === "chosen" ? "chosen" : choice.reason);
  for (const status of ["pending", "suspended", "closed"] as const) {
    assert.equal(outcome(chooseConnector(status, [{ connector: primary }], 4)), "FORBIDDEN");
  }
  const withOnly = (change: Partial<ConnectorFacts>) =>
    outcome(chooseConnector("active", [{ connector: { ...primary, ...change } }], 4));
  assert.equal(withOnly({}), "chosen");
  assert.equal(outcome(chooseConnector("active", [], 4)), "NO_CONNECTOR");
  assert.equal(withOnly({ isActive: false }), "NO_CONNECTOR");
  assert.equal(withOnly({ isPrimary: false }), "NO_CONNECTOR");
});

test("fallbacks are the first active accounts by id that may be primary, and further ones are for rules", () => {
  const account = (id: string, change: Partial<ConnectorFacts> = {}) => ({ connector: { ...primary, ...change, id } });
  const other = { isPrimary: false };
  const candidates = [
    account("first"),
    account("inactive", { ...other, isActive: false }),
    account("third", other),
    account("never primary", { ...other, canBePrimary: false }),
    account("second", other),
  ];
  const chosen = (fallbacksMax: number) => {
    const choice = chooseConnector("active", candidates, fallbacksMax);
    if (choice.kind === "refused") return choice.reason;
    return [[choice.account], choice.fallbacks, choice.others].map((all) => all.map(({ connector: { id } }) => id));
  };
  assert.deepEqual(chosen(4), [["first"], ["second", "third"], []]);
  assert.deepEqual(chosen(1), [["first"], ["second"], ["third"]]);
  assert.deepEqual(chosen(0), [["first"], [], ["second", "third"]]);
});

test("an account is eligible if it is active, may become primary, and allows the surface", () => {
  assert.equal(isEligible(primary, { ...nothing, selectedSurface: "hosted" }), true);
  assert.equal(isEligible(primary, { ...nothing, selectedSurface: "redirect" }), false);
  assert.equal(isEligible(primary, { ...nothing, makePrimary: true }), true);
  assert.equal(isEligible({ ...primary, canBePrimary: false }, { ...nothing, makePrimary: true }), false);
  assert.equal(isEligible({ ...primary, canBePrimary: false }, { ...nothing, selectedSurface: "hosted" }), true);
  assert.equal(isEligible({ ...primary, isActive: false }, { ...nothing, selectedSurface: "hosted" }), false);
});

test("the simulator serves only the sandbox, every other connector both environments", () => {
  assert.equal(mayServe({ connector: "simulator", isLive: false }), true);
  assert.equal(mayServe({ connector: "simulator", isLive: true }), false);
  for (const isLive of [false, true]) assert.equal(mayServe({ connector: "stripe", isLive }), true);
});

test("the merchant's surface takes precedence over the default", () => {
  assert.equal(surfaceOf(primary), "embedded");
  assert.equal(surfaceOf({ ...primary, selectedSurface: "hosted" }), "hosted");
});

test.run();
