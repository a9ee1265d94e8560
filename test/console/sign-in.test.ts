// People come in, sign in and go out, in a real browser whose passkeys are real but for the finger.
import * as assert from "uvu/assert";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { signInLinksMax } from "../../services/merchant/rules/people/session.ts";
import { browserSuite } from "../harness/browser.ts";
import { addAuthenticator, invite, mailTo, type ReceivedMail, sharedConsoles, signInNew } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { freshKey } from "../harness/merchant.ts";
import { suite } from "../harness/suite.ts";

const test = suite("console sign-in", { timeoutMs: 120_000 });
const visit = browserSuite(test);
let stack: StackInfo;

test.before(async () => {
  stack = await sharedConsoles();
});

visit(
  "an invitation leads to a passkey of one's own, and the passkey alone signs in from then on",
  async ({ page, context }) => {
    await signInNew({ page, context }, stack, { email: "ann@example.com", name: "Ann Example" });
    assert.match(page.url(), `/${stack.merchant_id}/sandbox/home`);
    await page.locator("summary", { hasText: "Ann Example" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
    await page.goto(`${stack.console}/account`);
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.waitForURL(`${stack.console}/account`);
    assert.is(await page.getByLabel("Name").inputValue(), "Ann Example");
  },
);

visit("an invitation is opened without being used, and accepted once", async ({ page, context }) => {
  const link = await invite(stack, { email: "bob@example.com" });
  for (let times = 0; times < 3; times += 1) assert.is((await fetch(link)).status, 200);
  await addAuthenticator({ page, context });
  await page.goto(link);
  await page.getByLabel("Your name").fill("Bob Example");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("button", { name: "Set up a passkey" }).waitFor();
  assert.is((await fetch(link)).status, 404);
});

visit("a session that can only add a way to sign in sees nothing else", async ({ page, context }) => {
  await addAuthenticator({ page, context });
  await page.goto(await invite(stack, { email: "eve@example.com" }));
  await page.getByLabel("Your name").fill("Eve Example");
  await page.getByRole("button", { name: "Accept" }).click();
  await page.getByRole("button", { name: "Set up a passkey" }).waitFor();
  for (const path of ["/account", `/${stack.merchant_id}/sandbox/payments`]) {
    await page.goto(`${stack.console}${path}`);
    assert.match(page.url(), "/way-in");
  }
});

visit("nothing that was typed is lost when the session has ended", async ({ page, context }) => {
  await signInNew({ page, context }, stack, { email: "cleo@example.com", name: "Cleo" });
  await page.goto(`${stack.console}/account`);
  await page.getByLabel("Name").fill("Cleo <b>Renamed</b>");
  await context.clearCookies();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Your session has ended").first().waitFor();
  await page.getByRole("button", { name: "Sign in with a passkey" }).click();
  await page.getByRole("button", { name: "Send it now" }).click();
  await page.getByText("Your account is saved.").waitFor();
  assert.is(await page.getByLabel("Name").inputValue(), "Cleo <b>Renamed</b>");
});

visit("a form from anywhere but our own page of this session changes nothing", async ({ page, context }) => {
  await signInNew({ page, context }, stack, { email: "dan@example.com", name: "Dan" });
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join("; ");
  const send = (headers: Record<string, string>, token: string) =>
    fetch(`${stack.console}/account`, {
      method: "POST",
      redirect: "manual",
      headers: { cookie, "content-type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams({ name: "Mallory", language: "", form_token: token }),
    });
  await page.goto(`${stack.console}/account`);
  const token = await page.locator("form[method=post] input[name=form_token]").first().inputValue();
  const ours = { "sec-fetch-site": "same-origin" };
  for (const site of ["cross-site", "same-site", "none"]) {
    assert.is((await send({ "sec-fetch-site": site }, token)).status, 403, site);
  }
  assert.is((await send({ origin: "https://evil.example" }, token)).status, 403);
  for (const wrong of ["", "a.b", token.replace(/^.../, "AAA")])
    assert.is((await send(ours, wrong)).status, 403, wrong);
  await page.reload();
  assert.is(await page.getByLabel("Name").inputValue(), "Dan");
  assert.is((await send(ours, token)).status, 303, "the same form from our own page is taken");
});

visit("no page of a console can be framed or stored, or tells other sites where somebody was", async () => {
  for (const path of ["/sign-in", "/invitations/none", "/nothing-here"]) {
    const { headers } = await fetch(`${stack.console}${path}`);
    assert.match(headers.get("content-security-policy") ?? "", "frame-ancestors 'none'", path);
    assert.not.match(headers.get("content-security-policy") ?? "", "unsafe", path);
    assert.is(headers.get("x-frame-options"), "DENY", path);
    assert.is(headers.get("cache-control"), "no-store", path);
    assert.is(headers.get("referrer-policy"), "same-origin", path);
  }
});

visit("the operators' door knows no session of the merchants', and the other way round", async ({ page, context }) => {
  await signInNew({ page, context }, stack, { email: "olga@example.com", name: "Olga", merchantId: "" });
  assert.match(page.url(), `${stack.operators_console}/merchants`);
  const [session] = (await context.cookies()).filter(({ name }) => name.endsWith("operators-session"));
  assert.ok(session, "there is a session");
  const elsewhere = await fetch(`${stack.console}/account`, {
    redirect: "manual",
    headers: { cookie: `tollbooth-merchants-session=${session?.value}` },
  });
  assert.is(elsewhere.status, 303);
  assert.match(elsewhere.headers.get("location") ?? "", "/sign-in");
});

visit("the mailbox has the invitation, and its link is the one that works", async ({ page, context }) => {
  const link = await invite(stack, { email: "gus@example.com" });
  const { text } = await mailTo(stack, "gus@example.com");
  assert.ok(text.includes(link), "the mail has the link");
  await addAuthenticator({ page, context });
  await page.goto(link);
  await page.getByLabel("Your name").waitFor();
});

visit(
  "a browser that has used a mailed link is sent links also while strangers ask for them",
  async ({ page, context }) => {
    const email = "lia@example.com";
    await signInNew({ page, context }, stack, { email, name: "Lia" });
    await context.clearCookies();
    const askAndSignIn = async () => {
      const seen = (await signInMailsTo(email)).map(({ text }) => text);
      await page.goto(`${stack.console}/sign-in`);
      await page.getByText("No passkey at hand?").click();
      await page.getByLabel("E-mail address").fill(email);
      await page.getByRole("button", { name: "Send a link" }).click();
      await page.getByText("a link is on its way").waitFor();
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
      "what strangers may ask for",
      async () => (await signInMailsTo(email)).length === signInLinksMax || undefined,
    );
    await askAndSignIn();
    assert.is((await signInMailsTo(email)).length, signInLinksMax + 1);
  },
);

visit(
  "the link in a mail ends mails of its kind without a sign-in: opening it does nothing, one click does",
  async ({ page, context }) => {
    await signInNew({ page, context }, stack, { email: "iris@example.com", name: "Iris" });
    await freshKey(stack, stack.merchant_id);
    const { headers } = await mailTo(stack, "iris@example.com", (mail) => "list-unsubscribe" in mail.headers);
    const link = /<(http[^>]+)>/.exec(headers["list-unsubscribe"] ?? "")?.[1] ?? "";
    assert.is((await fetch(link)).status, 200);
    await page.goto(`${stack.console}/${stack.merchant_id}/sandbox/notifications`);
    assert.ok(await page.getByLabel("somebody makes an API key").isChecked());
    const body = new URLSearchParams({ "List-Unsubscribe": "One-Click" });
    assert.is((await fetch(link, { method: "POST", body })).status, 200);
    await page.reload();
    assert.not.ok(await page.getByLabel("somebody makes an API key").isChecked());
    assert.is((await fetch(`${link}x`, { method: "POST", body })).status, 404);
  },
);

const signInSubject = "Your link to sign in";

async function signInMailsTo(address: string): Promise<readonly ReceivedMail[]> {
  const answer = await fetch(`${stack.mailbox}/mails.json`);
  // As our own mailbox writes them.
  const mails = (await answer.json()) as readonly ReceivedMail[];
  return mails.filter(({ to, subject }) => to.includes(address) && subject === signInSubject);
}

test.run();
