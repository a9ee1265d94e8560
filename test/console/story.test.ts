// A day with the consoles after `npm start`, in order, through pages, the demo shop and the mailbox only. PICTURES=1
// also takes the pictures of README.md.
import type { Locator } from "playwright-core";
import * as assert from "uvu/assert";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { formReady } from "../browser/buyer.ts";
import { browserSuite, desktop, phone, type Visit } from "../harness/browser.ts";
import { addAuthenticator } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { type StartCommand, startCommands } from "../harness/files/start-commands.ts";
import { suite } from "../harness/suite.ts";
import { submitApplication } from "./operators-rig.ts";
import { confirmIfPrompted } from "./person.ts";
import { drawPicture, fillForPictures } from "./pictures.ts";

const test = suite("the consoles' story", { timeoutMs: 120_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
const { settings, start, clear } = startCommands();
let command: StartCommand;
let info: StackInfo;
let owner: Visit;

test.before(async () => {
  command = start(await settings());
  info = await command.ready();
});
test.after(async () => await clear());

/** The link that the terminal prints after this text. */
function printedLink(text: string): string {
  const [, below = ""] = command.output().split(text);
  const [link = ""] = /http:\S+/.exec(below) ?? [];
  return link;
}

/** Accepts the invitation of the page with a passkey. */
async function join({ page }: Pick<Visit, "page">, name: string): Promise<void> {
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("button", { name: "Set up a passkey" }).click();
  await page.getByText("Passkey added.").waitFor();
}

/** Opens the newest email to the address on another device. @returns the page of its button */
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

async function goTo({ page }: Visit, name: string): Promise<void> {
  await page.locator(".places-side").getByRole("link", { name, exact: true }).click();
  await page.getByRole("heading", { name, level: 1 }).waitFor();
}

/** Reloads the page until it shows the element. */
async function seeAfterReload(what: string, wanted: Locator): Promise<void> {
  await eventually(`${what} to be shown`, async () => {
    if ((await wanted.count()) > 0) return true;
    await wanted.page().reload();
    return false;
  });
}

async function openNewestPayment(): Promise<void> {
  await goTo(owner, "Payments");
  await owner.page.locator("tbody").getByRole("link").first().click();
  await owner.page.getByRole("heading", { name: "Timeline" }).waitFor();
}

visit.alone("opens the console with the printed invitation and a passkey", async () => {
  owner = await visit.open({ viewport: desktop });
  await addAuthenticator(owner);
  await owner.page.goto(printedLink("as its first owner"));
  await join(owner, "Robin Example");
  assert.match(owner.page.url(), `${info.console}/${info.merchant_id}/sandbox/home`);
});

visit.alone("lists a payment of the demo shop first", async () => {
  await goTo(owner, "Payments");
  await owner.page.getByText("No payments yet.").waitFor();
  await fillForPictures(info);
  await buyInDemoShop();
  await goTo(owner, "Payments");
  await owner.page.locator("tbody tr", { hasText: "$24.00" }).getByText("Paid").waitFor();
  await drawPicture(owner, "console-payments");
});

visit.alone("refunds a payment and names the person in its timeline", async () => {
  const { page } = owner;
  await openNewestPayment();
  await page.getByRole("link", { name: "Refund", exact: true }).click();
  await page.getByLabel("Refund amount").fill("9.50");
  await page.getByLabel("Other reason").fill("A page was torn");
  await page.getByRole("button", { name: "Refund", exact: true }).click();
  const timeline = page.locator(".timeline li");
  await timeline.filter({ hasText: "Refund of $9.50" }).getByText("A page was torn").waitFor();
  await page.locator(".heading").getByText("Partially refunded").waitFor();
  const requester = timeline.filter({ hasText: "Refund requested" }).getByText("By Robin Example");
  await seeAfterReload("who asked for the refund", requester);
  await drawPicture(owner, "console-payment");
});

visit.alone("shows the previewed branding to the next customer", async () => {
  const { page } = owner;
  await goTo(owner, "Branding");
  await page.getByLabel("Display name").fill("Lemon Books");
  await page.getByLabel("Tagline").fill("Cookbooks since 1987");
  await page.getByLabel("Accent color", { exact: true }).fill("#0a7d4f");
  await page.frameLocator(".preview iframe").getByText("Cookbooks since 1987").waitFor();
  await drawPicture(owner, "console-branding");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Branding saved.").waitFor();
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
  await drawPicture(buyer, "checkout-page");
  await buyer.close();
});

visit.alone("admits an invited colleague with the rights of the role", async () => {
  const { page } = owner;
  await goTo(owner, "Team");
  await page.getByRole("link", { name: "Invite member" }).click();
  await page.getByLabel("Email address").fill("sam@example.com");
  await page.getByLabel("Viewer", { exact: true }).check();
  await page.getByRole("button", { name: "Send invitation" }).click();
  await confirmIfPrompted(owner.page);
  await page.getByRole("heading", { name: "Invitation created" }).waitFor();
  const sam = await openMail("sam@example.com", "View invitation");
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

visit.alone("approves an application and admits the applicant by email", async () => {
  await submitApplication(info.gateway, "Pear Press");
  const operator = await visit.open({ viewport: desktop });
  const { page } = operator;
  await addAuthenticator(operator);
  await page.goto(printedLink("as its first operator"));
  await join(operator, "Olga Operator");
  await goTo(operator, "Applications");
  await page.getByRole("link", { name: "Pear Press" }).click();
  await page.locator("summary", { hasText: "Approve" }).click();
  await page.getByRole("button", { name: "Approve" }).click();
  await confirmIfPrompted(operator.page);
  await page.locator("h1").getByText("Approved").waitFor();
  await operator.close();
  const ann = await openMail("ann@lemon.example", "View invitation");
  await ann.page.getByText("Pear Press").first().waitFor();
  await join(ann, "Ann Applicant");
  await ann.page.getByRole("banner").getByText("Pear Press").waitFor();
  await ann.page.getByText("Get ready to go live").waitFor();
  await ann.close();
  await owner.context.close();
});

test.run();
