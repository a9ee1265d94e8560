// Checks that a screen passes axe and fits its window, on a small phone and a desktop, light and dark.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { axeViolations } from "../browser/page-suite.ts";
import { desktop, takeScreenshot } from "../harness/browser.ts";

const smallPhone = { width: 320, height: 640 } as const;
const sizes = { phone: smallPhone, desktop } as const;

/** SCREENS=all stores every picture under test/artifacts, otherwise only those of failures. */
const keepsAll = process.env.SCREENS === "all";

/** Checks the current page. Its visit must bypass the page's policy, which forbids the axe script. */
export async function assertUsable(page: Page, name: string): Promise<void> {
  for (const [size, viewport] of Object.entries(sizes)) {
    for (const colorScheme of ["light", "dark"] as const) {
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme });
      const [found, isNarrow] = [await axeViolations(page), await fitsWidth(page)];
      if (keepsAll || found.length > 0 || !isNarrow)
        await takeScreenshot(page, pictureOf(name, `${size}-${colorScheme}`));
      assert.deepEqual(found, [], `${name}, ${size} ${colorScheme}`);
      assert.ok(isNarrow, `${name}, ${size}: no wider than its window`);
    }
  }
  await page.setViewportSize(desktop);
}

export async function assertFitsPhone(page: Page, name: string): Promise<void> {
  await page.setViewportSize(smallPhone);
  const isNarrow = await fitsWidth(page);
  if (keepsAll || !isNarrow) await takeScreenshot(page, pictureOf(name, "phone"));
  assert.ok(isNarrow, `${name}: no wider than its window`);
}

function pictureOf(name: string, variant: string): string {
  return `console-${name.replace(/\W+/g, "-")}-${variant}`;
}

export async function fitsWidth(page: Page): Promise<boolean> {
  return await page.evaluate("document.documentElement.scrollWidth <= innerWidth");
}
