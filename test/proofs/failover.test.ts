// A short failover run by the command itself: the primary and a broker are killed once under persistent clients.
// `npm run prove -- failover` makes long ones.
import assert from "node:assert/strict";
import { commandOutput } from "../harness/files/command-output.ts";
import { suite } from "../harness/suite.ts";

const limitMs = 200_000;
const test = suite("failover", { timeoutMs: limitMs + 20_000 });
const options = ["--minutes", "0.25", "--every", "12", "--clients", "4"];

test("a primary that dies with a synchronous standby, and a broker of three, lose nothing that a client saw", async () => {
  const report = await commandOutput("chaos/failover.ts", options, limitMs);
  assert.match(report, /^differences: 0$/m, report);
  assert.match(report, /^kill postgres: [1-9]/m, report);
  assert.match(report, /^kill nats: [1-9]/m, report);
  const [, operations = "0"] = /^(\d+) operations on \d+ payments$/m.exec(report) ?? [];
  assert.ok(Number(operations) > 0, report);
});

test.run();
