// The consoles as their people meet them, told in order from `npm start` alone: everything is what somebody sees,
// presses, buys or finds in the mailbox. With PICTURES=1 it also makes the pictures of README.md anew.
import type { Locator } from "playwright-core";
import * as assert from "uvu/assert";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { formReady } from "../browser/buyer.ts";
import { merchantApi } from "../harness/api.ts";
import { browserSuite, desktop, phone, type Visit } from "../harness/browser.ts";
import { addAuthenticator } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import type { StartCommand } from "../harness/files/start-command.ts";
import { startCommands } from "../harness/files/start-commands.ts";
import { isSignedWith, type Receiver, startReceiver } from "../harness/receiver.ts";
import { suite } from "../harness/suite.ts";
import { application } from "./operators-rig.ts";
import { fillForPictures, picture } from "./pictures.ts";

const test = suite("the consoles' story", { timeoutMs: 120_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
const { settings, start, clear } = startCommands();
let command: StartCommand;
let info: StackInfo;
/** Answers the webhooks of one more server of the shop. */
let receiver: Receiver;
let owner: Visit;

test.before(async () => {
  command = start(await settings());
  info = await command.ready();
  receiver = await startReceiver(info.tls);
});
test.after(async () => {
  await receiver?.close();
  await clear();
});

/** The link that the terminal shows below a line with these words. */
function printedLink(words: string): string {
  const [, below = ""] = command.output().split(words);
  const [link = ""] = /http:\S+/.exec(below) ?? [];
  return link;
}

/** Accepts the invitation that the page shows and sets a passkey up. */
async function join({ page }: Pick<Visit, "page">, name: string): Promise<void> {
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("button", { name: "Set up a passkey" }).click();
  await page.getByText("The passkey is added.").waitFor();
}

/** Presses the button of the newest mail to the address. @returns the page that it opens, on a device of its own */
async function openMail(to: string, button: string): Promise<Visit & { close(): Promise<void> }> {
  const opened = await visit.open({ viewport: desktop });
  const mail = opened.page.getByRole("link", { name: to }).first();
  await eventually(`a mail to ${to}`, async () => {
    await opened.page.goto(info.mailbox ?? "");
    return (await mail.count()) > 0;
  });
  await mail.click();
  const popup = opened.context.waitForEvent("page");
  await opened.page.frameLocator("iframe").getByRole("link", { name: button }).click();
  const page = await popup;
  await addAuthenticator({ context: opened.context, page });
  return { ...opened, page };
}

/** A buyer in the demo shop, with a test card that pays. */
async function buyInDemoShop(): Promise<void> {
  const { page, close } = await visit.open();
  await page.goto(info.demo_shop ?? "");
  await page.getByRole("button", { name: "Buy now" }).click();
  await page.locator("#pay:enabled").waitFor();
  await page.getByRole("button", { name: "Pays", exact: true }).click();
  await page.getByRole("button", { name: "Pay $24.00" }).click();
  await page.getByRole("heading", { name: "Thank you. Your order is paid." }).waitFor();
  await close();
}

/** Follows the navigation beside the screen. */
async function goTo({ page }: Visit, name: string): Promise<void> {
  await page.locator(".places-side").getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
}

async function confirmIfPrompted({ page }: Visit): Promise<void> {
  const button = page.getByRole("button", { name: "Confirm with a passkey" });
  if ((await button.count()) > 0) await button.click();
}

/** Waits for what comes from elsewhere, as somebody who reloads. */
async function seeAfterReload(what: string, wanted: Locator): Promise<void> {
  await eventually(`${what} to be told`, async () => {
    if ((await wanted.count()) > 0) return true;
    await wanted.page().reload();
    return false;
  });
}

/** Opens the newest of the listed payments. */
async function openNewestPayment(): Promise<void> {
  await goTo(owner, "Payments");
  await owner.page.locator("tbody").getByRole("link").first().click();
  await owner.page.getByRole("heading", { name: "Timeline" }).waitFor();
}

visit.alone("the printed invitation opens the console, and a passkey is all that its owner needs", async () => {
  owner = await visit.open({ viewport: desktop });
  await addAuthenticator(owner);
  await owner.page.goto(printedLink("as its first owner"));
  await join(owner, "Robin Example");
  assert.match(owner.page.url(), `${info.console}/${info.merchant_id}/sandbox/home`);
});

visit.alone("what a buyer paid in the demo shop is the newest payment of the list", async () => {
  await goTo(owner, "Payments");
  await owner.page.getByText("No payment yet.").waitFor();
  await fillForPictures(info);
  await buyInDemoShop();
  await goTo(owner, "Payments");
  await owner.page.locator("tbody tr", { hasText: "$24.00" }).getByText("Paid").waitFor();
  await picture(owner, "console-payments");
});

visit.alone("a refund goes out, and the payment's timeline tells it with who asked", async () => {
  const { page } = owner;
  await openNewestPayment();
  await page.getByRole("link", { name: "Refund", exact: true }).click();
  await page.getByLabel("Amount to refund").fill("9.50");
  await page.getByLabel("Reason").fill("A page was torn");
  await page.getByRole("button", { name: "Refund" }).click();
  const timeline = page.locator(".timeline li");
  await timeline.filter({ hasText: "Refund of $9.50" }).getByText("A page was torn").waitFor();
  await page.locator(".heading").getByText("Partly refunded").waitFor();
  const requester = timeline.filter({ hasText: "Refund requested" }).getByText("By Robin Example");
  await seeAfterReload("who asked for the refund", requester);
  await picture(owner, "console-payment");
});

visit.alone("an event that an endpoint refused is sent again by a click, and comes signed", async () => {
  const { page } = owner;
  receiver.answer({ status: 503, body: "closed for stock-taking" });
  await goTo(owner, "Webhooks");
  await page.getByRole("link", { name: "Add an endpoint" }).click();
  await page.getByLabel("Address").fill(`${receiver.url}/books`);
  await page.getByRole("button", { name: "Add an endpoint" }).click();
  const secret = (await page.locator(".secret pre").textContent()) ?? "";
  await buyInDemoShop();
  await openNewestPayment();
  const refused = page.locator(".timeline li", { hasText: "response 503" });
  await seeAfterReload("the refusal", refused);
  await refused.first().getByRole("link").click();
  await page.getByText("closed for stock-taking").first().waitFor({ state: "attached" });
  receiver.answer({ status: 200 });
  await page.getByRole("button", { name: "Send again" }).click();
  await page.locator(".facts .chip", { hasText: "Delivered" }).waitFor();
  const last = receiver.received.at(-1);
  assert.ok(last && isSignedWith(last, secret));
});

visit.alone("a key is rolled: the new one works, and the old one does not any more", async () => {
  const { page } = owner;
  const statusOf = async (key: string) => (await merchantApi(info.gateway, key).get("/v1/payments")).status;
  const shownKey = async () => (await page.locator(".secret pre").textContent()) ?? "";
  await goTo(owner, "API keys");
  await page.getByRole("link", { name: "Make a key" }).click();
  await page.getByLabel("Name").fill("Shop backend");
  await page.getByRole("button", { name: "Make a key" }).click();
  const made = await shownKey();
  assert.is(await statusOf(made), 200);
  await page.getByRole("link", { name: "To the keys" }).click();
  await page.getByRole("link", { name: "Shop backend" }).click();
  await page.getByRole("link", { name: "Roll" }).click();
  await page.getByLabel("Keep the old key working for").selectOption("now");
  await page.getByRole("button", { name: "Roll" }).click();
  await page.getByText("The old one does not work any more.").waitFor();
  assert.is(await statusOf(await shownKey()), 200);
  await eventually("the old key to end", async () => (await statusOf(made)) === 401);
});

visit.alone("the branding that the preview showed is what the next buyer sees", async () => {
  const { page } = owner;
  await goTo(owner, "Branding");
  await page.getByLabel("Name on the page").fill("Lemon Books");
  await page.getByLabel("Line under the name").fill("Cookbooks since 1987");
  await page.getByLabel("Accent color", { exact: true }).fill("#0a7d4f");
  await page.frameLocator(".preview iframe").getByText("Cookbooks since 1987").waitFor();
  await picture(owner, "console-branding");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved: the next buyer sees it.").waitFor();
  const buyer = await visit.open({ viewport: { ...phone, height: 860 } });
  await buyer.page.goto(info.demo_shop ?? "");
  await buyer.page.getByRole("button", { name: "Buy now" }).click();
  await buyer.page.getByRole("link", { name: "hosted page" }).click();
  await buyer.page.getByText("Lemon Books").first().waitFor();
  await formReady(buyer.page);
  const colour = await buyer.page.evaluate(
    `getComputedStyle(document.querySelector(".pay-label").closest("button")).backgroundColor`,
  );
  assert.is(colour, "rgb(10, 125, 79)");
  await picture(buyer, "checkout-page");
  await buyer.close();
});

visit.alone("a colleague comes in by the invitation in the mailbox, and sees what the role may", async () => {
  const { page } = owner;
  await goTo(owner, "Team");
  await page.getByRole("link", { name: "Invite somebody" }).click();
  await page.getByLabel("E-mail address").fill("sam@example.com");
  await page.getByLabel("Viewer", { exact: true }).check();
  await page.getByRole("button", { name: "Invite" }).click();
  await confirmIfPrompted(owner);
  await page.getByRole("heading", { name: "The invitation is made" }).waitFor();
  const sam = await openMail("sam@example.com", "Look at the invitation");
  await sam.page.getByText("Robin Example").waitFor();
  await join(sam, "Sam Colleague");
  await goTo(sam, "Payments");
  await sam.page.locator("tbody").getByRole("link", { name: "$24.00" }).first().click();
  await sam.page.getByRole("heading", { name: "Timeline" }).waitFor();
  assert.is(await sam.page.getByRole("link", { name: "Refund", exact: true }).count(), 0);
  await sam.close();
  await goTo(owner, "Team");
  await page.getByText("Sam Colleague").first().waitFor();
});

visit.alone("the operators approve an application, and its applicant comes in by the mail", async () => {
  await application(info.gateway, "Pear Press");
  const operator = await visit.open({ viewport: desktop });
  const { page } = operator;
  await addAuthenticator(operator);
  await page.goto(printedLink("as its first operator"));
  await join(operator, "Olga Operator");
  await goTo(operator, "Applications");
  await page.getByRole("link", { name: "Pear Press" }).click();
  await page.locator("summary", { hasText: "Approve" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await confirmIfPrompted(operator);
  await page.locator("h1").getByText("Approved").waitFor();
  await operator.close();
  const ann = await openMail("ann@lemon.example", "Look at the invitation");
  await ann.page.getByText("Pear Press").first().waitFor();
  await join(ann, "Ann Applicant");
  await ann.page.getByRole("banner").getByText("Pear Press").waitFor();
  await ann.page.getByText("Get ready to go live").waitFor();
  await ann.close();
  await owner.context.close();
});

test.run();
