// Layout checks of the hosted page.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";

/** Elements that are cut off or need horizontal scrolling, also in the processor's frame. */
export async function cutOff(page: Page): Promise<string[]> {
  const found = await Promise.all(page.frames().map((frame) => frame.evaluate<string[]>(overflowScript)));
  return found.flat();
}

const overflowScript = `(() => {
  const wide = [...document.querySelectorAll("body *")]
    .filter((e) => e.checkVisibility() && !e.closest(".visually-hidden, .brands"))
    .filter((e) => e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1)
    .map((e) => e.outerHTML.slice(0, 80));
  const scrolled = document.documentElement.scrollWidth;
  return scrolled > innerWidth ? [...wide, "scrolls to " + scrolled] : wide;
})()`;

/**
 * Checks the desktop layout: merchant and order in one half, the panel in the other, both in full height; mirrored for
 * right-to-left languages.
 */
export async function seeTwoHalves(page: Page, what: string): Promise<void> {
  const { width = 0, height = 0 } = page.viewportSize() ?? {};
  const isTurned = (await page.getAttribute("html", "dir")) === "rtl";
  const half = width / 2;
  const boxOf = async (selector: string) => {
    const element = page.locator(selector).first();
    const box = (await element.count()) > 0 ? await element.boundingBox() : null;
    return box && { ...box, x: isTurned ? width - box.x - box.width : box.x };
  };
  const [merchant, order, panel] = [await boxOf(".merchant"), await boxOf(".order"), await boxOf(".panel")];
  assert.ok(merchant && panel, what);
  assert.deepEqual([Math.round(panel.x), Math.round(panel.width)], [half, half], what);
  assert.ok(panel.height >= height - 1, what);
  for (const box of [merchant, ...(order ? [order] : [])]) {
    assert.ok(box.x + box.width <= half && box.x > half / 8, what);
  }
  // An ended session shows no order.
  if (order) assert.ok(Math.abs(merchant.x - order.x) < 1 && order.y > merchant.y, what);
}
