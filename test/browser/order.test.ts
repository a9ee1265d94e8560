// The hosted page's layout, branding and readability on every device.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { contrast } from "../../gateway/web/branding/contrast.ts";
import { apiClient } from "../harness/api.ts";
import { phone } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { formReady, newOrder, payWith, seeScreen } from "./buyer.ts";
import { cutOff } from "./layout.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("order and branding");
async function merchantWith(branding: Record<string, unknown>): Promise<TestMerchant> {
  const merchant = await freshMerchant(site.stack);
  (await merchant.api.patch("/v1/merchants/me/branding", branding)).expect(200);
  return merchant;
}

const boxOf = async (page: Page, selector: string) => {
  const box = await page.locator(selector).first().boundingBox();
  assert.ok(box, selector);
  return box;
};
const styleOf = (page: Page, selector: string, property: string) =>
  page.evaluate<string>(
    `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).getPropertyValue("${property}")`,
  );
/** `rgb(1, 2, 3)` as `#010203`. */
const hex = (rgb: string) =>
  `#${(rgb.match(/\d+/g) ?? [])
    .slice(0, 3)
    .map((channel) => Number(channel).toString(16).padStart(2, "0"))
    .join("")}`;

inBrowser("the paid screen shows amount, date, card, seller and reference, and prints", async ({ page }) => {
  const merchant = await merchantWith({ display_name: "Lemon Books" });
  await page.addInitScript("globalThis.print = () => (globalThis.printed = true)");
  await page.goto((await newOrder(merchant, { description: "2 × Cookbook\n1 × Apron" })).link);
  const description = page.locator(".description");
  assert.equal(await description.innerText(), "2 × Cookbook\n1 × Apron", "line breaks stay");
  await payWith(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
  const facts = (await page.locator(".facts").innerText()).replace(/\s+/g, " ");
  assert.match(
    facts,
    /^Amount €10\.50 Date \w.* \d{4}.*\d:\d\d.* Card Visa ending in 4242 Reference pay_\w{14} Paid to Test Store Ltd$/,
  );
  await page.getByRole("button", { name: "Print" }).click();
  assert.equal(await page.evaluate("printed"), true);
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.getByRole("button", { name: "Print" }).isVisible(), false);
  assert.equal(await page.getByText("Payment successful").isVisible(), true);
});

inBrowser("shows the accepted cards, the processor and the seller", async ({ page }) => {
  await page.goto((await newOrder(await merchantWith({ display_name: "Lemon Books" }))).link);
  await formReady(page);
  await page
    .frameLocator("iframe")
    .getByRole("img", { name: /^Accepted cards: Visa, Mastercard, American Express/ })
    .waitFor();
  await page.getByText("processed by Tollbooth Simulator").waitFor();
  await page.getByText("Sold by Test Store Ltd").waitFor();
});

inBrowser("aligns Arabic and embedded Latin text at the right edge", async ({ page }) => {
  const merchant = await merchantWith({ display_name: "Lemon Books" });
  await page.goto((await newOrder(merchant, { locale: "ar", description: "Order 7\nTwo lines" })).link);
  await formReady(page);
  const edge = (box: { x: number; width: number }) => Math.round(box.x + box.width);
  const right = edge(await boxOf(page, ".order > .amount bdi"));
  assert.ok(Math.abs(edge(await boxOf(page, ".description bdi")) - right) <= 1);
  await payWith(page, cards.succeeds).catch(() => page.locator("button.pay").click());
  await seeScreen(page, "تم الدفع بنجاح");
});

inBrowser("on a phone the order comes first, but after a message", async ({ page }) => {
  const isOrderFirst = async () => (await boxOf(page, ".order")).y < (await boxOf(page, ".panel")).y;
  await page.goto((await newOrder(await merchantWith({ display_name: "Lemon Books" }))).link);
  await formReady(page);
  assert.ok(await isOrderFirst());
  assert.ok((await boxOf(page, ".panel")).width > phone.width * 0.85);
  await payWith(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
  assert.ok(!(await isOrderFirst()));
});

const picture = (width: number, height: number) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#c00"/></svg>`;

inBrowser("shows a logo in its own ratio", async ({ page }) => {
  const merchant = await merchantWith({ display_name: "Lemon Books", logo_url: "https://lemonbooks.example/logo.svg" });
  for (const [width, height, wanted] of [
    [600, 120, 220],
    [100, 100, 44],
    [100, 400, 11],
  ] as const) {
    await page.route("https://lemonbooks.example/logo.svg", (route) =>
      route.fulfill({ contentType: "image/svg+xml", body: picture(width, height) }),
    );
    await page.goto((await newOrder(merchant)).link);
    await formReady(page);
    const logo = await boxOf(page, "img.logo");
    assert.deepEqual([Math.round(logo.width), Math.round(logo.height)], [wanted, 44], `${width} × ${height}`);
    await page.unroute("https://lemonbooks.example/logo.svg");
  }
});

inBrowser("shows the initial instead of a logo that does not load", async ({ page }) => {
  const merchant = await merchantWith({ display_name: "Lemon Books", logo_url: "https://lemonbooks.example/logo.svg" });
  await page.route("https://lemonbooks.example/logo.svg", (route) => route.abort());
  await page.goto((await newOrder(merchant)).link);
  await formReady(page);
  assert.equal(await page.locator(".initial").innerText(), "L");
  const [mark, name] = [await boxOf(page, ".initial"), await boxOf(page, ".merchant-name")];
  assert.deepEqual([mark.width, mark.height], [44, 44]);
  assert.ok(name.y >= mark.y + mark.height);
});

inBrowser.alone("applies theme and colours without scripts", async () => {
  const branding = { display_name: "Lemon Books", accent_color: "#7a1fa2" };
  const grounds: Record<string, string> = {};
  for (const [theme, colorScheme] of [
    ["dark", "light"],
    ["light", "dark"],
    ["auto", "dark"],
    ["auto", "light"],
  ] as const) {
    const merchant = await merchantWith({ ...branding, theme });
    const { page, close } = await inBrowser.open({ colorScheme, javaScriptEnabled: false });
    await page.goto((await newOrder(merchant)).link);
    grounds[`${theme} in ${colorScheme}`] = hex(await styleOf(page, ".panel", "background-color"));
    assert.equal(hex(await styleOf(page, ".initial", "background-color")), "#7a1fa2");
    await close();
  }
  assert.deepEqual(grounds, {
    "dark in light": "#1a202c",
    "light in dark": "#ffffff",
    "auto in dark": "#1a202c",
    "auto in light": "#ffffff",
  });
});

test("the style sheet accepts only known values and plain colours from its query", async () => {
  const shell = (await apiClient(site.stack.gateway).get("/c/cs_01jd3v9q6k8m2n4p6r8t0v2x4z")).raw;
  const [style = ""] = /\/c\/files\/page-\w+\.css/.exec(shell) ?? [];
  const sheet = async (query: string) => (await apiClient(site.stack.gateway).get(`${style}?${query}`)).expect(200).raw;
  assert.match(
    await sheet("accent=0a7d4f&theme=dark&button=pill"),
    /--accent:#0a7d4f.*--button-radius:999px.*color-scheme:dark/s,
  );
  const plain = await sheet("accent=000%7Dbody%7Bdisplay:none&theme=x&button=url(x)&font=%22%7D&x=%3C%2Fstyle%3E");
  assert.doesNotMatch(plain.slice(plain.lastIndexOf(":root{")), /display|url|script|style|<|\}.+/);
});

inBrowser("text follows the reader's font size, in the page and in the processor's fields", async ({ page }) => {
  const merchant = await merchantWith({
    display_name: "Lemon Books",
    tagline: "Good reading",
    support_email: "h@x.example",
  });
  await page.goto((await newOrder(merchant)).link);
  await formReady(page);
  const sizes = `(() => [...document.querySelectorAll("body *")]
    .filter((e) => e.checkVisibility() && !e.closest("svg") && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()))
    .map((e) => [e.tagName + "." + e.className, parseFloat(getComputedStyle(e).fontSize)]))()`;
  const scale = `document.documentElement.style.fontSize = "175%"`; // 28 px, as a browser's setting would
  const frame = page.frames()[1];
  assert.ok(frame);
  for (const each of [page, frame]) {
    const before = await each.evaluate<[string, number][]>(sizes);
    await each.evaluate(scale);
    const after = await each.evaluate<[string, number][]>(sizes);
    assert.ok(before.length > 5);
    before.forEach(([name, size], i) => {
      assert.ok(Math.abs((after[i]?.[1] ?? 0) / size - 1.75) < 0.01, `${name}: ${size} → ${after[i]?.[1]}`);
    });
  }
});

inBrowser(
  "cuts nothing off at 320 px with a font of 28 px and long values",
  async ({ page }) => {
    const merchant = await merchantWith({
      display_name: "Lemon Books and Stationery",
      support_email: "questions@lemonbooks.example",
    });
    await page.addInitScript(
      `document.addEventListener("DOMContentLoaded", () => (document.documentElement.style.fontSize = "28px"))`,
    );
    await page.goto((await newOrder(merchant, { amount: 99_999_999, reference: "ORDER-2026-00000000001" })).link);
    await formReady(page);
    assert.deepEqual(await cutOff(page), [], "pay");
    await payWith(page, cards.succeeds);
    await seeScreen(page, "Payment successful");
    assert.deepEqual(await cutOff(page), [], "paid");
  },
  { viewport: { width: 320, height: 640 } },
);

inBrowser.alone("edges of fields have a contrast of 3:1, light and dark", async () => {
  for (const theme of ["light", "dark"]) {
    const merchant = await merchantWith({ display_name: "Lemon Books", theme, email_field: "optional" });
    const { page, close } = await inBrowser.open();
    await page.goto((await newOrder(merchant)).link);
    await formReady(page);
    const ground = hex(await styleOf(page, ".panel", "background-color"));
    const edges = await eventually("the fields", () =>
      page
        .frames()[1]
        ?.evaluate<string[]>(`[...document.querySelectorAll("input")].map((e) => getComputedStyle(e).borderTopColor)`),
    );
    const own = await styleOf(page, "#email", "border-top-color");
    for (const edge of [own, ...(edges ?? [])])
      assert.ok(contrast(hex(edge), ground) >= 3, `${theme}: ${edge} on ${ground}`);
    assert.ok((edges ?? []).length >= 4);
    await close();
  }
});

test.run();
