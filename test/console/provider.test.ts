// Signing in by the company's identity provider, and proving oneself again there, in a real browser: PKCE, state and
// nonce go with the browser that began, and nothing that was typed is lost on the way.
import type { BrowserContext, Page } from "playwright-core";
import * as assert from "uvu/assert";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { browserSuite } from "../harness/browser.ts";
import { invite, startConsoleStack } from "../harness/console.ts";
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

/** Somebody new with no other way in; the page stands at the start. */
async function join(page: Page, email: string): Promise<void> {
  await page.goto(await invite(running.stack, { email }));
  await page.getByLabel("Your name").fill("Kim Company");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("link", { name: "Use your company account" }).click();
  await vouch(page, email);
  await page.waitForURL((url) => url.pathname.endsWith("/home"));
}

async function signOut(page: Page): Promise<void> {
  await page.locator("summary", { hasText: "Kim Company" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You are signed out.").waitFor();
}

async function nextTab(context: BrowserContext, open: () => Promise<void>): Promise<Page> {
  const [tab] = await Promise.all([context.waitForEvent("page"), open()]);
  return tab;
}

visit("an invitation is followed by the company account alone, which signs in from then on", async ({ page }) => {
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

visit("who says no there, or is nobody here, or finds nobody there, is told so", async ({ page, context }) => {
  await page.goto(`${running.stack.console}/sign-in`);
  await page.getByRole("link", { name: "Sign in with your company account" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByRole("link", { name: "Continue" }).click();
  await page.getByText("did not sign you in").waitFor();
  await page.getByRole("link", { name: "Try again" }).click();
  await vouch(page, "nobody@example.com");
  await page.getByText("did not sign you in").waitFor();
  await page.getByRole("link", { name: "Try again" }).click();
  await enterIdentity(page, "nobody@example.com");
  company.isAway = true;
  await page.getByRole("link", { name: "Continue" }).click();
  await page.getByText("does not answer at the moment").waitFor();
  company.isAway = false;
  assert.equal(
    (await context.cookies()).filter(({ name }) => name.endsWith("-session")),
    [],
  );
});

visit("the provider's answer opens nothing in another browser, and nothing twice", async ({ page }) => {
  await join(page, "lou@example.com");
  await signOut(page);
  await page.goto(`${running.stack.console}/sign-in`);
  await page.getByRole("link", { name: "Sign in with your company account" }).click();
  await enterIdentity(page, "lou@example.com");
  const answer = String(await page.getByRole("link", { name: "Continue" }).getAttribute("href"));
  const stranger = await visit.open();
  await stranger.page.goto(`${running.stack.console}/sign-in`);
  // With a way of their own begun, so that not only the cookie is missing.
  await stranger.page.getByRole("link", { name: "Sign in with your company account" }).click();
  await stranger.page.goto(answer);
  await stranger.page.getByText("did not sign you in").waitFor();
  await stranger.close();
  await page.goto(answer);
  await page.waitForURL((url) => url.pathname.endsWith("/home"));
  await page.goto(answer);
  await page.getByText("did not sign you in").waitFor();
});

visit("what is grave is proved there afresh, in a tab of its own, and the form goes on", async ({ page, context }) => {
  await join(page, "max@example.com");
  await signOut(page);
  await page.goto(`${running.stack.console}/sign-in`);
  await page.getByRole("link", { name: "Sign in with your company account" }).click();
  await vouch(page, "max@example.com");
  await page.waitForURL((url) => url.pathname.endsWith("/home"));
  // The provider says that they signed in there an hour ago: a session, and no proof.
  await page.goto(`${running.stack.console}/way-in`);
  await page.getByRole("button", { name: "Set up a passkey" }).click();
  const goOn = page.getByRole("button", { name: "I have done that: continue" });
  await goOn.click();
  await page.getByText("Confirm it's you").first().waitFor();
  const prove = async (who: string) => {
    const link = page.getByRole("link", { name: "Confirm with your company account" });
    const tab = await nextTab(context, async () => await link.click());
    await vouch(tab, who);
    return tab;
  };
  const other = await prove("kim@example.com");
  await other.getByText("did not confirm that it is you").waitFor();
  await goOn.click();
  await page.getByText("Confirm it's you").first().waitFor();
  company.lies = { auth_time: Math.floor(Date.now() / 1_000) - 301 };
  await (await prove("max@example.com")).getByText("did not confirm that it is you").waitFor();
  company.lies = {};
  const tab = await prove("max@example.com");
  await tab.getByText("Close this tab").waitFor();
  assert.is(company.requests.at(-1)?.get("max_age"), "0");
  await goOn.click();
  await page.getByText("Can't use a passkey?").waitFor();
});

visit("what was typed survives a session that ended: the sign-in opens beside it", async ({ page, context }) => {
  await join(page, "nia@example.com");
  await page.goto(`${running.stack.console}/account`);
  await page.getByLabel("Name").fill("Nia Renamed");
  await context.clearCookies();
  await page.getByRole("button", { name: "Save" }).click();
  const link = page.getByRole("link", { name: "Sign in with your company account" });
  const tab = await nextTab(context, async () => await link.click());
  await vouch(tab, "nia@example.com");
  await tab.waitForURL((url) => url.pathname.endsWith("/home"));
  await page.getByRole("button", { name: "I have done that: continue" }).click();
  await page.getByRole("button", { name: "Send it now" }).click();
  await page.getByText("Your account is saved.").waitFor();
  assert.is(await page.getByLabel("Name").inputValue(), "Nia Renamed");
});

test.run();
