import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { judgeDatabase } from "./recovery-store.ts";

const test = suite("recovery rule");
const quiet = { why: "", server: "a" } as const;

test("an event that was announced and is not known begins a recovery, on the same server and on another", () => {
  for (const server of ["a", "b", ""]) {
    assert.equal(judgeDatabase(quiet, { server, stream: "lacks" }).why, "events_unknown");
  }
});

test("another server whose events all agree is a failover, and asks nothing", () => {
  assert.deepEqual(judgeDatabase(quiet, { server: "b", stream: "agrees" }), { why: "", server: "b" });
});

test("another server of which the broker says nothing begins a recovery that the broker's agreement ends", () => {
  const doubted = judgeDatabase(quiet, { server: "b", stream: "unsure" });
  assert.deepEqual(doubted, { why: "server_changed", server: "a" });
  assert.deepEqual(judgeDatabase(doubted, { server: "b", stream: "unsure" }), doubted);
  assert.deepEqual(judgeDatabase(doubted, { server: "b", stream: "agrees" }), { why: "", server: "b" });
  assert.equal(judgeDatabase(doubted, { server: "b", stream: "lacks" }).why, "events_unknown");
});

test("the same server without a word of the broker changes nothing, and neither does one that tells no name", () => {
  assert.deepEqual(judgeDatabase(quiet, { server: "a", stream: "unsure" }), quiet);
  assert.deepEqual(judgeDatabase(quiet, { server: "", stream: "unsure" }), quiet);
});

test("neither agreement nor silence ends what missing events or an operator began", () => {
  for (const why of ["events_unknown", "operator"] as const) {
    for (const stream of ["agrees", "unsure"] as const) {
      assert.equal(judgeDatabase({ why, server: "a" }, { server: "a", stream }).why, why);
    }
  }
});

test.run();
