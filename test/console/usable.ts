// What every screen of the consoles must be on a small phone and on a desktop, light and dark: without a violation that
// axe finds, and no wider than its window.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import { desktop, shoot } from "../harness/browser.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const smallPhone = { width: 320, height: 640 } as const;
const sizes = { phone: smallPhone, desktop } as const;

/**
 * Looks at the page as it stands, and keeps a picture of each look under test/artifacts. The page's visit must bypass
 * the page's policy: axe is put in as a script.
 */
export async function assertUsable(page: Page, name: string): Promise<void> {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      await shoot(page, `console-${name.replace(/\W+/g, "-")}-${size}-${colorScheme}`);
      assert.deepEqual(await violations(page), [], `${name}, ${size} ${colorScheme}`);
      assert.ok(await fits(page), `${name}, ${size}: no wider than its window`);
    }
  }
  await page.setViewportSize(desktop);
}

/** On a small phone. */
export async function assertFitsPhone(page: Page, name: string): Promise<void> {
  await page.setViewportSize(smallPhone);
  await shoot(page, `console-${name.replace(/\W+/g, "-")}-phone`);
  assert.ok(await fits(page), `${name}: no wider than its window`);
}

async function fits(page: Page): Promise<boolean> {
  return await page.evaluate("document.documentElement.scrollWidth <= innerWidth");
}

async function violations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return await page.evaluate(`axe.run(document, { iframes: false }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html).join(" ")))`);
}
