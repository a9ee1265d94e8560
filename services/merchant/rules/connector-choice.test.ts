import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type ConnectorFacts, chooseConnector, isEligible, mayServe, surfaceOf } from "./connector-choice.ts";

const test = suite("connector choice");
const primary: ConnectorFacts = {
  isPrimary: true,
  isActive: true,
  canBePrimary: true,
  allowedSurfaces: ["embedded", "hosted"],
  defaultSurface: "embedded",
  selectedSurface: undefined,
};
const nothing = { selectedSurface: undefined, makePrimary: false };

test("only an active merchant's primary, active account serves new sessions", () => {
  const outcome = (choice: ReturnType<typeof chooseConnector>) => (choice.kind === "chosen" ? "chosen" : choice.reason);
  for (const status of ["pending", "suspended", "closed"] as const) {
    assert.equal(outcome(chooseConnector(status, [{ connector: primary }])), "FORBIDDEN");
  }
  const withOnly = (change: Partial<ConnectorFacts>) =>
    outcome(chooseConnector("active", [{ connector: { ...primary, ...change } }]));
  assert.equal(withOnly({}), "chosen");
  assert.equal(outcome(chooseConnector("active", [])), "NO_CONNECTOR");
  assert.equal(withOnly({ isActive: false }), "NO_CONNECTOR");
  assert.equal(withOnly({ isPrimary: false }), "NO_CONNECTOR");
});

test("fallbacks are the active accounts that may be primary, in order", () => {
  const account = (id: string, change: Partial<ConnectorFacts> = {}) => ({ id, connector: { ...primary, ...change } });
  const other = { isPrimary: false };
  const choice = chooseConnector("active", [
    account("first"),
    account("inactive", { ...other, isActive: false }),
    account("second", other),
    account("never primary", { ...other, canBePrimary: false }),
    account("third", other),
  ]);
  assert.equal(choice.kind === "chosen" && choice.account.id, "first");
  assert.deepEqual(choice.kind === "chosen" && choice.fallbacks.map(({ id }) => id), ["second", "third"]);
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
