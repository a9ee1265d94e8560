// The pictures of one screen, a row for each language, as one file that is kept: what somebody looked at, to hold
// another picture against. Letters stay readable, and all sheets together stay below three megabytes.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { BrowserContext } from "playwright-core";

const folder = join(import.meta.dirname, "screens");
const scale = 0.5;
const quality = 55;

/** @param shots row by row, PNG */
export async function keepSheet(
  context: BrowserContext,
  name: string,
  shots: readonly Buffer[],
  columns: number,
): Promise<void> {
  const page = await context.newPage();
  const images = shots.map((shot) => `<img src="data:image/png;base64,${shot.toString("base64")}">`);
  await page.setContent(`<style>
    body { margin: 0; padding: 12px; background: #9aa3b2; width: max-content }
    main { display: grid; grid-template-columns: repeat(${columns}, auto); gap: 12px; align-items: start }
    img { zoom: ${scale} }</style><main>${images.join("")}</main>`);
  await page.waitForFunction("[...document.images].every((image) => image.complete)");
  const box = await page.locator("body").boundingBox();
  const [width, height] = [Math.ceil(box?.width ?? 1), Math.ceil(box?.height ?? 1)];
  await page.setViewportSize({ width, height });
  const devtools = await context.newCDPSession(page);
  const { data } = await devtools.send("Page.captureScreenshot", { format: "webp", quality });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, `${name.replaceAll(" ", "-")}.webp`), Buffer.from(data, "base64"));
  await page.close();
}
