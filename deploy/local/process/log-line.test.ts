import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { limitedWarnings, warningOf } from "./log-line.ts";

const test = suite("log line");

test("ordinary lines are not shown", () => {
  assert.is(warningOf('{"level":"info","msg":"ready"}'), undefined);
  assert.is(warningOf('{"level":30,"msg":"ready"}'), undefined);
  assert.is(warningOf("  "), undefined);
});

test("warnings and errors are shown with the cause, by name and by number", () => {
  assert.is(warningOf('{"level":"warn","msg":"slow"}'), "warn: slow");
  assert.is(warningOf('{"level":50,"msg":"relay","err":{"message":"NATS is\\naway"}}'), "error: relay: NATS is away");
});

test("what is not JSON is shown as it is, cut", () => {
  assert.is(warningOf("checkout: RPC_TOKEN is missing"), "checkout: RPC_TOKEN is missing");
  assert.is(warningOf("{broken"), "{broken");
  assert.is(warningOf("x".repeat(1000))?.length, 200);
});

test("a flood is cut to five lines in ten seconds, and said so once", () => {
  const shown: string[] = [];
  let now = 0;
  const warn = limitedWarnings(
    (line) => shown.push(line),
    () => now,
  );
  for (let at = 0; at < 100; at++) warn(`line ${at}`);
  assert.equal(shown.slice(4), ["line 4", "warn: more of these in its log"]);
  now = 10_000;
  warn("later");
  assert.is(shown.at(-1), "later");
});

test.run();
