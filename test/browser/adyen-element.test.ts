// Adyen's card fields on the hosted page, with stand-ins of Adyen Web and Adyen's API: only the webhook decides, a
// bank's page comes back and is finished, and a refusal leaves the session open. Adyen's real script is not tested.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { BrowserContext, Page } from "playwright-core";
import { connectPeer } from "#platform/rpc/client.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { outlastedMs, storedCredentials } from "../connectors/adyen-rig.ts";
import type { AdyenAccount } from "../harness/adyen/adyen-account.ts";
import { routeAdyen } from "../harness/adyen/adyen-browser.ts";
import { webFiles } from "../harness/adyen/adyen-web.ts";
import { FakeAdyen } from "../harness/adyen/fake-adyen.ts";
import { apiClient } from "../harness/api.ts";
import { browserSuite, type Visit } from "../harness/browser.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { startTestStack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { confirmOrder, formReady, newOrder, type Order, payButton, paymentsOf, seeScreen } from "./buyer.ts";

const test = suite("Adyen's card fields", { timeoutMs: 60_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
const paidCard = "4111 1111 1111 1111";
const challengedCard = "4212 3456 7891 0006";
let fake: FakeAdyen;
let adyen: AdyenAccount;
let running: RunningStack;
let merchant: TestMerchant;

test.before(async () => {
  fake = await new FakeAdyen().start();
  const { merchant_account, api_key, client_key, hmac_key, webhook_user, webhook_password } = storedCredentials;
  adyen = fake.account(merchant_account, {
    ...{ apiKey: api_key, clientKey: client_key, hmacKey: hmac_key },
    ...{ webhookUser: webhook_user, webhookPassword: webhook_password },
  });
  running = await startTestStack({ shape: "one", env: { ADYEN_API_URL: fake.url } });
  merchant = await freshMerchant(running.stack);
  const operator = connectPeer({ url: running.stack.rpc.payments, token: running.stack.rpc_token });
  const added = { merchantId: merchant.id, environment: Environment.SANDBOX, connector: "adyen", makeDefault: true };
  await operator.client(ConnectorAccountService).addConnectorAccount({ ...added, credentials: storedCredentials });
  operator.close();
});
test.after(async () => {
  await running?.stop();
  await fake?.stop();
});

/** The page pins Adyen's own files; the stand-in's have other hashes. */
async function pinStandIn(context: BrowserContext): Promise<void> {
  const hashOf = (file: string) =>
    `sha384-${createHash("sha384")
      .update(webFiles[file] ?? "")
      .digest("base64")}`;
  await context.route(/\/v1\/checkout\/cs_\w+(?:\?|$)/, async (route) => {
    const response = await route.fetch().catch(() => undefined); // the page is gone
    if (!response) return;
    const session = membersOf(await response.json());
    const render = membersOf(session.render);
    const pinned = { script_integrity: hashOf("adyen.js"), style_integrity: hashOf("adyen.css") };
    const json = session.render ? { ...session, render: { ...render, ...pinned } } : session;
    await route.fulfill({ response, json });
  });
}

/** Opens an order's page with its fields. */
async function open({ page, context }: Visit, order?: Order): Promise<Order> {
  const opened = order ?? (await newOrder(merchant));
  await routeAdyen(context, fake.url);
  await pinStandIn(context);
  await page.goto(opened.link);
  await formReady(page);
  return opened;
}

async function pay(page: Page, number: string, holder = "Ada"): Promise<void> {
  const fields = page.frameLocator("iframe");
  await fields.getByLabel("Card number").fill(number);
  await fields.getByLabel("Name on card").fill(holder);
  await payButton(page).click();
}

/** Adyen sends its webhooks; the page has nothing else that decides. */
async function deliver(): Promise<void> {
  await adyen.send(`${running.stack.gateway}/processors/adyen/${adyen.name}`, { shuffle: true, double: true });
  assert.deepEqual(adyen.queue, []);
}

const pathOf = ({ id, secret }: Order) => `/v1/checkout/${id}?secret=${secret}`;
const waits = (page: Page) => seeScreen(page, "Your payment is being processed");
const succeeds = (page: Page) => seeScreen(page, "Payment successful");

inBrowser("a card is paid: the page waits calmly for the webhook, and then updates itself", async (visit) => {
  const { page } = visit;
  const order = await open(visit);
  let confirms = 0;
  page.on("response", (response) => void (confirms += response.url().includes("/confirm") ? 1 : 0));
  await pay(page, paidCard);
  await waits(page);
  const verdict = () => confirmOrder(running.stack, order);
  assert.equal((await verdict()).text("status"), "open", "the service cannot know it");
  await eventually("the page to ask more often than it doubts a report", () => confirms > 4);
  await waits(page);
  await deliver();
  await succeeds(page);
  assert.equal((await verdict()).text("status"), "completed");
});

inBrowser("3-D Secure leaves for the bank's page, comes back, and the payment is finished there", async (visit) => {
  const { page } = visit;
  const before = (await paymentsOf(merchant)).length;
  await open(visit);
  await pay(page, challengedCard);
  await page.getByRole("link", { name: "approve" }).click();
  await waits(page);
  assert.doesNotMatch(page.url(), /redirectResult|sessionId/);
  await page.reload();
  await waits(page);
  await deliver();
  await succeeds(page);
  assert.equal((await paymentsOf(merchant)).length, before + 1);
});

inBrowser("after a refusal, of the card or at the bank, the same session takes another try", async (visit) => {
  const { page } = visit;
  const { id } = await open(visit);
  await pay(page, paidCard, "NOT_ENOUGH_BALANCE");
  await page.getByRole("alert").getByText("declined").waitFor();
  await pay(page, challengedCard);
  await page.getByRole("link", { name: "refuse" }).click();
  await page.getByRole("alert").waitFor();
  await deliver();
  await pay(page, paidCard);
  await waits(page);
  await deliver();
  await succeeds(page);
  const sessions = fake.requests.filter(({ path, method }) => method === "POST" && path === "/v72/sessions");
  const reference = `pay_${id.slice(3)}`;
  assert.equal(sessions.filter(({ body }) => membersOf(body).reference === reference).length, 1);
});

inBrowser("a buyer who closes the page has paid: the webhook alone finishes the payment", async (visit) => {
  const { page } = visit;
  const { id } = await open(visit);
  await pay(page, paidCard);
  await eventually("Adyen has the try", () => adyen.queue.length === 1);
  await page.close({ runBeforeUnload: false });
  await deliver();
  const status = async () => (await merchant.api.get(`/v1/checkout-sessions/${id}`)).text("status");
  await eventually("the session is completed", async () => (await status()) === "completed");
});

inBrowser.alone(
  "a bank that returns to another browser finishes the payment by the server, without the webhook",
  async () => {
    const [first, second] = [await inBrowser.open(), await inBrowser.open()];
    const { id } = await open(first);
    await pay(first.page, challengedCard);
    const back = await first.page.getByRole("link", { name: "approve" }).getAttribute("href");
    await first.close();
    await second.page.goto(back ?? "");
    await seeScreen(second.page, /paid|successful/i);
    assert.doesNotMatch(second.page.url(), /redirectResult|sessionId/);
    await second.close();
    const payment = async () => (await merchant.api.get(`/v1/checkout-sessions/${id}`)).text("payment_status");
    assert.equal(await payment(), "succeeded");
    await deliver();
    assert.equal(await payment(), "succeeded", "the webhook repeats it");
  },
);

inBrowser("a bank's result pays only the session that it belongs to", async (visit) => {
  const { page } = visit;
  const [other, { id }] = [await newOrder(merchant), await open(visit)];
  await pay(page, challengedCard);
  const back = new URL((await page.getByRole("link", { name: "approve" }).getAttribute("href")) ?? "");
  const buyer = apiClient(running.stack.gateway);
  const { pathname, searchParams } = new URL((await buyer.get(pathOf(other))).text("return_url"));
  searchParams.set("result", back.searchParams.get("redirectResult") ?? "");
  (await buyer.get(`${pathname}/state?${searchParams}`)).expect(502);
  await deliver();
  const statusOf = async (session: string) =>
    (await merchant.api.get(`/v1/checkout-sessions/${session}`)).text("status");
  assert.deepEqual([await statusOf(other.id), await statusOf(id)], ["open", "completed"]);
});

inBrowser("a page whose session has certainly ended gets another", async (visit) => {
  const { page } = visit;
  fake.clockOffsetMs = -outlastedMs;
  const order = await newOrder(merchant);
  fake.clockOffsetMs = 0;
  await newOrder(merchant); // its answer has the clock
  await open(visit, order);
  await pay(page, paidCard);
  await waits(page);
  await deliver();
  await succeeds(page);
});

inBrowser("a script with another hash than the pinned one does not run", async ({ page, context }) => {
  await routeAdyen(context, fake.url);
  await page.goto((await newOrder(merchant)).link);
  await page.locator("h1", { hasText: /./ }).last().waitFor();
  await page.getByRole("button", { name: "Try again" }).waitFor();
  assert.equal(await page.evaluate("typeof AdyenWeb"), "undefined");
});

test.run();
