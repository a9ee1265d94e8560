import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { judgeDatabase } from "./recovery-store.ts";

const test = suite("recovery rule");
const quiet = { why: "", server: "a" } as const;

test("an announced event that is missing begins a recovery, on the same or another server", () => {
  for (const server of ["a", "b", ""]) {
    assert.equal(judgeDatabase(quiet, { server, stream: "lacks" }).why, "events_unknown");
  }
});

test("another server with all events is a failover", () => {
  assert.deepEqual(judgeDatabase(quiet, { server: "b", stream: "agrees" }), { why: "", server: "b" });
});

test("another server without the broker's answer begins a recovery, which the broker's agreement ends", () => {
  const doubted = judgeDatabase(quiet, { server: "b", stream: "unsure" });
  assert.deepEqual(doubted, { why: "server_changed", server: "a" });
  assert.deepEqual(judgeDatabase(doubted, { server: "b", stream: "unsure" }), doubted);
  assert.deepEqual(judgeDatabase(doubted, { server: "b", stream: "agrees" }), { why: "", server: "b" });
  assert.equal(judgeDatabase(doubted, { server: "b", stream: "lacks" }).why, "events_unknown");
});

test("the same or an unnamed server without the broker's answer changes nothing", () => {
  assert.deepEqual(judgeDatabase(quiet, { server: "a", stream: "unsure" }), quiet);
  assert.deepEqual(judgeDatabase(quiet, { server: "", stream: "unsure" }), quiet);
});

test("only an operator ends a recovery that missing events or an operator began", () => {
  for (const why of ["events_unknown", "operator"] as const) {
    for (const stream of ["agrees", "unsure"] as const) {
      assert.equal(judgeDatabase({ why, server: "a" }, { server: "a", stream }).why, why);
    }
  }
});

test.run();
