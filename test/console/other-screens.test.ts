// Accessibility of the screens around a sign-in and of those that show a secret once.
import type { Page } from "playwright-core";
import { browserSuite, desktop, type Visit } from "../harness/browser.ts";
import { addAuthenticator, invitePerson, sharedConsoles, signInNew } from "../harness/console.ts";
import { startReceiver } from "../harness/receiver.ts";
import { fixture, suite } from "../harness/suite.ts";
import { assertUsable } from "./usable.ts";

const test = suite("console's other screens", { timeoutMs: 120_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
// The page's policy forbids the axe script.
const options = { viewport: desktop, bypassCSP: true } as const;
const stack = fixture(test, sharedConsoles);
const receiver = fixture(test, () => startReceiver(stack.tls));
let owner: Visit;
let base: string;

test.before(async () => {
  owner = await visit.open(options);
  await signInNew(owner, stack, { email: "olivia@screens.example", name: "Olivia Owner" });
  base = `${stack.console}/${stack.merchant_id}/sandbox`;
});

async function press(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name, exact: true }).click();
}

visit(
  "sign-in, invitation and sign-in methods are accessible",
  async ({ page, context }) => {
    await page.goto(`${stack.console}/sign-in`);
    await page.locator("summary", { hasText: "Don't have your passkey?" }).click();
    await assertUsable(page, "sign-in");
    await page.getByLabel("Email address").fill("unknown@screens.example");
    await press(page, "Send link");
    await page.getByRole("heading", { level: 1 }).waitFor();
    await assertUsable(page, "link sent");
    await page.goto(`${stack.console}/invitations/none`);
    await assertUsable(page, "an expired invitation");
    await addAuthenticator({ page, context });
    await page.goto(await invitePerson(stack, { email: "ann@screens.example" }));
    await assertUsable(page, "an invitation");
    await page.getByLabel("Your name").fill("Ann Example");
    await press(page, "Accept and set up sign-in");
    await page.locator("summary", { hasText: "Can't use a passkey?" }).click();
    await assertUsable(page, "sign-in methods");
    await press(page, "Set up an authenticator app");
    await page.locator(".qr svg").waitFor();
    await assertUsable(page, "an authenticator app");
  },
  options,
);

visit(
  "account and expired session are accessible",
  async ({ page, context }) => {
    await signInNew({ page, context }, stack, { email: "bob@screens.example", name: "Bob Example" });
    await page.goto(`${stack.console}/account`);
    await assertUsable(page, "account");
    await page.goto(`${stack.console}/choose`);
    await assertUsable(page, "choice of the merchant");
    await page.goto(`${stack.console}/nothing-here`);
    await assertUsable(page, "page not found");
    await page.goto(`${stack.console}/account`);
    await page.getByLabel("Name").fill("Bob Renamed");
    await context.clearCookies();
    await press(page, "Save");
    await page.getByRole("heading", { name: "Your session has expired" }).waitFor();
    await assertUsable(page, "an ended session");
    await press(page, "Sign in with a passkey");
    await page.getByRole("heading", { name: "You're signed in again" }).waitFor();
    await assertUsable(page, "signed in again");
  },
  options,
);

visit.alone("a created or rolled key is accessible", async () => {
  const { page } = owner;
  await page.goto(`${base}/keys/new`);
  await page.getByLabel("Name").fill("Shop backend");
  await press(page, "Create API key");
  await page.locator(".secret pre").waitFor();
  await assertUsable(page, "a created key");
  await page.getByRole("link", { name: "View API keys" }).click();
  await page.getByRole("link", { name: "Shop backend" }).click();
  await page.getByRole("link", { name: "Roll" }).click();
  await press(page, "Roll");
  await page.getByText("The old key works until").waitFor();
  await assertUsable(page, "a rolled key");
});

visit.alone("a new signing secret is accessible", async () => {
  const { page } = owner;
  await page.goto(`${base}/webhooks/new`);
  await page.getByLabel("URL").fill(`${receiver.url}/hook`);
  await press(page, "Add endpoint");
  await page.locator(".secret pre").waitFor();
  await assertUsable(page, "an added endpoint");
  await page.getByRole("link", { name: "View endpoint" }).click();
  await page.getByRole("link", { name: "Roll signing secret" }).click();
  await press(page, "Roll signing secret");
  await page.locator(".secret pre").waitFor();
  await assertUsable(page, "a new signing secret");
});

visit.alone("a created invitation is accessible", async () => {
  const { page } = owner;
  await page.goto(`${base}/team/invite`);
  await page.getByLabel("Email address").fill("sam@screens.example");
  await page.getByLabel("Viewer", { exact: true }).check();
  await press(page, "Send invitation");
  await page.getByRole("heading", { name: "Invitation created" }).waitFor();
  await assertUsable(page, "a created invitation");
  await owner.context.close();
});

test.run();
