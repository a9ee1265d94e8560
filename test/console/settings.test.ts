// The settings' screens in a real browser: branding with its preview, processors, team, profile, notifications, audit.
import type { Frame } from "playwright-core";
import * as assert from "uvu/assert";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { typeCard } from "../browser/buyer.ts";
import { merchantApi } from "../harness/api.ts";
import { browserSuite, shoot, type Visit } from "../harness/browser.ts";
import { addAuthenticator, mailTo, openAs, startConsoleStack } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { cards } from "../harness/pay.ts";
import { FakeStripe } from "../harness/stripe/fake-stripe.ts";
import { suite } from "../harness/suite.ts";
import { getPage, sendForm, signedIn, tokenOf } from "./console-forms.ts";

const test = suite("console settings", { timeoutMs: 120_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
const stripeKeys = {
  secret: `sk_test_${"a1B2".repeat(6)}`,
  publishable: `pk_test_${"a1B2".repeat(6)}`,
  webhook: `whsec_${"a1B2".repeat(8)}`,
};
let running: RunningStack;
let stripe: FakeStripe;
let owner: Visit;
let base: string;

test.before(async () => {
  stripe = await new FakeStripe().start();
  stripe.account("acct_console", stripeKeys.secret);
  running = await startConsoleStack({ shape: "one", env: { STRIPE_API_URL: stripe.url } });
  owner = await openAs(visit, running.stack, { email: "olivia@example.com", name: "Olivia Owner" });
  base = `${running.stack.console}/${running.stack.merchant_id}/sandbox`;
});
test.after(async () => {
  await running.stop();
  await stripe.stop();
});

/** What is grave is proved once in five minutes. */
async function confirmIfPrompted(): Promise<void> {
  const button = owner.page.getByRole("button", { name: "Confirm with a passkey" });
  if ((await button.count()) > 0) await button.click();
}

visit(
  "who switches on the e-mail field and receipts has buyers asked on the page, and their receipts sent",
  async ({ page: buyer }) => {
    const { page } = owner;
    await page.goto(`${base}/branding`);
    const frame = await previewFrame();
    await page.getByLabel("Buyer's e-mail on the page").selectOption("required");
    await frame.getByLabel("E-mail").waitFor();
    await page.getByLabel("Receipts by e-mail").selectOption("on");
    await shoot(page, "console-branding-receipts");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved").first().waitFor();
    const api = merchantApi(running.stack.gateway, running.stack.api_key);
    const body = { amount: 1050, currency: "EUR", description: "Order 7", locale: "fr" };
    const session = (await api.post("/v1/checkout-sessions", body)).expect(201);
    await buyer.goto(session.text("checkout_url"));
    await typeCard(buyer, cards.succeeds);
    await buyer.getByLabel("E-mail").fill("berta@example.com");
    await buyer.locator("button.pay").click();
    const mail = await mailTo(running.stack, "berta@example.com");
    assert.match(mail.subject, "[Sandbox] Votre reçu de");
    assert.match(mail.text, "10,50");
  },
);

async function previewFrame(): Promise<Frame> {
  const frame = await (await owner.page.waitForSelector(".preview iframe")).contentFrame();
  if (!frame) throw new Error("the preview has no frame");
  await frame.locator(".pay-label").waitFor();
  return frame;
}

visit.alone(
  "the payment page shows what is typed as it is typed, in every state, and is saved for the next buyer",
  async () => {
    const { page } = owner;
    await page.goto(`${base}/branding`);
    const frame = await previewFrame();
    await page.getByLabel("Name on the page").fill("<img src=x onerror=alert(1)> Books");
    await frame.getByText("<img src=x onerror=alert(1)> Books").first().waitFor();
    assert.ok(await page.getByLabel("Name on the page").evaluate((field) => field.matches(":focus")), "typing goes on");
    await page.getByLabel("Accent color", { exact: true }).fill("#0A7D4F");
    await frame.locator("#look[href*='0a7d4f']").waitFor({ state: "attached" });
    for (const [state, text] of [
      ["action_required", "bank"],
      ["declined", "declined"],
      ["succeeded", "€24.90"],
      ["expired", "expired"],
      ["canceled", "canceled"],
    ] as const) {
      await page.getByLabel("State").selectOption(state);
      await frame.locator("#page", { hasText: text }).waitFor();
    }
    await page.getByLabel("Language").selectOption("de");
    await page.getByLabel("State").selectOption("ready");
    await frame.getByText("24,90 € bezahlen").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved: the next buyer sees it.").waitFor();
    const api = merchantApi(running.stack.gateway, running.stack.api_key);
    const stored = (await api.get("/v1/merchants/me/branding")).expect(200);
    assert.is(stored.text("accent_color"), "#0a7d4f");
    assert.is(stored.text("display_name"), "<img src=x onerror=alert(1)> Books");
  },
);

visit.alone("the preview takes no words from elsewhere, and nobody but the console frames it", async () => {
  const { page } = owner;
  await page.goto(`${base}/branding`);
  const frame = await previewFrame();
  // From the frame itself, not from the page around it; the page's own listener has seen it when ours is called.
  await frame.evaluate(
    `new Promise((done) => {
       addEventListener("message", () => done(0), { once: true });
       postMessage({ kind: "tollbooth-preview", branding: { display_name: "Forged" }, state: "expired" }, location.origin);
     })`,
  );
  assert.is(await frame.getByText("Forged").count(), 0);
  await page.getByLabel("Line under the name").fill("Truly ours");
  await frame.getByText("Truly ours").waitFor();
  const person = await signedIn(owner.context, running.stack.console ?? "");
  const path = new URL(base).pathname;
  const framed = await getPage(person, `${path}/branding/preview`);
  assert.match(framed.headers.get("content-security-policy") ?? "", "frame-ancestors 'self'");
  assert.match(framed.headers.get("content-security-policy") ?? "", "script-src 'self'");
  for (const screen of ["branding", "keys", "processors", "team"]) {
    const { headers } = await getPage(person, `${path}/${screen}`);
    assert.match(headers.get("content-security-policy") ?? "", "frame-ancestors 'none'", screen);
    assert.is(headers.get("x-frame-options"), "DENY", screen);
  }
});

visit.alone("a colour that is none and an address that is not https are refused beside their fields", async () => {
  const { page } = owner;
  await page.goto(`${base}/branding`);
  await page.getByLabel("Accent color", { exact: true }).fill("red;}");
  await page.getByLabel("Logo").fill("https:///nowhere");
  await page.getByLabel("Logo").evaluate((field) => field.setAttribute("type", "text"));
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".problems").getByText("Enter a color like #0a7d4f.").waitFor();
  assert.is(await page.getByLabel("Accent color", { exact: true }).inputValue(), "red;}");
});

visit.alone("keys of a processor are asked for after the proof, tried, and shown nowhere again", async () => {
  const { page } = owner;
  await page.goto(`${base}/processors/new`);
  if ((await page.getByRole("button", { name: "Confirm" }).count()) > 0) {
    await page.getByRole("button", { name: "Confirm" }).click();
    await confirmIfPrompted();
  }
  await page.getByLabel("Secret or restricted key").fill(stripeKeys.secret);
  await page.getByLabel("Publishable key").fill("pk_live_wrong");
  await page.getByLabel("Signing secret of the webhook").fill(stripeKeys.webhook);
  await page.getByRole("button", { name: "Add a Stripe account" }).click();
  await page.locator(".problem").getByText("The processor does not take this").waitFor();
  assert.not.ok((await page.content()).includes(stripeKeys.secret), "a form that is shown again has no key in it");
  await page.getByLabel("Secret or restricted key").fill(stripeKeys.secret);
  await page.getByLabel("Publishable key").fill(stripeKeys.publishable);
  await page.getByLabel("Signing secret of the webhook").fill(stripeKeys.webhook);
  await page.getByRole("button", { name: "Add a Stripe account" }).click();
  await page.getByText("The account works and is stored.").waitFor();
  await page.getByText("/processors/stripe/acct_console").waitFor();
  await page.getByRole("button", { name: "Check the account" }).click();
  await page.getByText("The credentials work.").waitFor();
  await page.getByRole("link", { name: "To the account" }).click();
  await page.getByRole("link", { name: "Make it the primary account" }).click();
  await page.getByRole("button", { name: "Make it the primary account" }).click();
  await confirmIfPrompted();
  await page.locator(".facts .chip", { hasText: "Primary" }).waitFor();
  await page.getByLabel("Redirect").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved: new payments go this way.").waitFor();
  await page.getByRole("link", { name: "Switch off" }).click();
  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByText("The account is switched off").waitFor();
  await page.getByText("Switched off", { exact: true }).waitFor();
});

visit.alone(
  "a secret that was typed is carried by no page, neither through a proof nor through a sign-in",
  async () => {
    const someone = await openAs(visit, running.stack, { email: "vera@example.com", name: "Vera" });
    const person = await signedIn(someone.context, running.stack.console ?? "");
    const path = `${new URL(base).pathname}/processors/new`;
    const fields = { secret_secret_key: stripeKeys.secret, make_default: "yes", form_token: await tokenOf(person) };
    const signedOut = await sendForm({ ...person, cookie: "" }, path, fields);
    const text = await signedOut.text();
    assert.is(signedOut.status, 401);
    assert.match(text, "make_default");
    assert.not.match(text, stripeKeys.secret);
  },
);

visit.alone("a colleague is invited by mail, joins, is changed, and removed", async () => {
  const { page } = owner;
  await page.goto(`${base}/team/invite`);
  await page.getByLabel("E-mail address").fill("sam@example.com");
  await page.getByLabel("Support", { exact: true }).check();
  await page.getByLabel("Refund limit in USD").fill("12,345.6");
  await page.getByRole("button", { name: "Invite" }).click();
  await confirmIfPrompted();
  await page.locator(".problems").getByText("Enter an amount like 100.00.").waitFor();
  await page.getByLabel("Refund limit in USD").fill("50.00");
  await page.getByRole("button", { name: "Invite" }).click();
  await page.getByText("sam@example.com").first().waitFor();
  assert.is(await page.locator(".secret").count(), 0, "who has it by mail alone proves the address");
  const { text } = await mailTo(running.stack, "sam@example.com");
  const link = /http:\/\/localhost:\d+\/invitations\/[\w-]+/.exec(text)?.[0] ?? "";
  assert.is.not(link, "");
  await page.getByRole("link", { name: "To the team" }).click();
  await page.getByText("sam@example.com").waitFor();
  assert.not.ok((await page.content()).includes(link));
  const sam = await visit.open({ viewport: { width: 1280, height: 800 } });
  await addAuthenticator(sam);
  await sam.page.goto(link);
  await sam.page.getByLabel("Your name").fill("Sam <script>alert(1)</script>");
  await sam.page.getByRole("button", { name: "Accept" }).click();
  await sam.page.getByRole("button", { name: "Set up a passkey" }).click();
  await sam.page.waitForURL((url) => url.pathname.endsWith("/home"));
  await page.reload();
  await page.getByText("Refund limit: $50.00").waitFor();
  await page.getByRole("link", { name: "Change Sam <script>" }).click();
  await page.getByLabel("Viewer", { exact: true }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The member is changed.").waitFor();
  await page.getByRole("link", { name: "Change Sam <script>" }).click();
  await page.getByRole("link", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove the member" }).click();
  await page.getByText("The member is removed.").waitFor();
  const gone = await sam.page.goto(`${base}/payments`);
  assert.is(gone?.status(), 404);
  await sam.close();
});

visit.alone("the last owner stays, and the form says so", async () => {
  const { page } = owner;
  const change = async (name: string) => {
    await page.goto(`${base}/team`);
    await page.getByRole("link", { name: `Change ${name}` }).click();
    await page.getByLabel("Viewer", { exact: true }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await confirmIfPrompted();
  };
  await change("Vera");
  await page.getByText("The member is changed.").waitFor();
  await change("Olivia Owner");
  await page.locator(".problems").getByText("the last owner stays").waitFor();
  await page.getByRole("link", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove the member" }).click();
  await page.locator(".problem").getByText("the last owner stays").waitFor();
  await page.goto(`${base}/team`);
  await page.getByText("Olivia Owner").first().waitFor();
});

visit.alone("the table of rights shows every action with every role", async () => {
  const { page } = owner;
  await page.goto(`${base}/team`);
  await page.getByRole("link", { name: "What each role may do" }).click();
  await page.getByRole("heading", { name: "Roles" }).waitFor();
  assert.is(await page.locator("tbody tr").count(), 20);
  assert.is(await page.locator("thead th").count(), 7);
});

visit.alone("the profile is one of its environment, and hostile text in it is text", async () => {
  const { page } = owner;
  await page.goto(`${base}/profile`);
  await page.getByLabel("Registered name").fill('"><script>alert(1)</script>');
  await page.getByLabel("Phone").fill("+49 (30) 123-456");
  await page.getByLabel("Website").fill("https://shop.example/");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The profile is saved.").waitFor();
  assert.is(await page.getByLabel("Phone").inputValue(), "+4930123456");
  assert.is(await page.getByLabel("Registered name").inputValue(), '"><script>alert(1)</script>');
  await page.goto(`${base.replace("sandbox", "live")}/profile`);
  assert.is(await page.getByLabel("Phone").inputValue(), "");
  await page.goto(`${base}/profile`);
  await page.getByLabel("Phone").fill("none");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".problems").getByText("Enter a number like +4930123456.").waitFor();
});

visit.alone("everybody chooses their own mails", async () => {
  const { page } = owner;
  await page.goto(`${base}/notifications`);
  await page.getByLabel("a dispute must be answered soon").uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved: you get these mails").waitFor();
  assert.not.ok(await page.getByLabel("a dispute must be answered soon").isChecked());
  assert.ok(await page.getByLabel("a refund fails").isChecked());
});

visit.alone("what was done stands in the audit log with the name of who did it", async () => {
  const { page } = owner;
  const row = () => page.locator("tbody tr", { hasText: "Changed the branding" }).first();
  await eventually("the act to be in the log", async () => {
    await page.goto(`${base}/audit`);
    return (await row().count()) > 0;
  });
  assert.match((await row().textContent()) ?? "", "Olivia Owner");
  await page.getByLabel("What was done").selectOption({ label: "Removed a member" });
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("Sam <script>alert(1)</script>").first().waitFor();
  assert.is(await page.locator("tbody tr").count(), 1);
  await page.locator("tbody").getByRole("link", { name: "Olivia Owner" }).click();
  await page.getByText("Who: Olivia Owner").waitFor();
});

test.run();
