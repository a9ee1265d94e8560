// Links as mail tools, chats and people pass them on: id and secret are whole, so the payment opens. What is damaged is
// answered with a page in words, and stays in the address bar to be corrected.
import assert from "node:assert/strict";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite } from "../harness/browser.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { newOrder, seeScreen } from "./buyer.ts";

const test = suite("links as they arrive", { timeoutMs: 120_000, hookTimeoutMs: 120_000 });
const inBrowser = browserSuite(test);
let running: StackInfo;
let merchant: TestMerchant;

test.before(async () => {
  running = await stack();
  merchant = await freshMerchant(running);
});

inBrowser("whatever stands behind the secret, or between the id and it, the payment opens", async ({ context }) => {
  const { id, secret } = await newOrder(merchant);
  const path = `${running.gateway}/c/${id}`;
  const campaign = "utm_source=news&utm_medium=mail";
  const links = [
    `${path}#${secret}?${campaign}`,
    `${path}#${secret}\u200b).`,
    `${path}?secret=${secret}.&${campaign}`,
    `${path}/?${campaign}#${secret}`,
    `${path}%23${secret}%3E`,
  ];
  for (const link of links) {
    const page = await context.newPage();
    await page.goto(link);
    await page.locator(".pay-view").waitFor();
    assert.ok(!page.url().includes(secret.slice(-43)), link);
    assert.equal(new URL(page.url()).pathname, `/c/${id}`, link);
    await page.close();
  }
});

inBrowser("a secret that is damaged opens nothing, and stays in the address bar", async ({ page }) => {
  const { id, secret } = await newOrder(merchant);
  const damaged = `${running.gateway}/c/${id}#${secret.slice(0, -3)}`;
  await page.goto(damaged);
  await seeScreen(page, "This link is not valid");
  assert.equal(page.url(), damaged);
});

test("every path under /c/ is answered with a page, never with JSON", async () => {
  const { id } = await newOrder(merchant);
  for (const path of [
    "",
    id,
    `${id}/`,
    `${id}/more/of/it`,
    `${id}%23`,
    `${id}%zz`,
    `${id}%E2%80`,
    "x".repeat(900),
    "%",
  ]) {
    const answer = await fetch(`${running.gateway}/c/${path}`);
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/html/, path);
    assert.equal((await answer.text()).includes(id.replace("cs_", "pay_").slice(0, 18)), path.startsWith(id), path);
  }
});

test.run();
