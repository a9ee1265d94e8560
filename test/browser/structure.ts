// What a screen is made of as a screen reader meets it, compared with what it was when somebody last looked at its
// picture: structure, not pixels. `UPDATE=1 npm test -- screens` writes it anew, for a person to read in the diff.
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
  assert.equal(tree, kept.get(screen), `${screen}: look at its picture, then UPDATE=1`);
}

/** In another language: the same parts in the same order, whatever they say. */
export async function sameParts(page: Page, screen: string): Promise<void> {
  assert.deepEqual(partsOf(await treeOf(page)), partsOf(read().get(screen) ?? ""), screen);
}

/** Text between other parts stands before or behind them by the language. */
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
