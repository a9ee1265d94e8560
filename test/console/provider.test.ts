// Sign-in and fresh proof with the company's identity provider in a real browser, with PKCE, state and nonce.
import type { BrowserContext, Page } from "playwright-core";
import * as assert from "uvu/assert";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { browserSuite } from "../harness/browser.ts";
import { invitePerson, startConsoleStack } from "../harness/console.ts";
import { clientId, clientSecret, TestIdentityProvider } from "../harness/servers/identity-provider.ts";
import { suite } from "../harness/suite.ts";

const test = suite("console company sign-in", { timeoutMs: 120_000 });
const visit = browserSuite(test);
const company = new TestIdentityProvider();
let running: RunningStack;

test.before(async () => {
  await company.start();
  const env = { OIDC_ISSUER: company.issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret };
  running = await startConsoleStack({ shape: "one", env });
});
test.after(async () => {
  company.stop();
  await running?.stop();
});

async function vouch(page: Page, email: string): Promise<void> {
  await enterIdentity(page, email);
  await page.getByRole("link", { name: "Continue" }).click();
}

async function enterIdentity(page: Page, email: string): Promise<void> {
  await page.getByLabel("Address").fill(email);
  await page.getByRole("button", { name: "That is me" }).click();
}

/** A new person whose only sign-in method is the company account. */
async function join(page: Page, email: string): Promise<void> {
  await page.goto(await invitePerson(running.stack, { email }));
  await page.getByLabel("Your name").fill("Kim Company");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("link", { name: "Use your company account" }).click();
  await vouch(page, email);
  await page.waitForURL((url) => url.pathname.endsWith("/home"));
}

async function signOut(page: Page): Promise<void> {
  await page.locator("summary", { hasText: "Kim Company" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You're signed out.").waitFor();
}

async function nextTab(context: BrowserContext, open: () => Promise<void>): Promise<Page> {
  const [tab] = await Promise.all([context.waitForEvent("page"), open()]);
  return tab;
}

visit("accepts an invitation with the company account, which then signs in", async ({ page }) => {
  await join(page, "kim@example.com");
  await signOut(page);
  await page.goto(`${running.stack.console}/account`);
  await page.getByRole("link", { name: "Sign in with your company account" }).click();
  await vouch(page, "kim@example.com");
  await page.waitForURL(`${running.stack.console}/account`);
  const authorization = company.requests.at(-1);
  assert.is(authorization?.get("code_challenge_method"), "S256");
  assert.is(authorization?.get("redirect_uri"), `${running.stack.console}/sign-in/provider/return`);
});

visit("reports a canceled sign-in, an unknown person and an unavailable provider", async ({ page, context }) => {
  await page.goto(`${running.stack.console}/sign-in`);
  await page.getByRole("link", { name: "Sign in with your company account" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "Continue" }).click();
  await page.getByText("couldn't sign you in").waitFor();
  await page.getByRole("link", { name: "Try again" }).click();
  await vouch(page, "unknown@example.com");
  await page.getByText("couldn't sign you in").waitFor();
  await page.getByRole("link", { name: "Try again" }).click();
  await enterIdentity(page, "unknown@example.com");
  company.isAway = true;
  await page.getByRole("link", { name: "Continue" }).click();
  await page.getByText("isn't responding").waitFor();
  company.isAway = false;
  assert.equal(
    (await context.cookies()).filter(({ name }) => name.endsWith("-session")),
    [],
  );
});

visit("accepts the provider's redirect once and in the same browser only", async ({ page }) => {
  await join(page, "lou@example.com");
  await signOut(page);
  await page.goto(`${running.stack.console}/sign-in`);
  await page.getByRole("link", { name: "Sign in with your company account" }).click();
  await enterIdentity(page, "lou@example.com");
  const answer = String(await page.getByRole("link", { name: "Continue" }).getAttribute("href"));
  const stranger = await visit.open();
  await stranger.page.goto(`${running.stack.console}/sign-in`);
  // The stranger has a redirect of their own, so more than the cookie differs.
  await stranger.page.getByRole("link", { name: "Sign in with your company account" }).click();
  await stranger.page.goto(answer);
  await stranger.page.getByText("couldn't sign you in").waitFor();
  await stranger.close();
  await page.goto(answer);
  await page.waitForURL((url) => url.pathname.endsWith("/home"));
  await page.goto(answer);
  await page.getByText("couldn't sign you in").waitFor();
});

visit("gives fresh proof at the provider in a new tab and continues the form", async ({ page, context }) => {
  await join(page, "max@example.com");
  await signOut(page);
  await page.goto(`${running.stack.console}/sign-in`);
  await page.getByRole("link", { name: "Sign in with your company account" }).click();
  await vouch(page, "max@example.com");
  await page.waitForURL((url) => url.pathname.endsWith("/home"));
  // The sign-in itself is older than the proof allows.
  await page.goto(`${running.stack.console}/way-in`);
  await page.getByRole("button", { name: "Set up a passkey" }).click();
  const goOn = page.getByRole("button", { name: "I've done that, continue" });
  await goOn.click();
  await page.getByText("Confirm it's you").first().waitFor();
  const prove = async (who: string) => {
    const link = page.getByRole("link", { name: "Confirm with your company account" });
    const tab = await nextTab(context, async () => await link.click());
    await vouch(tab, who);
    return tab;
  };
  const other = await prove("kim@example.com");
  await other.getByText("didn't confirm that it's you").waitFor();
  await goOn.click();
  await page.getByText("Confirm it's you").first().waitFor();
  company.lies = { auth_time: Math.floor(Date.now() / 1_000) - 301 };
  await (await prove("max@example.com")).getByText("didn't confirm that it's you").waitFor();
  company.lies = {};
  const tab = await prove("max@example.com");
  await tab.getByText("You can close this tab").waitFor();
  assert.is(company.requests.at(-1)?.get("max_age"), "0");
  await goOn.click();
  await page.getByText("Can't use a passkey?").waitFor();
});

visit("keeps the form of an expired session while the provider opens in a new tab", async ({ page, context }) => {
  await join(page, "nia@example.com");
  await page.goto(`${running.stack.console}/account`);
  await page.getByLabel("Name").fill("Nia Renamed");
  await context.clearCookies();
  await page.getByRole("button", { name: "Save" }).click();
  const link = page.getByRole("link", { name: "Sign in with your company account" });
  const tab = await nextTab(context, async () => await link.click());
  await vouch(tab, "nia@example.com");
  await tab.waitForURL((url) => url.pathname.endsWith("/home"));
  await page.getByRole("button", { name: "I've done that, continue" }).click();
  await page.getByRole("button", { name: "Send now" }).click();
  await page.getByText("Account saved.").waitFor();
  assert.is(await page.getByLabel("Name").inputValue(), "Nia Renamed");
});

test.run();
