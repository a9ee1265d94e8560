// A buyer returns from the processor's page: in the same tab, in another browser, and without storage. A paid session
// never looks invalid, and the return URL reveals only the session's status.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { apiClient } from "../harness/api.ts";
import { takeScreenshot } from "../harness/browser.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { confirmOrder, fillCard, formReady, newOrder, type Order, payWith, seeScreen } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("return from the processor", { branding: { display_name: "Lemon Books" } });
const thanks = "https://lemonbooks.example/thanks?order=7";
const cart = "https://lemonbooks.example/cart?order=7";

test.before(async () => {
  const connector = (await site.merchant.api.get("/v1/merchants/me/connectors")).expect(200).text("data.0.id");
  const choice = { selected_surface: "redirect" };
  (await site.merchant.api.patch(`/v1/merchants/me/connectors/${connector}`, choice)).expect(200);
});

const order = () => newOrder(site.merchant, { success_url: thanks, cancel_url: cart });

/** Simulates disabled storage. */
const withoutStorage = (page: Page) =>
  page.addInitScript(`for (const name of ["sessionStorage", "localStorage"])
    Object.defineProperty(globalThis, name, { get() { throw new DOMException("denied", "SecurityError"); } });`);

/** Pays on the processor's page and intercepts the return URL. */
async function returnAddressOf(page: Page, pay: (page: Page) => Promise<void>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const isReturn = (url: URL) => url.origin === site.stack.gateway && url.searchParams.has("processor_status");
  await page.context().route(isReturn, async (route) => {
    resolve(route.request().url());
    await route.fulfill({ contentType: "text/html", body: "" });
  });
  await page.getByRole("button", { name: "Continue to payment" }).click();
  await pay(page);
  const address = await promise;
  await page.context().unroute(isReturn);
  return address;
}

async function payAtProcessor(page: Page): Promise<void> {
  await page.locator("#pay:enabled").waitFor();
  await fillCard(page, cards.succeeds);
  await page.locator("#pay").click();
}

const returnQuery = async (page: Page) =>
  new URL((await page.getByRole("link", { name: "Return to Lemon Books" }).getAttribute("href")) ?? "").search;
const noInvitation = async (page: Page) =>
  assert.doesNotMatch(await page.locator("main").innerText(), /new (link|one)|try again|you can pay/i);

for (const [where, prepare] of [
  ["in another browser", undefined],
  ["in a browser without storage", withoutStorage],
] as const) {
  inBrowser(
    `a buyer who paid at the processor and returns ${where} sees the paid screen and gets to the shop`,
    async ({ page }) => {
      const opened = await order();
      const { page: first, close } = await inBrowser.open();
      const begins = prepare ? page : first;
      await prepare?.(begins);
      await begins.goto(opened.link);
      const address = await returnAddressOf(begins, payAtProcessor);
      assert.ok(!address.includes(opened.secret.slice(-43)), "the processor does not get the secret");
      await page.goto(address);
      await seeScreen(page, "Payment successful");
      await noInvitation(page);
      assert.equal(await returnQuery(page), `?order=7&session_id=${opened.id}&status=completed`);
      await takeScreenshot(page, prepare ? "51-returned-without-storage" : "50-returned-elsewhere");
      await page.route("https://lemonbooks.example/**", (route) => route.fulfill({ body: "Thank you" }));
      await page.waitForURL(/lemonbooks\.example\/thanks/);
      await page.goBack();
      await seeScreen(page, "Payment successful");
      assert.equal(await page.getByRole("button", { name: "Stay here" }).count(), 0, "no second redirect");
      await close();
    },
  );
}

inBrowser("shows the paid screen on return in the same tab", async ({ page }) => {
  await page.goto((await order()).link);
  await page.goto(await returnAddressOf(page, payAtProcessor));
  await seeScreen(page, "Payment successful");
  await page.getByText("Amount").waitFor();
});

inBrowser("shows an open session as checking, then open, then paid", async ({ page }) => {
  const opened = await order();
  const { page: first, close } = await inBrowser.open();
  await first.goto(opened.link);
  await first.getByRole("button", { name: "Continue to payment" }).click();
  await first.locator("#pay:enabled").waitFor();
  await page.clock.install();
  await page.goto(await returnTo(opened));
  await seeScreen(page, "Checking your payment");
  await noInvitation(page);
  let pollCount = 0;
  page.on("request", (request) => (pollCount += Number(request.url().includes("/state?"))));
  await page.clock.fastForward(30_000);
  await seeScreen(page, "No payment has arrived yet");
  await noInvitation(page);
  assert.equal(await returnQuery(page), `?order=7&session_id=${opened.id}&status=open`);
  assert.ok(pollCount < 12, `${pollCount} polls`);
  assert.equal(await page.locator("button.pay, iframe").count(), 0, "cannot pay");
  await payAtProcessor(first);
  await seeScreen(first, "Payment successful");
  await confirmOrder(site.stack, opened);
  await page.clock.fastForward(30_000);
  await seeScreen(page, "Payment successful");
  await close();
});

async function returnTo({ id, secret }: Order): Promise<string> {
  return (await apiClient(site.stack.gateway).get(`/v1/checkout/${id}?secret=${secret}`))
    .expect(200)
    .text("return_url");
}

inBrowser("shows a session that ended unpaid, with the return link", async ({ page }) => {
  const opened = await order();
  const address = await returnTo(opened);
  (await site.merchant.api.post(`/v1/checkout-sessions/${opened.id}/expire`)).expect(200);
  await page.goto(address);
  await seeScreen(page, "This payment link has expired");
  assert.equal(await returnQuery(page), `?order=7&session_id=${opened.id}&status=expired`);
});

inBrowser("never asks for another payment without a token or with a wrong one", async ({ page }) => {
  const opened = await order();
  for (const query of ["", "?processor_status=succeeded", `?return=${"A".repeat(43)}`, "?return="]) {
    await page.goto(`${site.stack.gateway}/c/${opened.id}${query}`);
    const title = query.includes("processor")
      ? "Your payment cannot be shown in this browser"
      : "This link is not valid";
    await seeScreen(page, title);
    await noInvitation(page);
    await page.getByText("the shop can see your payment").waitFor();
  }
});

inBrowser("reopens the payment after a reload without storage", async ({ page }) => {
  const embedded = await freshMerchant(site.stack);
  const opened = await newOrder(embedded);
  await withoutStorage(page);
  await page.goto(opened.link);
  await formReady(page);
  assert.ok(!page.url().includes(opened.secret));
  await page.reload();
  await payWith(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
  await page.reload();
  await seeScreen(page, "Payment successful");
  assert.doesNotMatch(String(await page.evaluate("JSON.stringify(history.state)")), /cs_secret_/);
});

test("a return token reads only the status and the shop's URLs", async () => {
  const [opened, other] = [await order(), await order()];
  const token = new URL(await returnTo(opened)).searchParams.get("return") ?? "";
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  const state = (id: string, returnToken: string) =>
    apiClient(site.stack.gateway).get(`/c/${id}/state?return=${returnToken}`);
  const answer = (await state(opened.id, token)).expect(200);
  assert.deepEqual(JSON.parse(answer.raw), { status: "open", success_url: thanks, cancel_url: cart });
  assert.equal(answer.headers.get("cache-control"), "no-store");
  for (const [id, returnToken] of [
    [other.id, token],
    [opened.id, opened.secret],
    [opened.id, `${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`],
    [opened.id, ""],
    ["cs_01jd3v9q6k8m2n4p6r8t0v2x4z", token],
  ] as const) {
    assert.equal((await state(id, returnToken)).status, 404);
  }
  const forged = `cs_secret_${opened.id.slice(3)}_${token}`;
  for (const secret of [token, forged]) {
    const path = `/v1/checkout/${opened.id}`;
    assert.equal((await apiClient(site.stack.gateway).get(`${path}?secret=${secret}`)).status, 404);
    assert.equal((await apiClient(site.stack.gateway).post(`${path}/confirm?secret=${secret}`)).status, 404);
    const mail = { customer_email: "eve@example.com" };
    assert.equal((await apiClient(site.stack.gateway).post(`${path}/email?secret=${secret}`, mail)).status, 404);
  }
});

test.run();
