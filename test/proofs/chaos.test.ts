// A short chaos run by the command itself: processes and servers are killed, frozen and cut off under persistent
// clients. `npm run prove -- chaos` makes long ones.
import assert from "node:assert/strict";
import { commandOutput } from "../harness/files/command-output.ts";
import { suite } from "../harness/suite.ts";

const limitMs = 200_000;
const test = suite("chaos", { timeoutMs: limitMs + 20_000 });
const options = ["--minutes", "0.117", "--clients", "4"];

test("after kills, freezes and cuts everywhere, every outcome that a client saw is in all the books", async () => {
  const report = await commandOutput("chaos/chaos.ts", options, limitMs);
  assert.match(report, /^differences: 0$/m, report);
  const [, operations = "0"] = /^(\d+) operations on \d+ payments$/m.exec(report) ?? [];
  assert.ok(Number(operations) > 0, report);
  assert.match(report, /^ {2}\d+\.\d s: (kill|lose|freeze|cut|break|hole|half|readonly|clock)\b/m, report);
});

test.run();
