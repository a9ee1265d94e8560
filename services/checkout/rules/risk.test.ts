import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { screen, velocityCountMax } from "./risk.ts";

const test = suite("risk screening");
const facts = { isSandbox: false, customerEmail: "buyer@example.com", recentSessionsOfEmail: 0 };

test("an ordinary session passes, with and without an e-mail address", () => {
  assert.equal(screen(facts), undefined);
  assert.equal(screen({ ...facts, customerEmail: "", recentSessionsOfEmail: 1_000 }), undefined);
});

test("the documented address is blocked in the sandbox only", () => {
  const blocked = { ...facts, customerEmail: "blocked@example.com" };
  assert.equal(screen({ ...blocked, isSandbox: true }), "sandbox_blocked_email");
  assert.equal(screen(blocked), undefined);
});

test("the twenty-first live session of an address within the window is blocked", () => {
  assert.equal(screen({ ...facts, recentSessionsOfEmail: 19 }), undefined);
  assert.equal(screen({ ...facts, recentSessionsOfEmail: 20 }), "email_velocity");
});

test("the sandbox allows more, and counting goes far enough to see the limit", () => {
  const sandbox = { ...facts, isSandbox: true };
  assert.equal(screen({ ...sandbox, recentSessionsOfEmail: 499 }), undefined);
  assert.equal(screen({ ...sandbox, recentSessionsOfEmail: velocityCountMax }), "email_velocity");
});

test.run();
