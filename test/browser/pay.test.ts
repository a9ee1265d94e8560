// Buyers on the hosted page, from the link to the last screen: every test card, and everything that goes wrong on the
// way. Nobody pays twice, and nobody is told that a paid order failed.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite, shoot } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { formReady, newOrder, payButton, payWith, payWithTestCard, seeScreen, typeCard } from "./buyer.ts";

const test = suite("pay", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const slowCard = "4000000000006009";
let running: StackInfo;
let merchant: TestMerchant;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
});

const paid = (page: Page) => seeScreen(page, "Payment successful");
const refused = (text: string) => (page: Page) => page.getByRole("alert").getByText(text).waitFor();
const passed = (then: (page: Page) => Promise<void>) => async (page: Page) => {
  await page.frameLocator("iframe").getByRole("button", { name: "Authenticate", exact: true }).click();
  await then(page);
};
const endings: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  "4242424242424242": paid,
  "4000000000000259": paid,
  "4000000000005126": paid,
  [slowCard]: paid,
  "4000000000006108": paid,
  "4000000000006306": paid,
  "4000000000006405": paid,
  "4000002500003155": passed(paid),
  "4000008400001629": passed(refused("Your card was declined")),
  "4000000000000002": refused("Your card was declined"),
  "4000000000009995": refused("enough funds"),
  "4000000000000069": refused("Check the card details"),
  "4000000000000127": refused("Check the card details"),
  "4000000000000119": refused("could not be processed just now"),
  "4100000000000019": refused("Your card was declined"),
  "4000000000006207": refused("you were not charged"),
};

inBrowser(
  "every test card leads from the link to its screen, and is charged once or not at all",
  async ({ context }) => {
    const own = await freshMerchant(running);
    const entries = Object.entries(endings);
    const queue = [...entries];
    // Each tab is a visit of its own; four at once keep a small machine busy while the slow cards take their time.
    const tab = async () => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const [card, ending] = next;
        const page = await context.newPage();
        await page.goto((await newOrder(own)).link);
        await payWithTestCard(page, card);
        await ending(page).catch((cause) => Promise.reject(new Error(`card ${card}`, { cause })));
        await page.close();
      }
    };
    await Promise.all([tab(), tab(), tab(), tab()]);
    const list = (await own.api.get("/v1/payments?status=succeeded")).expect(200);
    const disputed = (await own.api.get("/v1/payments?status=disputed")).expect(200);
    const charged = entries.filter(([card, ending]) => ending === paid || card === cards.needsChallenge).length;
    assert.equal(list.number("total") + disputed.number("total"), charged);
  },
);

inBrowser("after a decline and a failed bank check the buyer pays with another card", async ({ page }) => {
  await page.goto((await newOrder(merchant)).link);
  await payWith(page, cards.declined);
  await refused("Your card was declined")(page);
  await payWith(page, cards.needsChallenge);
  await page.frameLocator("iframe").getByRole("button", { name: "Fail authentication" }).click();
  await refused("Your bank did not confirm")(page);
  await payWith(page, cards.succeeds);
  await paid(page);
});

inBrowser("a second tab learns that the first has paid, and cannot pay again", async ({ context, page }) => {
  const order = await newOrder(merchant);
  const sent: string[] = [];
  context.on("request", (request) => request.url().endsWith("/pay") && sent.push(request.url()));
  const [second, third] = [await context.newPage(), await context.newPage()];
  await Promise.all([page, second, third].map((tab) => tab.goto(order.link)));
  await Promise.all([second, third].map((tab) => typeCard(tab, cards.succeeds)));
  await payWith(page, cards.succeeds);
  await paid(page);
  await payButton(second).click();
  await paid(second);
  await third.evaluate(`dispatchEvent(new Event("online"))`);
  await seeScreen(third, "This payment was already made");
  assert.equal(sent.length, 1);
});

inBrowser("a double click on Pay sends one card", async ({ page }) => {
  const sent: string[] = [];
  page.on("request", (request) => request.url().endsWith("/pay") && sent.push(request.url()));
  await page.goto((await newOrder(merchant)).link);
  await typeCard(page, cards.succeeds);
  await payButton(page).dblclick();
  await paid(page);
  assert.equal(sent.length, 1);
});

inBrowser.alone(
  "a reload while the bank decides, or while the card is being sent, ends on the paid screen",
  async () => {
    const reload = async (card: string, waitUntilProcessing: (page: Page) => Promise<unknown>) => {
      const { page, close } = await inBrowser.open();
      await page.goto((await newOrder(merchant)).link);
      await typeCard(page, card);
      const processing = waitUntilProcessing(page);
      await payButton(page).click();
      await processing;
      await page.reload();
      await paid(page);
      await close();
    };
    await Promise.all([
      reload(cards.asynchronous, (page) => seeScreen(page, "Your payment is being processed")),
      reload(slowCard, (page) => page.waitForRequest(/\/form\/[^/]+\/pay$/)),
    ]);
  },
);

inBrowser("without a connection nothing is sent, and with one the buyer pays", async ({ context, page }) => {
  await page.goto((await newOrder(merchant)).link);
  await typeCard(page, cards.succeeds);
  await context.setOffline(true);
  await payButton(page).click();
  await refused("You seem to be offline")(page);
  await context.setOffline(false);
  await payButton(page).click();
  await paid(page);
});

inBrowser("a paid card whose confirm is lost is processing, never failed, and then paid", async ({ page }) => {
  let isCut = true;
  await page.route(/\/v1\/checkout\/.*/, (route) => (isCut ? route.abort() : route.continue()));
  isCut = false;
  await page.goto((await newOrder(merchant)).link);
  await typeCard(page, cards.succeeds);
  page.on("response", (response) => (isCut ||= response.url().endsWith("/pay")));
  await payButton(page).click();
  await seeScreen(page, "Your payment is being processed");
  assert.equal(await page.getByRole("alert").count(), 0);
  isCut = false;
  page.removeAllListeners("response");
  await paid(page);
});

inBrowser("an open page shows by itself that its link has expired", async ({ page }) => {
  const order = await newOrder(merchant);
  await page.goto(order.link);
  await formReady(page);
  (await merchant.api.post(`/v1/checkout-sessions/${order.id}/expire`)).expect(200);
  await page.evaluate(`dispatchEvent(new Event("online"))`);
  await seeScreen(page, "This payment link has expired");
  assert.equal(await page.locator("iframe").count(), 0);
});

/** What the tab keeps under any name. */
const kept = (page: Page) => page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })");

inBrowser(
  "once a session has ended its secret is gone from the tab; a reload still says how it ended",
  async ({ page }) => {
    const order = await newOrder(merchant);
    await page.goto(order.link);
    await formReady(page);
    assert.match(String(await kept(page)), new RegExp(order.secret));
    await payWith(page, cards.succeeds);
    await paid(page);
    assert.doesNotMatch(String(await kept(page)), /cs_secret_/);
    await page.reload();
    await seeScreen(page, "This payment was already made");
    const expired = await newOrder(merchant);
    (await merchant.api.post(`/v1/checkout-sessions/${expired.id}/expire`)).expect(200);
    await page.goto(expired.link);
    await seeScreen(page, "This payment link has expired");
    assert.doesNotMatch(String(await kept(page)), /cs_secret_/);
    await page.reload();
    await seeScreen(page, "This payment link has expired");
  },
);

inBrowser(
  "the shop hears the session's id and status, never its secret; back shows that it is paid",
  async ({ page }) => {
    const order = await newOrder(merchant, { success_url: `${running.processor}/healthz?order=7#done` });
    await page.goto(order.link);
    await payWith(page, cards.succeeds);
    await page.getByRole("link", { name: /^Return to / }).click();
    await page.waitForURL(`${running.processor}/healthz?order=7&session_id=${order.id}&status=completed#done`);
    await page.goBack();
    await seeScreen(page, "This payment was already made");
    assert.equal(await page.getByRole("button", { name: "Stay here" }).count(), 0);
  },
);

inBrowser("a keyboard alone is enough", async ({ page }) => {
  await page.goto((await newOrder(merchant)).link);
  await formReady(page);
  await page.keyboard.press("Tab");
  await page.keyboard.type("4242424242424242");
  await page.keyboard.press("Tab");
  await page.keyboard.type("1240");
  await page.keyboard.press("Tab");
  await page.keyboard.type("123");
  await page.keyboard.press("Enter");
  await paid(page);
});

inBrowser(
  "at 320 px nothing is cut off, in a language that is written from right to left",
  async ({ page }) => {
    const order = await newOrder(merchant, { locale: "ar", currency: "KWD", amount: 1_234_500 });
    await page.goto(order.link);
    await formReady(page);
    await shoot(page, "20-rtl-320");
    assert.equal(await page.getAttribute("html", "dir"), "rtl");
    assert.ok(Number(await page.evaluate("document.documentElement.scrollWidth")) <= 320);
    await page.locator(".test-cards summary").click();
    await page.locator(`[data-card="${cards.succeeds}"]`).click();
    await page.locator("button.pay").click();
    await seeScreen(page, "تم الدفع بنجاح");
    assert.ok(Number(await page.evaluate("document.documentElement.scrollWidth")) <= 320);
  },
  { viewport: { width: 320, height: 640 } },
);

inBrowser("the secret leaves the address at once, and no request carries it but ours to the API", async ({ page }) => {
  const order = await newOrder(merchant);
  const leaks: string[] = [];
  page.on("request", (request) => {
    const isOurs = request.url().startsWith(`${running.gateway}/v1/checkout/${order.id}`);
    const requestText = request.url() + JSON.stringify(request.headers());
    if (requestText.includes(order.secret) && !isOurs) leaks.push(request.url());
  });
  await page.goto(order.link);
  await formReady(page);
  assert.equal(page.url(), `${running.gateway}/c/${order.id}`);
  const { page: lost, close } = await inBrowser.open();
  await lost.goto(`${running.gateway}/c/${order.id}?secret=${order.secret}&locale=de`);
  await lost.getByRole("button", { name: "10,50 € bezahlen" }).waitFor();
  assert.equal(lost.url(), `${running.gateway}/c/${order.id}?locale=de`);
  await close();
  assert.deepEqual(leaks, []);
});

inBrowser(
  "without scripts the page says what it needs",
  async ({ page }) => {
    await page.goto((await newOrder(merchant)).link);
    const note = page.locator("noscript p").first();
    await note.waitFor();
    assert.match((await note.textContent()) ?? "", /needs JavaScript/);
  },
  { javaScriptEnabled: false },
);

inBrowser("three requests until the first paint, and nothing moves while the page fills", async ({ page }) => {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  const order = await newOrder(merchant);
  await page.addInitScript(`
    globalThis.shifts = 0; globalThis.lcp = 0;
    new PerformanceObserver((list) => list.getEntries().forEach((e) => (globalThis.shifts += e.value))).observe({ type: "layout-shift", buffered: true });
    new PerformanceObserver((list) => list.getEntries().forEach((e) => (globalThis.lcp = e.startTime))).observe({ type: "largest-contentful-paint", buffered: true });`);
  await page.goto(order.link);
  await formReady(page);
  const first = requests.slice(0, 3).map((url) => new URL(url).pathname.replace(/-\w+\./, "."));
  assert.deepEqual(first.sort(), [`/c/${order.id}`, "/c/files/page.css", "/c/files/page.js"]);
  const paint = await eventually("a paint", () => page.evaluate("globalThis.lcp"));
  const shifts = Number(await page.evaluate("globalThis.shifts"));
  console.log(`  largest contentful paint ${Math.round(Number(paint))} ms, layout shift ${shifts}`);
  assert.equal(shifts, 0);
});

test.run();
