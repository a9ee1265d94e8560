// Buyers pay on the hosted page with every test card and through every fault. No buyer pays twice, and no paid order is
// shown as failed.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { addAccount } from "../contract/operator.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { formReady, newOrder, payButton, payWith, payWithTestCard, seeScreen, typeCard } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("pay");
const slowCard = "4000000000006009";

const paid = (page: Page) => seeScreen(page, "Payment successful");
const refused = (text: string) => (page: Page) => page.getByRole("alert").getByText(text).waitFor();
const passed = (then: (page: Page) => Promise<void>) => async (page: Page) => {
  await page.frameLocator("iframe").getByRole("button", { name: "Authenticate", exact: true }).click();
  await then(page);
};
const endings: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  "4242424242424242": paid,
  "4000000000000259": paid,
  "4000000000001976": paid,
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

inBrowser("every test card ends on its screen and is charged at most once", async ({ context }) => {
  const own = await freshMerchant(site.stack);
  const entries = Object.entries(endings);
  const queue = [...entries];
  // Four tabs in parallel, since slow cards mostly wait.
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
});

inBrowser(
  "after a decline that the routing names the buyer enters the card again and pays at the next account",
  async ({ page }) => {
    const own = await freshMerchant(site.stack);
    const [first, second] = [
      (await own.api.get("/v1/merchants/me/connectors")).expect(200).text("data.0.id"),
      await addAccount(site.stack, own),
    ];
    const rules = [{ when: {}, use: [first, second] }];
    const routing = { rules, on_outage: "stop", on_decline: { codes: ["processing_error"], next: true }, version: 0 };
    (await own.api.put("/v1/merchants/me/routing", routing)).expect(200);
    await page.goto((await newOrder(own)).link);
    await payWith(page, "4000000000000119");
    await page.getByRole("alert").getByText("Please enter it again").waitFor();
    await payWith(page, cards.succeeds);
    await paid(page);
    const list = (await own.api.get("/v1/payments")).expect(200);
    assert.equal(list.number("total"), 1);
    const payment = (await own.api.get(`/v1/payments/${list.text("data.0.id")}`)).expect(200);
    assert.equal(payment.text("status"), "succeeded");
    assert.deepEqual(payment.at("routing"), { rule: 1, reason: "decline" });
    assert.deepEqual([payment.at("attempts.0.connector"), payment.at("attempts.1.connector")], [first, second]);
  },
);

inBrowser("a second tab shows the first tab's payment and cannot pay again", async ({ context, page }) => {
  const order = await newOrder(site.merchant);
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
  await seeScreen(third, "Payment successful");
  assert.match(third.url(), /\?receipt=[\w-]{43}$/);
  assert.equal(sent.length, 1);
});

inBrowser("a double click on Pay sends one card", async ({ page }) => {
  const sent: string[] = [];
  page.on("request", (request) => request.url().endsWith("/pay") && sent.push(request.url()));
  await page.goto((await newOrder(site.merchant)).link);
  await typeCard(page, cards.succeeds);
  await payButton(page).dblclick();
  await paid(page);
  assert.equal(sent.length, 1);
});

inBrowser("sends nothing while offline, and the buyer pays once online", async ({ context, page }) => {
  await page.goto((await newOrder(site.merchant)).link);
  await typeCard(page, cards.succeeds);
  await context.setOffline(true);
  await payButton(page).click();
  await refused("You seem to be offline")(page);
  await context.setOffline(false);
  await payButton(page).click();
  await paid(page);
});

inBrowser("a lost confirm shows processing, never failed, and then paid", async ({ page }) => {
  let isCut = true;
  await page.route(/\/v1\/checkout\/.*/, (route) => (isCut ? route.abort() : route.continue()));
  isCut = false;
  await page.goto((await newOrder(site.merchant)).link);
  await typeCard(page, cards.succeeds);
  page.on("response", (response) => (isCut ||= response.url().endsWith("/pay")));
  await payButton(page).click();
  await seeScreen(page, "Your payment is being processed");
  assert.equal(await page.getByRole("alert").count(), 0);
  isCut = false;
  page.removeAllListeners("response");
  await paid(page);
});

const kept = (page: Page) => page.evaluate("JSON.stringify({ ...sessionStorage, ...localStorage })");

inBrowser("drops the secret from the tab when the session ends, and a reload still shows the end", async ({ page }) => {
  const order = await newOrder(site.merchant);
  await page.goto(order.link);
  await formReady(page);
  assert.match(String(await kept(page)), new RegExp(order.secret));
  await payWith(page, cards.succeeds);
  await paid(page);
  assert.doesNotMatch(String(await kept(page)), /cs_secret_/);
  await page.reload();
  await seeScreen(page, "Payment successful");
  const expired = await newOrder(site.merchant);
  (await site.merchant.api.post(`/v1/checkout-sessions/${expired.id}/expire`)).expect(200);
  await page.goto(expired.link);
  await seeScreen(page, "This payment link has expired");
  assert.doesNotMatch(String(await kept(page)), /cs_secret_/);
  await page.reload();
  await seeScreen(page, "This payment link has expired");
});

inBrowser("returns to the shop with id and status, never the secret; back shows the paid screen", async ({ page }) => {
  const order = await newOrder(site.merchant, { success_url: `${site.stack.processor}/healthz?order=7#done` });
  await page.goto(order.link);
  await payWith(page, cards.succeeds);
  await page.getByRole("link", { name: /^Return to / }).click();
  await page.waitForURL(`${site.stack.processor}/healthz?order=7&session_id=${order.id}&status=completed#done`);
  await page.goBack();
  await seeScreen(page, "Payment successful");
  assert.equal(await page.getByRole("button", { name: "Stay here" }).count(), 0);
});

inBrowser("can be paid with a keyboard only", async ({ page }) => {
  await page.goto((await newOrder(site.merchant)).link);
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

inBrowser("removes the secret from the address bar and sends it to the API only", async ({ page }) => {
  const order = await newOrder(site.merchant);
  const leaks: string[] = [];
  page.on("request", (request) => {
    const isOurs = request.url().startsWith(`${site.stack.gateway}/v1/checkout/${order.id}`);
    const requestText = request.url() + JSON.stringify(request.headers());
    if (requestText.includes(order.secret) && !isOurs) leaks.push(request.url());
  });
  await page.goto(order.link);
  await formReady(page);
  assert.equal(page.url(), `${site.stack.gateway}/c/${order.id}`);
  const { page: lost, close } = await inBrowser.open();
  await lost.goto(`${site.stack.gateway}/c/${order.id}?secret=${order.secret}&locale=de`);
  await lost.getByRole("button", { name: "10,50 € bezahlen" }).waitFor();
  assert.equal(lost.url(), `${site.stack.gateway}/c/${order.id}?locale=de`);
  await close();
  assert.deepEqual(leaks, []);
});

inBrowser("needs three requests until the first paint and has no layout shift", async ({ page }) => {
  const requests: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  const order = await newOrder(site.merchant);
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
