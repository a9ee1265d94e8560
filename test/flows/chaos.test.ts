// A short chaos run by the command itself: processes and servers are killed, frozen and cut off under persistent clients.
// `npm run chaos` makes long ones.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { suite } from "../harness/suite.ts";

const limitMs = 200_000;
const test = suite("chaos", { timeoutMs: limitMs + 20_000 });
const command = fileURLToPath(new URL("../chaos/chaos.ts", import.meta.url));
const options = ["--minutes", "0.117", "--clients", "4"];

test("after kills, freezes and cuts everywhere, every outcome that a client saw stands in all the books", async () => {
  const report = await output(spawn(process.execPath, [command, ...options], { stdio: ["ignore", "pipe", "inherit"] }));
  assert.match(report, /^differences: 0$/m, report);
  const [, operations = "0"] = /^(\d+) operations on \d+ payments$/m.exec(report) ?? [];
  assert.ok(Number(operations) > 0, report);
  assert.match(report, /^ {2}\d+\.\d s: (kill|freeze|cut|break|hole|half|readonly|clock)\b/m, report);
});

/** All that it prints, and its exit code; ended by force when it takes too long. */
async function output(child: ReturnType<typeof spawn>): Promise<string> {
  const lines: string[] = [];
  const timer = setTimeout(() => child.kill("SIGKILL"), limitMs);
  child.stdout?.on("data", (data: Buffer) => lines.push(data.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  return `${lines.join("")}\nexit code ${code}`;
}

test.run();
