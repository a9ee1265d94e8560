// Invitation, sign-in and sign-out in a real browser with a virtual authenticator.
import * as assert from "uvu/assert";
import { signInLinksMax } from "../../services/merchant/rules/people/session.ts";
import { browserSuite } from "../harness/browser.ts";
import {
  addAuthenticator,
  invitePerson,
  mailTo,
  type ReceivedMail,
  sharedConsoles,
  signInNew,
} from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { freshKey } from "../harness/merchant.ts";
import { fixture, suite } from "../harness/suite.ts";

const test = suite("console sign-in", { timeoutMs: 120_000 });
const visit = browserSuite(test);
const stack = fixture(test, sharedConsoles);

visit("accepts an invitation with a passkey, which then signs in", async ({ page, context }) => {
  await signInNew({ page, context }, stack, { email: "ann@example.com", name: "Ann Example" });
  assert.match(page.url(), `/${stack.merchant_id}/sandbox/home`);
  await page.locator("summary", { hasText: "Ann Example" }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByText("You're signed out.").waitFor();
  await page.goto(`${stack.console}/account`);
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.waitForURL(`${stack.console}/account`);
  assert.is(await page.getByLabel("Name").inputValue(), "Ann Example");
});

visit("opens an invitation without using it and accepts it once", async ({ page, context }) => {
  const link = await invitePerson(stack, { email: "bob@example.com" });
  for (let times = 0; times < 3; times += 1) assert.is((await fetch(link)).status, 200);
  await addAuthenticator({ page, context });
  await page.goto(link);
  await page.getByLabel("Your name").fill("Bob Example");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("button", { name: "Set up a passkey" }).waitFor();
  assert.is((await fetch(link)).status, 404);
});

visit("limits a new session to adding a sign-in method", async ({ page, context }) => {
  await addAuthenticator({ page, context });
  await page.goto(await invitePerson(stack, { email: "eve@example.com" }));
  await page.getByLabel("Your name").fill("Eve Example");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("button", { name: "Set up a passkey" }).waitFor();
  for (const path of ["/account", `/${stack.merchant_id}/sandbox/payments`]) {
    await page.goto(`${stack.console}${path}`);
    assert.match(page.url(), "/way-in");
  }
});

visit("forbids framing, caching and cross-site referrers", async () => {
  for (const path of ["/sign-in", "/invitations/none", "/nothing-here"]) {
    const { headers } = await fetch(`${stack.console}${path}`);
    assert.match(headers.get("content-security-policy") ?? "", "frame-ancestors 'none'", path);
    assert.not.match(headers.get("content-security-policy") ?? "", "unsafe", path);
    assert.is(headers.get("x-frame-options"), "DENY", path);
    assert.is(headers.get("cache-control"), "no-store", path);
    assert.is(headers.get("referrer-policy"), "same-origin", path);
  }
});

visit("emails links to a known browser even while strangers exhaust the limit", async ({ page, context }) => {
  const email = "lia@example.com";
  await signInNew({ page, context }, stack, { email, name: "Lia" });
  await context.clearCookies();
  const askAndSignIn = async () => {
    const seen = (await signInMailsTo(email)).map(({ text }) => text);
    await page.goto(`${stack.console}/sign-in`);
    await page.getByText("Don't have your passkey?").click();
    await page.getByLabel("Email address").fill(email);
    await page.getByRole("button", { name: "Send link" }).click();
    await page.getByText("we've sent a sign-in link").waitFor();
    const isNew = ({ subject, text }: ReceivedMail) => subject === signInSubject && !seen.includes(text);
    const { text } = await mailTo(stack, email, isNew);
    await page.goto(/http\S+\/sign-in\/links\/\S+/.exec(text)?.[0] ?? "");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.waitForURL(`${stack.console}/way-in`);
    await context.clearCookies({ name: /-session$/ });
  };
  await askAndSignIn();
  const stranger = {
    method: "POST",
    redirect: "manual",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ email }),
  } as const;
  for (let n = 0; n < 5; n += 1) await fetch(`${stack.console}/sign-in/link`, stranger);
  await eventually(
    "the strangers' limit",
    async () => (await signInMailsTo(email)).length === signInLinksMax || undefined,
  );
  await askAndSignIn();
  assert.is((await signInMailsTo(email)).length, signInLinksMax + 1);
});

visit("unsubscribes with one click without a sign-in, and not by opening the link", async ({ page, context }) => {
  await signInNew({ page, context }, stack, { email: "iris@example.com", name: "Iris" });
  await freshKey(stack, stack.merchant_id);
  const { headers } = await mailTo(stack, "iris@example.com", (mail) => "list-unsubscribe" in mail.headers);
  const link = /<(http[^>]+)>/.exec(headers["list-unsubscribe"] ?? "")?.[1] ?? "";
  assert.is((await fetch(link)).status, 200);
  await page.goto(`${stack.console}/${stack.merchant_id}/sandbox/notifications`);
  assert.ok(await page.getByLabel("Someone creates an API key").isChecked());
  const body = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
  assert.is((await fetch(link, { method: "POST", body })).status, 200);
  await page.reload();
  assert.not.ok(await page.getByLabel("Someone creates an API key").isChecked());
  assert.is((await fetch(`${link}x`, { method: "POST", body })).status, 404);
});

const signInSubject = "Your sign-in link";

async function signInMailsTo(address: string): Promise<readonly ReceivedMail[]> {
  const answer = await fetch(`${stack.mailbox}/mails.json`);
  const mails = (await answer.json()) as readonly ReceivedMail[];
  return mails.filter(({ to, subject }) => to.includes(address) && subject === signInSubject);
}

test.run();
