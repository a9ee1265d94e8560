// The docs in a real browser: layout, search, languages of code samples, reading without scripts, and "Try it" on a
// local stack.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { ownGateway } from "../contract/own-gateway.ts";
import { desktop, phone } from "../harness/browser.ts";
import { axeViolations, pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("docs");

const open = (page: Page, path: string, gateway = site.stack.gateway) => page.goto(`${gateway}${path}`);
const shown = (page: Page, language: string) =>
  page.locator(`#createCheckoutSession ~ .shows figure[data-lang="${language}"]`).isVisible();

const variants = [
  ["phone", { viewport: phone }],
  ["phone, dark", { viewport: phone, colorScheme: "dark" }],
  ["desktop", { viewport: desktop }],
  ["desktop, dark", { viewport: desktop, colorScheme: "dark" }],
] as const;
// These two pages contain all dark colours.
const inDark = ["/docs/webhooks", "/docs/api/payments"];
const kinds = [...inDark, "/", "/docs", "/docs/api/errors", "/docs/test-cards", "/docs/node", "/docs/nope"];

for (const [variant, options] of variants) {
  inBrowser(
    `pages have no axe violations and fit the screen: ${variant}`,
    async ({ page }) => {
      for (const path of "colorScheme" in options ? inDark : kinds) {
        await open(page, path);
        assert.deepEqual(await axeViolations(page), [], path);
        const width = Number(await page.evaluate("document.documentElement.scrollWidth"));
        assert.ok(width <= options.viewport.width, `${path}: ${width}`);
      }
    },
    options,
  );
}

inBrowser("on a phone a page opens at its title, and the menu works without scripts", async ({ page }) => {
  await page.route("**/*.js", (route) => route.abort());
  await open(page, "/docs/webhooks");
  const title = await page.getByRole("heading", { level: 1, name: "Webhooks" }).boundingBox();
  assert.ok(title && title.y < 120, "the title is at the top");
  const menu = page.getByRole("navigation", { name: "All pages" });
  assert.equal(await menu.isVisible(), false);
  await page.getByRole("button", { name: "Menu" }).click();
  await menu.getByRole("link", { name: "Test cards" }).click();
  await page.getByRole("heading", { level: 1, name: "Test cards" }).waitFor();
  assert.equal(await page.getByRole("navigation", { name: "All pages" }).isVisible(), false);
});

inBrowser(
  "without scripts all languages are visible with their names, and there are no dead buttons",
  async ({ page }) => {
    await open(page, "/docs/api/checkout-sessions");
    for (const language of ["curl", "node", "python"]) assert.ok(await shown(page, language), language);
    assert.ok(await page.locator("figcaption", { hasText: "Python" }).first().isVisible());
    assert.equal(await page.getByRole("button").filter({ visible: true }).count(), 0);
  },
  { viewport: desktop, javaScriptEnabled: false },
);

inBrowser(
  "remembers the chosen language for every page",
  async ({ page, context }) => {
    await open(page, "/docs/api/checkout-sessions");
    assert.deepEqual([await shown(page, "curl"), await shown(page, "python")], [true, false]);
    await page.getByRole("button", { name: "Python" }).first().click();
    assert.deepEqual([await shown(page, "curl"), await shown(page, "python")], [false, true]);
    const other = await context.newPage();
    await open(other, "/docs/api/checkout-sessions");
    assert.deepEqual([await shown(other, "curl"), await shown(other, "python")], [false, true]);
    const pressed = other.locator('[data-choose="python"]').first();
    assert.equal(await pressed.getAttribute("aria-pressed"), "true");
  },
  { viewport: desktop },
);

inBrowser(
  "a copy button copies the shown code",
  async ({ page }) => {
    await open(page, "/docs/quickstart");
    const figure = page.locator("figure.code").filter({ hasText: "npm start" }).first();
    await figure.hover();
    await figure.getByRole("button", { name: "Copy" }).click();
    await figure.getByRole("button", { name: "Copied" }).waitFor();
    assert.equal(await page.evaluate("navigator.clipboard.readText()"), "npm start");
  },
  { viewport: desktop, permissions: ["clipboard-read", "clipboard-write"] },
);

inBrowser(
  "the search loads on demand, finds operations, codes and guides, and works by keyboard",
  async ({ page }) => {
    const requested: string[] = [];
    page.on("request", (request) => requested.push(new URL(request.url()).pathname));
    await open(page, "/docs");
    assert.ok(!requested.some((path) => path.startsWith("/docs/search")));
    for (const [words, heading, address] of [
      ["how do I refund a payment", "Refund a payment", "/docs/refunds#refund-a-payment"],
      ["idempotency_key_reuse", "idempotency_key_reuse", "/docs/api/errors#idempotency_key_reuse"],
      ["verify in your code", "Verify a webhook in your code", "/docs/webhooks#verify-a-webhook-in-your-code"],
    ] as const) {
      await page.keyboard.press("/");
      const search = page.getByRole("dialog", { name: "Search the docs" });
      await search.getByRole("searchbox").fill(words);
      await search.getByRole("link", { name: heading }).first().waitFor();
      await search.locator("li:first-child mark").first().waitFor();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.waitForURL(`**${address}`);
    }
    await page.keyboard.press("Control+k");
    await page.getByRole("searchbox").fill("zzzzqq");
    await page.getByText("No results.").waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "hidden" });
  },
  { viewport: desktop },
);

inBrowser(
  "on a desktop the navigation marks the current page, and headings link to themselves",
  async ({ page }) => {
    await open(page, "/");
    await page.getByRole("link", { name: "All pages" }).click();
    const menu = page.getByRole("navigation", { name: "All pages" });
    for (const name of ["Changelog", "Versions", "Rate limits", "Webhooks"]) {
      await menu.getByRole("link", { name, exact: true }).first().click(); // guides come before the reference
      await page.getByRole("heading", { level: 1, name }).waitFor();
      assert.equal(await menu.locator("[aria-current=page]").innerText(), name);
      const [menuBox, article] = [await menu.boundingBox(), await page.locator("article").boundingBox()];
      assert.ok(menuBox && article && menuBox.x + menuBox.width <= article.x, name);
    }
    const heading = page.getByRole("heading", { name: "Retries" });
    await heading.getByRole("link").click();
    const address = page.url();
    assert.equal(new URL(address).hash, "#retries");
    await page.goto("about:blank");
    await page.goto(address);
    const box = await heading.boundingBox();
    assert.ok(box && box.y >= 0 && box.y < desktop.height, "the URL opens at the heading");
  },
  { viewport: desktop },
);

inBrowser("redirects old URLs of the one-page reference", async ({ page }) => {
  await open(page, "/docs#createRefund");
  await page.waitForURL("**/docs/api/refunds#createRefund");
  await open(page, "/docs#not_found");
  await page.waitForURL("**/docs/api/errors#not_found");
});

inBrowser(
  "tries an operation on a local stack with a pasted sandbox key that is not stored",
  async ({ page, context }) => {
    await open(page, "/docs/api/checkout-sessions");
    const section = page.locator("section", { has: page.locator("#createCheckoutSession") });
    await section.getByText("Try it on this stack").click();
    const key = section.getByLabel("Sandbox API key");
    await key.fill("sk_live_0123456789");
    await section.getByRole("button", { name: "Send POST" }).click();
    await section.getByText("Live keys are not accepted here").waitFor();
    const sent: string[] = [];
    page.on("request", (request) => sent.push(new URL(request.url()).host));
    await key.fill(site.merchant.apiKey);
    await section.getByRole("button", { name: "Send POST" }).click();
    await section.getByText(/^201 · req_/).waitFor();
    const answer = section.getByRole("group", { name: "Response", exact: true });
    assert.match((await answer.last().textContent()) ?? "", /"checkout_url": /);
    assert.deepEqual([...new Set(sent)], [new URL(site.stack.gateway).host]);
    assert.deepEqual(await axeViolations(page), []);
    const kept = await page.evaluate("JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])");
    assert.ok(!String(kept).includes(site.merchant.apiKey) && (await context.cookies()).length === 0);
    await page.reload();
    await section.getByText("Try it on this stack").click();
    assert.equal(await section.getByLabel("Sandbox API key").inputValue(), "");
  },
  { viewport: desktop },
);

inBrowser(
  "does not offer to try operations without a local stack or under another host name",
  async ({ page }) => {
    const other = await ownGateway(site.stack);
    try {
      const stackResponse = page.waitForResponse("**/docs/stack.json");
      await open(page, "/docs/api/checkout-sessions", other.gateway);
      assert.deepEqual(await (await stackResponse).json(), { is_local: false });
      await page.waitForLoadState("networkidle");
      assert.equal(await page.getByText("Try it on this stack").count(), 0);
    } finally {
      await other.stop();
    }
    const paths: string[] = [];
    page.on("request", (request) => paths.push(new URL(request.url()).pathname));
    await page.route("http://docs.example/**", async (route) => {
      const { pathname } = new URL(route.request().url());
      await route.fulfill({ response: await route.fetch({ url: `${site.stack.gateway}${pathname}` }) });
    });
    await open(page, "/docs/api/checkout-sessions", "http://docs.example");
    await page.waitForLoadState("networkidle");
    assert.ok(paths.includes("/docs/site.js") && !paths.includes("/docs/stack.json"));
    assert.equal(await page.getByText("Try it on this stack").count(), 0);
  },
  { viewport: desktop },
);

test.run();
