// A buyer comes back from the processor's page: in the tab that began, in another browser, and in one without storage.
// Nobody who has paid reads that a link is not valid, and the return address opens nothing but how the session stands.
import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { api } from "../harness/api.ts";
import { browserSuite, shoot } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { confirmOrder, formReady, newOrder, type Order, payWith, seeScreen } from "./buyer.ts";

const test = suite("return from the processor", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const thanks = "https://lemonbooks.example/thanks?order=7";
const cart = "https://lemonbooks.example/cart?order=7";
let running: StackInfo;
let merchant: TestMerchant;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
  (await merchant.api.patch("/v1/merchants/me/branding", { display_name: "Lemon Books" })).expect(200);
  const connector = (await merchant.api.get("/v1/merchants/me/connectors")).expect(200).text("data.0.id");
  const choice = { selected_surface: "redirect" };
  (await merchant.api.patch(`/v1/merchants/me/connectors/${connector}`, choice)).expect(200);
});

const order = () => newOrder(merchant, { success_url: thanks, cancel_url: cart });

/** As a browser does whose owner has switched storage off. */
const withoutStorage = (page: Page) =>
  page.addInitScript(`for (const name of ["sessionStorage", "localStorage"])
    Object.defineProperty(globalThis, name, { get() { throw new DOMException("denied", "SecurityError"); } });`);

/** Follows the processor's page to the return address, without opening that. */
async function returnAddressOf(page: Page, pay: (page: Page) => Promise<void>): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const isReturn = (url: URL) => url.origin === running.gateway && url.searchParams.has("processor_status");
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
  await page.locator("#number").fill(cards.succeeds);
  await page.locator("#expiry").fill("12 / 40");
  await page.locator("#cvc").fill("123");
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
    `who has paid at the processor and comes back ${where} reads so, and gets to the shop`,
    async ({ page }) => {
      const opened = await order();
      const { page: first, close } = await inBrowser.open();
      const begins = prepare ? page : first;
      await prepare?.(begins);
      await begins.goto(opened.link);
      const address = await returnAddressOf(begins, payAtProcessor);
      assert.ok(!address.includes(opened.secret.slice(-43)), "the secret does not pass the processor");
      await page.goto(address);
      await seeScreen(page, "Payment successful");
      await noInvitation(page);
      assert.equal(await returnQuery(page), `?order=7&session_id=${opened.id}&status=completed`);
      await shoot(page, prepare ? "51-returned-without-storage" : "50-returned-elsewhere");
      await page.route("https://lemonbooks.example/**", (route) => route.fulfill({ body: "Thank you" }));
      await page.waitForURL(/lemonbooks\.example\/thanks/);
      await page.goBack();
      await seeScreen(page, "Payment successful");
      assert.equal(await page.getByRole("button", { name: "Stay here" }).count(), 0, "nobody is sent away again");
      await close();
    },
  );
}

inBrowser("in the tab that began the page itself comes back, and says paid", async ({ page }) => {
  await page.goto((await order()).link);
  await page.goto(await returnAddressOf(page, payAtProcessor));
  await seeScreen(page, "Payment successful");
  await page.getByText("Amount").waitFor();
});

inBrowser("an open session is being checked, then open, and paid as soon as it is paid", async ({ page }) => {
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
  assert.ok(pollCount < 12, `${pollCount} questions`);
  assert.equal(await page.locator("button.pay, iframe").count(), 0, "nothing to pay with");
  await payAtProcessor(first);
  await seeScreen(first, "Payment successful");
  await confirmOrder(running, opened);
  await page.clock.fastForward(30_000);
  await seeScreen(page, "Payment successful");
  await close();
});

/** The address that this session's processor was given. */
async function returnTo({ id, secret }: Order): Promise<string> {
  return (await api(running.gateway).get(`/v1/checkout/${id}?secret=${secret}`)).expect(200).text("return_url");
}

inBrowser("a session that ended unpaid says so, with the way back", async ({ page }) => {
  const opened = await order();
  const address = await returnTo(opened);
  (await merchant.api.post(`/v1/checkout-sessions/${opened.id}/expire`)).expect(200);
  await page.goto(address);
  await seeScreen(page, "This payment link has expired");
  assert.equal(await returnQuery(page), `?order=7&session_id=${opened.id}&status=expired`);
});

inBrowser("without a token, and with a wrong one, nobody is asked for another payment", async ({ page }) => {
  const opened = await order();
  for (const query of ["", "?processor_status=succeeded", `?return=${"A".repeat(43)}`, "?return="]) {
    await page.goto(`${running.gateway}/c/${opened.id}${query}`);
    const title = query.includes("processor")
      ? "Your payment cannot be shown in this browser"
      : "This link is not valid";
    await seeScreen(page, title);
    await noInvitation(page);
    await page.getByText("the shop can see your payment").waitFor();
  }
});

inBrowser("without storage a reload opens the payment again, and says paid after it", async ({ page }) => {
  const embedded = await freshMerchant(running);
  const opened = await newOrder(embedded);
  await withoutStorage(page);
  await page.goto(opened.link);
  await formReady(page);
  assert.ok(!page.url().includes(opened.secret));
  await page.reload();
  await payWith(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
  await page.reload();
  await seeScreen(page, "This payment was already made");
  assert.doesNotMatch(String(await page.evaluate("JSON.stringify(history.state)")), /cs_secret_/);
});

test("a return token tells the status and the shop's addresses, and opens nothing else", async () => {
  const [opened, other] = [await order(), await order()];
  const token = new URL(await returnTo(opened)).searchParams.get("return") ?? "";
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  const state = (id: string, returnToken: string) => api(running.gateway).get(`/c/${id}/state?return=${returnToken}`);
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
  const madeOfIt = `cs_secret_${opened.id.slice(3)}_${token}`;
  for (const secret of [token, madeOfIt]) {
    const path = `/v1/checkout/${opened.id}`;
    assert.equal((await api(running.gateway).get(`${path}?secret=${secret}`)).status, 404);
    assert.equal((await api(running.gateway).post(`${path}/confirm?secret=${secret}`)).status, 404);
    const mail = { customer_email: "eve@example.com" };
    assert.equal((await api(running.gateway).post(`${path}/email?secret=${secret}`, mail)).status, 404);
  }
});

test.run();
