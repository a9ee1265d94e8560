// Links as mail programs, chats and people pass them on open the payment. A damaged link gets an explanation.
import assert from "node:assert/strict";
import { newOrder } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("changed links");
inBrowser("opens the payment whatever was added to the link", async ({ context }) => {
  const { id, secret } = await newOrder(site.merchant);
  const path = `${site.stack.gateway}/c/${id}`;
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

test("answers every path under /c/ with a page, never with JSON", async () => {
  const { id } = await newOrder(site.merchant);
  for (const path of [
    "",
    id,
    `${id}/`,
    `${id}/more/path`,
    `${id}%23`,
    `${id}%zz`,
    `${id}%E2%80`,
    "x".repeat(900),
    "%",
  ]) {
    const answer = await fetch(`${site.stack.gateway}/c/${path}`);
    assert.equal(answer.status, 200, path);
    assert.match(answer.headers.get("content-type") ?? "", /^text\/html/, path);
    assert.equal((await answer.text()).includes(id.replace("cs_", "pay_").slice(0, 18)), path.startsWith(id), path);
  }
});

test.run();
