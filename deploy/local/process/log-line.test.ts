import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { limitedWarnings, warningOf } from "./log-line.ts";

const test = suite("log line");

test("skips ordinary lines", () => {
  assert.is(warningOf('{"level":"info","msg":"ready"}'), undefined);
  assert.is(warningOf('{"level":30,"msg":"ready"}'), undefined);
  assert.is(warningOf("  "), undefined);
});

test("prints warnings and errors with their cause, for levels by name and by number", () => {
  assert.is(warningOf('{"level":"warn","msg":"slow"}'), "warn: slow");
  assert.is(warningOf('{"level":50,"msg":"relay","err":{"message":"NATS is\\naway"}}'), "error: relay: NATS is away");
});

test("prints a line that is not JSON, truncated", () => {
  assert.is(warningOf("checkout: RPC_TOKEN is missing"), "checkout: RPC_TOKEN is missing");
  assert.is(warningOf("{broken"), "{broken");
  assert.is(warningOf("x".repeat(1000))?.length, 200);
});

test("limits warnings to five lines in ten seconds and notes once that there are more", () => {
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
