// Everything that `npm start` prints works in a browser, and sessions, links and orders survive a restart.
import assert from "node:assert/strict";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { merchantApi } from "../harness/api.ts";
import { browserSuite } from "../harness/browser.ts";
import type { StartCommand } from "../harness/files/start-command.ts";
import { startCommands } from "../harness/files/start-commands.ts";
import { cards } from "../harness/pay.ts";
import { suite } from "../harness/suite.ts";
import { formReady, newOrder, payButton, payWith, payWithTestCard, seeScreen, typeCard } from "./buyer.ts";

const test = suite("second start", { timeoutMs: 200_000, hookTimeoutMs: 180_000 });
const inBrowser = browserSuite(test);
const { settings, start, clear } = startCommands();
let env: Record<string, string>;
let command: StartCommand;
let info: StackInfo;

test.before(async () => {
  env = await settings();
  command = start(env);
  info = await command.ready();
});
test.after(clear);

const merchantOf = (stack: StackInfo) => ({
  id: stack.merchant_id,
  apiKey: stack.api_key,
  api: merchantApi(stack.gateway, stack.api_key),
});

inBrowser("opens every URL that npm start prints, and its link can be paid", async ({ page }) => {
  const [, next = ""] = command.output().split("Tollbooth is ready");
  const [link = ""] = /http\S+\/c\/cs_\w+#cs_secret_\S+/.exec(next) ?? [];
  await page.goto(link);
  await payWithTestCard(page, cards.succeeds);
  await seeScreen(page, "Payment successful");
  const printed = [...next.matchAll(/http:\/\/[\w.:]+(?:\/docs)?(?=\s)/g)].map(([address]) => address);
  for (const [address, heading] of [
    [`${info.gateway}/docs`, "Tollbooth docs"],
    [info.demo_shop, "The Lemon Cookbook"],
    [info.console, "Sign in"],
  ] as const) {
    assert.ok(address && printed.includes(address), `${heading}: ${address} of ${printed}`);
    await page.goto(address);
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
  }
});

inBrowser.alone("open pages, links, receipts and orders work after a restart", async () => {
  const { context, page: open, close } = await inBrowser.open();
  const [first, second] = [await newOrder(merchantOf(info)), await newOrder(merchantOf(info))];
  const bought = await context.newPage();
  await bought.goto((await newOrder(merchantOf(info))).link);
  await payWith(bought, cards.succeeds);
  await seeScreen(bought, "Payment successful");
  const receipt = (await bought.getByRole("link", { name: "View receipt" }).getAttribute("href")) ?? "";
  const shop = await context.newPage();
  await shop.goto(info.demo_shop ?? "");
  await shop.getByRole("button", { name: "Buy now" }).click();
  await shop.locator("#pay:enabled").waitFor();
  await open.goto(first.link);
  await typeCard(open, cards.succeeds);

  command.process.kill("SIGINT");
  await command.ended;
  command = start({ STATE_DIR: env.STATE_DIR ?? "" });
  info = await command.ready();

  await payButton(open).click();
  await seeScreen(open, "Payment successful");
  await open.goto(second.link);
  await formReady(open);
  await payWith(open, cards.succeeds);
  await seeScreen(open, "Payment successful");
  await open.goto(receipt);
  await open.getByText("€10.50").first().waitFor();
  await shop.reload();
  await shop.locator("#pay:enabled").waitFor();
  await shop.getByRole("button", { name: "Pays", exact: true }).click();
  await shop.getByRole("button", { name: "Pay $24.00" }).click();
  await seeScreen(shop, "Thank you. Your order is paid.");
  await close();
});

test.run();
