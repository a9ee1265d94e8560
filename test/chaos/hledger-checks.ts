// hledger reads the exported books at the end of a run: it accepts them and has the trial balance's balances, at three
// moments.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { membersOf } from "#platform/values/unchecked.ts";
import type { MoneyRig } from "./money-rig.ts";
import { execute, outputMax, runOperatorTool, stateDirOf } from "./operator-tool.ts";

const dayMs = 86_400_000;
// A payout may be paid between the export and the trial balance.
const triesMax = 5;

/** One line per difference; none without hledger. */
export async function hledgerDifferences(rig: MoneyRig): Promise<string[]> {
  const isInstalled = await execute("hledger", ["--version"]).then(
    () => true,
    () => false,
  );
  if (!isInstalled) return [];
  let found = await compare(rig);
  for (let tries = 1; tries < triesMax && found.length > 0; tries++) found = await compare(rig);
  return found;
}

async function compare({ running }: MoneyRig): Promise<string[]> {
  const operator = async (...words: string[]) => await runOperatorTool(running, ...words);
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const now = new Date();
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
  // From before last month; clocks of a run may be some hours off.
  const period = ["--from", day(month - 32 * dayMs), "--to", day(now.getTime() + 2 * dayMs)];
  const file = join(stateDirOf(running), "books.journal");
  await writeFile(file, await operator("journal", "export", "--format", "hledger", ...period));
  const hledger = async (...words: string[]) =>
    (await execute("hledger", ["-f", file, ...words], { maxBuffer: outputMax })).stdout;
  await hledger("check", "--strict");
  const found: string[] = [];
  for (const moment of [undefined, day(month), day(month - 10 * dayMs)]) {
    const before = moment === undefined ? [] : ["--end", moment];
    const table = await hledger("balance", "--flat", "--no-total", "-O", "csv", "--layout", "bare", ...before);
    const at = moment === undefined ? [] : ["--at", moment];
    const lines: unknown[] = JSON.parse(await operator("books", "trial-balance", "--json", ...at));
    found.push(...differences(balancesOf(lines), table).map((line) => `${line} at ${moment ?? "the end"}`));
  }
  return found;
}

function balancesOf(lines: readonly unknown[]): string[] {
  return lines
    .map(membersOf)
    .flatMap(({ merchant_id, environment, account, currency, balance }) =>
      Number(balance) === 0 ? [] : [`${merchant_id}:${environment}:${account} ${currency} ${balance}`],
    );
}

function differences(ours: readonly string[], table: string): string[] {
  const theirs = [...table.matchAll(/^"[a-z]+:([^"]+)","([A-Z]{3})","([^"]+)"/gm)].map(
    ([, account, currency, amount]) => `${account} ${currency} ${amount}`,
  );
  const [own, other] = [new Set(ours), new Set(theirs)];
  return [
    ...ours.filter((line) => !other.has(line)).map((line) => `hledger lacks ${line}`),
    ...theirs.filter((line) => !own.has(line)).map((line) => `only hledger has ${line}`),
  ];
}
