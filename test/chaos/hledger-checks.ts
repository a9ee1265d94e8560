// hledger reads the exported books at the end of a run: it accepts them and has the trial balance's balances.
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { membersOf } from "#platform/values/unchecked.ts";
import type { MoneyRig } from "./money-rig.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "../..");
const outputMax = 1_000_000_000;
// Clocks of a run may be some hours off.
const marginMs = 2 * 86_400_000;

/** One line per difference; none without hledger. */
export async function hledgerDifferences({ running }: MoneyRig): Promise<string[]> {
  const isInstalled = await run("hledger", ["--version"]).then(
    () => true,
    () => false,
  );
  if (!isInstalled) return [];
  const stateDir = dirname(dirname(running.stack.tls.ca));
  const operator = async (...words: string[]) => {
    const env = { ...process.env, STATE_DIR: stateDir };
    return (await run(process.execPath, ["deploy/cli/main.ts", ...words], { cwd: root, env, maxBuffer: outputMax }))
      .stdout;
  };
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const period = ["--from", day(Date.now() - marginMs), "--to", day(Date.now() + marginMs)];
  const file = join(stateDir, "books.journal");
  await writeFile(file, await operator("journal", "export", "--format", "hledger", ...period));
  const hledger = async (...words: string[]) =>
    (await run("hledger", ["-f", file, ...words], { maxBuffer: outputMax })).stdout;
  await hledger("check", "--strict");
  const table = await hledger("balance", "--flat", "--no-total", "-O", "csv", "--layout", "bare");
  const theirs = [...table.matchAll(/^"[a-z]+:([^"]+)","([A-Z]{3})","([^"]+)"/gm)].map(
    ([, account, currency, amount]) => `${account} ${currency} ${amount}`,
  );
  const lines: unknown[] = JSON.parse(await operator("books", "trial-balance", "--json"));
  const ours = lines
    .map(membersOf)
    .flatMap(({ merchant_id, environment, account, currency, balance }) =>
      Number(balance) === 0 ? [] : [`${merchant_id}:${environment}:${account} ${currency} ${balance}`],
    );
  const [own, other] = [new Set(ours), new Set(theirs)];
  return [
    ...ours.filter((line) => !other.has(line)).map((line) => `hledger lacks ${line}`),
    ...theirs.filter((line) => !own.has(line)).map((line) => `only hledger has ${line}`),
  ];
}
