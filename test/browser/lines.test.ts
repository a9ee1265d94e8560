// Line items and seller on the hosted page, in several scripts, currencies and sizes. Pictures are in test/artifacts.
import assert from "node:assert/strict";
import type { BrowserContextOptions, Page } from "playwright-core";
import { takeScreenshot } from "../harness/browser.ts";
import { cards } from "../harness/pay.ts";
import { formReady, newOrder, payWith, payWithTestCard, seeScreen } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("line items", {
  branding: {
    display_name: "Lemon Books",
    theme: "auto",
    accent_color: "#0a7d4f",
    terms_url: "https://lemonbooks.example/terms",
    privacy_url: "https://lemonbooks.example/privacy",
  },
});
const few = [
  { name: "Lemon cookbook, hardcover", quantity: 2, amount: 4_990 },
  { name: "Apron", quantity: 1, amount: 1_500 },
  { name: "10 % off", quantity: 1, amount: -649 },
];
const many = Array.from({ length: 12 }, (_, i) => ({ name: `Print ${i + 1}`, quantity: i + 1, amount: 100 * (i + 1) }));
const sumOf = (lines: readonly { amount: number }[]) => lines.reduce((sum, { amount }) => sum + amount, 0);
const orderOf = (lines: typeof few, change: Record<string, unknown> = {}) =>
  newOrder(site.merchant, { amount: sumOf(lines), line_items: lines, ...change });

const shownLines = (page: Page) => page.locator(".order .lines li, .order .lines-total").allInnerTexts();
const flat = (texts: readonly string[]) => texts.map((text) => text.replace(/\s+/g, " ").trim());

inBrowser("lists the order with discount and total before and after payment", async ({ page }) => {
  await page.goto((await orderOf(few)).link);
  await formReady(page);
  const wanted = ["Lemon cookbook, hardcover × 2 €49.90", "Apron €15.00", "10 % off -€6.49", "Total €58.41"];
  assert.deepEqual(flat(await shownLines(page)), wanted);
  assert.equal(await page.locator(".lines details").count(), 0, "a short list is not folded");
  await payWith(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
  assert.deepEqual(flat(await shownLines(page)), wanted);
  await page.getByRole("link", { name: "View receipt" }).click();
  await page.getByText("Paid to", { exact: true }).waitFor();
  assert.deepEqual(flat(await shownLines(page)), wanted);
  await takeScreenshot(page, "34-receipt-lines");
});

inBrowser("folds more than four lines, and a keyboard opens them", async ({ page }) => {
  await page.goto((await orderOf(many)).link);
  await formReady(page);
  assert.equal(await page.getByText("Print 7").isVisible(), false);
  await page.locator(".lines summary").focus();
  await page.keyboard.press("Enter");
  await page.getByText("Print 12").waitFor();
  assert.equal((await shownLines(page)).length, 13);
});

inBrowser("shows seller and terms, whose links open in a new tab", async ({ context, page }) => {
  await context.route("https://lemonbooks.example/**", (route) => route.fulfill({ body: "terms" }));
  await page.goto((await orderOf(few)).link);
  await formReady(page);
  assert.equal(await page.locator(".legal span").textContent(), "Sold by Test Store Ltd");
  assert.equal(
    await page.getByRole("link", { name: "Privacy" }).getAttribute("href"),
    "https://lemonbooks.example/privacy",
  );
  const [opened] = await Promise.all([page.waitForEvent("popup"), page.getByRole("link", { name: "Terms" }).click()]);
  assert.equal(opened.url(), "https://lemonbooks.example/terms");
  assert.equal(await page.locator("iframe").count(), 1, "the form is still there");
});

const long = "Sehr-langer-Produktname-ohne-jede-Pause-".repeat(4);
const inWriting = {
  de: [{ name: long, quantity: 9_999, amount: 99_000_000 }, ...few],
  ar: [
    { name: "كتاب الطبخ بالليمون", quantity: 2, amount: 4_990 },
    { name: "Apron (cotton)", quantity: 1, amount: 1_500 },
    { name: "خصم", quantity: 1, amount: -500 },
  ],
  ja: [
    { name: "レモンの料理本 ハードカバー 特装版", quantity: 2, amount: 4_990 },
    { name: "エプロン", quantity: 3, amount: 1_500 },
    ...few,
  ],
};
const variants: readonly (readonly [string, BrowserContextOptions])[] = [320, 390, 1_280].flatMap((width) =>
  (["light", "dark"] as const).map((colorScheme): readonly [string, BrowserContextOptions] => [
    `${width}-${colorScheme}`,
    { viewport: { width, height: width < 1_000 ? 740 : 800 }, colorScheme },
  ]),
);

inBrowser.alone("cuts nothing off in any script, on the smallest phone and on a desktop", async () => {
  for (const [locale, lines] of Object.entries(inWriting)) {
    const { link } = await orderOf(lines, { locale, currency: locale === "ja" ? "JPY" : "EUR" });
    for (const [variant, options] of variants) {
      const { page, close } = await inBrowser.open(options);
      await page.goto(link);
      await formReady(page);
      const fold = page.locator(".lines summary");
      if ((await fold.count()) > 0) await fold.click();
      await takeScreenshot(page, `30-lines-${locale}-${variant}`);
      const width = Number(await page.evaluate("document.documentElement.scrollWidth"));
      assert.ok(width <= (options.viewport?.width ?? 0), `${locale} ${variant}`);
      await close();
    }
  }
  const paid = await orderOf(inWriting.ar, { locale: "ar" });
  const { page, close } = await inBrowser.open({ viewport: { width: 320, height: 740 }, colorScheme: "dark" });
  await page.goto(paid.link);
  await payWithTestCard(page, cards.succeeds).catch(() => page.locator("button.pay").click());
  await seeScreen(page, "تم الدفع بنجاح");
  await takeScreenshot(page, "31-lines-paid-ar");
  assert.ok(Number(await page.evaluate("document.documentElement.scrollWidth")) <= 320);
  await close();
});

test.run();
