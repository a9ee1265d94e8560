// Screens that no list of routes reaches: those before and around a sign-in, and those that show a secret once. Each
// can be used by everybody.
import type { Page } from "playwright-core";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { browserSuite, desktop, type Visit } from "../harness/browser.ts";
import { addAuthenticator, invite, sharedConsoles, signInNew } from "../harness/console.ts";
import { type Receiver, startReceiver } from "../harness/receiver.ts";
import { suite } from "../harness/suite.ts";
import { assertUsable } from "./usable.ts";

const test = suite("console's other screens", { timeoutMs: 120_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
// axe is put in as a script of the page, which its policy forbids.
const options = { viewport: desktop, bypassCSP: true } as const;
let stack: StackInfo;
let receiver: Receiver;
let owner: Visit;
let base: string;

test.before(async () => {
  stack = await sharedConsoles();
  receiver = await startReceiver(stack.tls);
  owner = await visit.open(options);
  await signInNew(owner, stack, { email: "olivia@screens.example", name: "Olivia Owner" });
  base = `${stack.console}/${stack.merchant_id}/sandbox`;
});
test.after(async () => {
  await receiver?.close();
});

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
}

visit(
  "the way in, from the sign-in to the first passkey or authenticator app, can be used by everybody",
  async ({ page, context }) => {
    await page.goto(`${stack.console}/sign-in`);
    await page.locator("summary", { hasText: "No passkey at hand?" }).click();
    await assertUsable(page, "sign-in");
    await page.getByLabel("E-mail address").fill("nobody@screens.example");
    await press(page, "Send a link");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await assertUsable(page, "link sent");
    await page.goto(`${stack.console}/invitations/none`);
    await assertUsable(page, "an invitation that is over");
    await addAuthenticator({ page, context });
    await page.goto(await invite(stack, { email: "ann@screens.example" }));
    await assertUsable(page, "an invitation");
    await page.getByLabel("Your name").fill("Ann Example");
    await press(page, "Accept and set up sign-in");
    await page.locator("summary", { hasText: "Can't use a passkey?" }).click();
    await assertUsable(page, "ways to sign in");
    await press(page, "Set up an authenticator app");
    await page.locator(".qr svg").waitFor();
    await assertUsable(page, "an authenticator app");
  },
  options,
);

visit(
  "one's own account, and what comes when a session has ended in the middle, can be used by everybody",
  async ({ page, context }) => {
    await signInNew({ page, context }, stack, { email: "bob@screens.example", name: "Bob Example" });
    await page.goto(`${stack.console}/account`);
    await assertUsable(page, "account");
    await page.goto(`${stack.console}/choose`);
    await assertUsable(page, "choice of the merchant");
    await page.goto(`${stack.console}/nothing-here`);
    await assertUsable(page, "nothing here");
    await page.goto(`${stack.console}/account`);
    await page.getByLabel("Name").fill("Bob Renamed");
    await context.clearCookies();
    await press(page, "Save");
    await page.getByRole("heading", { name: "Your session has ended" }).waitFor();
    await assertUsable(page, "an ended session");
    await press(page, "Sign in with a passkey");
    await page.getByRole("heading", { name: "You are signed in again" }).waitFor();
    await assertUsable(page, "signed in again");
  },
  options,
);

visit.alone("a key that was just made or rolled can be read and copied by everybody", async () => {
  const { page } = owner;
  await page.goto(`${base}/keys/new`);
  await page.getByLabel("Name").fill("Shop backend");
  await press(page, "Make a key");
  await page.locator(".secret pre").waitFor();
  await assertUsable(page, "a made key");
  await page.getByRole("link", { name: "To the keys" }).click();
  await page.getByRole("link", { name: "Shop backend" }).click();
  await page.getByRole("link", { name: "Roll" }).click();
  await press(page, "Roll");
  await page.getByText("The old one works until").waitFor();
  await assertUsable(page, "a rolled key");
});

visit.alone("a signing secret that was just made or replaced can be read and copied by everybody", async () => {
  const { page } = owner;
  await page.goto(`${base}/webhooks/new`);
  await page.getByLabel("Address").fill(`${receiver.url}/hook`);
  await press(page, "Add an endpoint");
  await page.locator(".secret pre").waitFor();
  await assertUsable(page, "a registered endpoint");
  await page.getByRole("link", { name: "To the endpoint" }).click();
  await page.getByRole("link", { name: "New signing secret" }).click();
  await press(page, "New signing secret");
  await page.locator(".secret pre").waitFor();
  await assertUsable(page, "a new signing secret");
});

visit.alone("an invitation that was just made can be read by everybody", async () => {
  const { page } = owner;
  await page.goto(`${base}/team/invite`);
  await page.getByLabel("E-mail address").fill("sam@screens.example");
  await page.getByLabel("Viewer", { exact: true }).check();
  await press(page, "Invite");
  await page.getByRole("heading", { name: "The invitation is made" }).waitFor();
  await assertUsable(page, "a made invitation");
  await owner.context.close();
});

test.run();
