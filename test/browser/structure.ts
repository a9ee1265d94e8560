// Compares a screen's accessibility tree with the approved one. `UPDATE=1 npm test -- screens` rewrites the approved
// trees, to be reviewed in the diff.
import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const file = join(import.meta.dirname, "screens.structure.txt");
const head = /^## (.*)$/m;

export async function sameStructure(page: Page, screen: string): Promise<void> {
  const tree = await treeOf(page);
  const kept = read();
  if (process.env.UPDATE === "1") {
    kept.set(screen, tree);
    const sections = [...kept].sort(([a], [b]) => a.localeCompare(b)).map(([name, text]) => `## ${name}\n\n${text}\n`);
    writeFileSync(file, sections.join("\n"));
  }
  assert.equal(tree, kept.get(screen), `${screen}: check its picture, then UPDATE=1`);
}

/** For another language: compares only the kinds and order of the parts. */
export async function sameParts(page: Page, screen: string): Promise<void> {
  assert.deepEqual(partsOf(await treeOf(page)), partsOf(read().get(screen) ?? ""), screen);
}

/** Loose text is ignored: its position depends on the language. */
function partsOf(tree: string): string[] {
  const lines = tree.split("\n").filter((line) => !/^ *- text:/.test(line));
  return lines.map((line) => /^ *- \w+/.exec(line)?.[0] ?? line);
}

async function treeOf(page: Page): Promise<string> {
  return (await page.locator("body").ariaSnapshot())
    .replace(/pay_\w{14}/g, "pay_…")
    .replace(/\w{3} \d{1,2}, \d{4}, [\d:]+ [AP]M|\d{1,2} \w+ \d{4},? (?:at )?[\d:]+/g, "…date…")
    .replace(/(127\.0\.0\.1|localhost):\d+\S*/g, "…")
    .replace(/^ *- \/url: .*\n?/gm, "")
    .trim();
}

function read(): Map<string, string> {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const [, ...parts] = text.split(head);
  const sections = new Map<string, string>();
  for (let i = 0; i + 1 < parts.length; i += 2) sections.set(parts[i] ?? "", (parts[i + 1] ?? "").trim());
  return sections;
}
