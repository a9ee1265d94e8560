// The settings' screens in a real browser: branding, processors, team, profile, notifications and audit log.
import type { Frame } from "playwright-core";
import * as assert from "uvu/assert";
import { typeCard } from "../browser/buyer.ts";
import { merchantApi } from "../harness/api.ts";
import { browserSuite, takeScreenshot, type Visit } from "../harness/browser.ts";
import { addAuthenticator, mailTo, openAs, startConsoleStack } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { jpegFile, pdfFile, pngFile } from "../harness/files/sample-files.ts";
import { cards } from "../harness/pay.ts";
import { FakeStripe } from "../harness/stripe/fake-stripe.ts";
import { fixture, suite } from "../harness/suite.ts";
import { confirmIfPrompted, personOf } from "./person.ts";

const test = suite("console settings", { timeoutMs: 120_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
const stripeKeys = {
  secret: `sk_test_${"a1B2".repeat(6)}`,
  publishable: `pk_test_${"a1B2".repeat(6)}`,
  webhook: `whsec_${"a1B2".repeat(8)}`,
};
const stripe = fixture(test, () => new FakeStripe().start());
const running = fixture(test, () => startConsoleStack({ shape: "one", env: { STRIPE_API_URL: stripe.url } }));
let owner: Visit;
let base: string;

test.before(async () => {
  stripe.account("acct_console", stripeKeys.secret);
  owner = await openAs(visit, running.stack, { email: "olivia@example.com", name: "Olivia Owner" });
  base = `${running.stack.console}/${running.stack.merchant_id}/sandbox`;
});

visit("asks customers for their email and sends receipts once both are turned on", async ({ page: buyer }) => {
  const { page } = owner;
  await page.goto(`${base}/branding`);
  const frame = await previewFrame();
  await page.getByLabel("Ask customers for their email").selectOption("required");
  await frame.getByLabel("E-mail").waitFor();
  await page.getByLabel("Email receipts").selectOption("on");
  await takeScreenshot(page, "console-branding-receipts");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Branding saved").first().waitFor();
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
});

async function previewFrame(): Promise<Frame> {
  const frame = await (await owner.page.waitForSelector(".preview iframe")).contentFrame();
  if (!frame) throw new Error("the preview has no frame");
  await frame.locator(".pay-label").waitFor();
  return frame;
}

visit.alone("previews the typed branding in every state and saves it", async () => {
  const { page } = owner;
  await page.goto(`${base}/branding`);
  const frame = await previewFrame();
  await page.getByLabel("Display name").fill("<img src=x onerror=alert(1)> Books");
  await frame.getByText("<img src=x onerror=alert(1)> Books").first().waitFor();
  assert.ok(
    await page.getByLabel("Display name").evaluate((field) => field.matches(":focus")),
    "the field keeps the focus",
  );
  await page.getByLabel("Accent color", { exact: true }).fill("#0A7D4F");
  await frame.locator("#look[href*='0a7d4f']").waitFor({ state: "attached" });
  for (const [state, text] of [
    ["action_required", "bank"],
    ["declined", "declined"],
    ["succeeded", "€24.90"],
    ["expired", "expired"],
    ["canceled", "canceled"],
  ] as const) {
    await page.getByLabel("Status").selectOption(state);
    await frame.locator("#page", { hasText: text }).waitFor();
  }
  await page.getByLabel("Language").selectOption("de");
  await page.getByLabel("Status").selectOption("ready");
  await frame.getByText("24,90 € bezahlen").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Branding saved.").waitFor();
  const api = merchantApi(running.stack.gateway, running.stack.api_key);
  const stored = (await api.get("/v1/merchants/me/branding")).expect(200);
  assert.is(stored.text("accent_color"), "#0a7d4f");
  assert.is(stored.text("display_name"), "<img src=x onerror=alert(1)> Books");
});

visit.alone("shows an uploaded logo to buyers, in its own type only, and refuses other files", async () => {
  const { page } = owner;
  const person = await personOf(owner, running.stack, "/account");
  const path = `${new URL(base).pathname}/branding`;
  const webp = Buffer.from("RIFF\u0000\u0000\u0000\u0000WEBPVP8 ", "latin1");
  for (const content of [Buffer.from("<svg/>"), pdfFile(), Buffer.alloc(0), pngFile(1, 1, 513 * 1_024)]) {
    const { status, text } = await person.upload(`${path}/logo`, {}, content, "logo.png");
    assert.is(status, 422);
    assert.match(text, "Choose a PNG, JPEG or WebP file of at most 512 kB.");
  }
  const addresses: string[] = [];
  for (const [content, type] of [
    [webp, "image/webp"],
    [jpegFile(), "image/jpeg"],
    [pngFile(1, 1, 511 * 1_024), "image/png"],
  ] as const) {
    assert.match((await person.upload(`${path}/logo`, {}, content, "a.svg")).location, "done=branding-saved");
    const [, address = ""] = /value="(http:[^"]+\/logos\/[^"]+)"/.exec((await person.get(path)).text) ?? [];
    addresses.push(address);
    const answer = await fetch(address);
    assert.equal(Buffer.from(await answer.arrayBuffer()), content);
    const header = (name: string) => answer.headers.get(name);
    assert.is(header("content-type"), type);
    assert.is(header("x-content-type-options"), "nosniff");
    assert.is(header("content-security-policy"), "sandbox; default-src 'none'");
    assert.match(header("cache-control") ?? "", "immutable");
  }
  for (const unknown of ["0", "00000000-0000-4000-8000-000000000000"])
    assert.is((await fetch(new URL(`/logos/${unknown}`, addresses[0]))).status, 404);
  await page.goto(`${base}/branding`);
  await page.getByLabel("Upload logo").setInputFiles({ name: "logo.png", mimeType: "image/png", buffer: pngFile() });
  await page.getByRole("button", { name: "Upload", exact: true }).click();
  await page.getByText("Branding saved.").waitFor();
  const frame = await previewFrame();
  await frame.locator("img.logo").waitFor();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Branding saved.").waitFor();
  const logo = await page.getByLabel("Logo", { exact: true }).inputValue();
  const api = merchantApi(running.stack.gateway, running.stack.api_key);
  const session = (await api.post("/v1/checkout-sessions", { amount: 100, currency: "EUR" })).expect(201);
  const buyer = await visit.open();
  await buyer.page.goto(session.text("checkout_url"));
  assert.is(await buyer.page.locator("img.logo").first().getAttribute("src"), logo);
  await buyer.page.waitForFunction("document.querySelector('img.logo').naturalWidth === 1");
  await buyer.close();
});

visit.alone("accepts preview messages and framing from the console only", async () => {
  const { page } = owner;
  await page.goto(`${base}/branding`);
  const frame = await previewFrame();
  // The message comes from the frame itself. The page's own listener runs before ours.
  await frame.evaluate(
    `new Promise((done) => {
       addEventListener("message", () => done(0), { once: true });
       postMessage({ kind: "tollbooth-preview", branding: { display_name: "Forged" }, state: "expired" }, location.origin);
     })`,
  );
  assert.is(await frame.getByText("Forged").count(), 0);
  await page.getByLabel("Tagline").fill("Truly ours");
  await frame.getByText("Truly ours").waitFor();
  const person = await personOf(owner, running.stack, "/account");
  const path = new URL(base).pathname;
  const framed = await person.get(`${path}/branding/preview`);
  assert.match(framed.headers.get("content-security-policy") ?? "", "frame-ancestors 'self'");
  assert.match(framed.headers.get("content-security-policy") ?? "", "script-src 'self'");
  for (const screen of ["branding", "keys", "processors", "team"]) {
    const { headers } = await person.get(`${path}/${screen}`);
    assert.match(headers.get("content-security-policy") ?? "", "frame-ancestors 'none'", screen);
    assert.is(headers.get("x-frame-options"), "DENY", screen);
  }
});

visit.alone("rejects an invalid color and address next to their fields", async () => {
  const { page } = owner;
  await page.goto(`${base}/branding`);
  await page.getByLabel("Accent color", { exact: true }).fill("red;}");
  await page.getByLabel("Logo", { exact: true }).fill("https:///nowhere");
  await page.getByLabel("Logo", { exact: true }).evaluate((field) => field.setAttribute("type", "text"));
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".problems").getByText("Enter a color like #0a7d4f.").waitFor();
  assert.is(await page.getByLabel("Accent color", { exact: true }).inputValue(), "red;}");
});

visit.alone("asks for processor keys after proof, checks them and never shows them again", async () => {
  const { page } = owner;
  await page.goto(`${base}/processors/new`);
  await page.getByRole("link", { name: "Stripe" }).click();
  if ((await page.getByRole("button", { name: "Confirm" }).count()) > 0) {
    await page.getByRole("button", { name: "Confirm" }).click();
    await confirmIfPrompted(owner.page);
  }
  await page.getByLabel("Secret or restricted key").fill(stripeKeys.secret);
  await page.getByLabel("Publishable key").fill("pk_live_wrong");
  await page.getByLabel("Webhook signing secret").fill(stripeKeys.webhook);
  await page.getByRole("button", { name: "Add account" }).click();
  await page.locator(".problem").getByText("The processor rejects this").waitFor();
  assert.not.ok((await page.content()).includes(stripeKeys.secret), "the rejected form holds no key");
  await page.getByLabel("Secret or restricted key").fill(stripeKeys.secret);
  await page.getByLabel("Publishable key").fill(stripeKeys.publishable);
  await page.getByLabel("Webhook signing secret").fill(stripeKeys.webhook);
  await page.getByRole("button", { name: "Add account" }).click();
  await page.getByText("Account verified and saved.").waitFor();
  await page.getByText("/processors/stripe/acct_console").waitFor();
  await page.getByRole("button", { name: "Check account" }).click();
  await page.getByText("The credentials work.").waitFor();
  await page.getByRole("link", { name: "View account" }).click();
  await page.getByRole("link", { name: "Make primary" }).click();
  await page.getByRole("button", { name: "Make primary" }).click();
  await confirmIfPrompted(owner.page);
  await page.locator(".facts .chip", { hasText: "Primary" }).waitFor();
  await page.getByLabel("Redirect").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("This applies to new payments.").waitFor();
  await page.getByRole("link", { name: "Payment methods" }).click();
  await page.getByLabel("iDEAL").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("This applies to new payments.").waitFor();
  assert.ok(await page.getByLabel("iDEAL").isChecked());
  for (const method of ["Card", "iDEAL"]) await page.getByLabel(method, { exact: true }).uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Choose at least one method.").waitFor();
  await page.getByRole("link", { name: "View account" }).click();
  await page.getByRole("link", { name: "Turn off" }).click();
  await page.getByRole("button", { name: "Turn off" }).click();
  await page.getByText("Account turned off").waitFor();
  await page.getByText("Turned off", { exact: true }).waitFor();
});

visit.alone("adds and removes a routing rule, and previews which account a payment would get", async () => {
  const { page } = owner;
  await page.goto(`${base}/processors`);
  await page.getByText("No account would take it").waitFor();
  await page.getByRole("link", { name: "Simulator" }).first().click();
  await page.getByRole("link", { name: "Make primary" }).click();
  await page.getByRole("button", { name: "Make primary" }).click();
  await confirmIfPrompted(owner.page);
  await page.locator(".facts .chip", { hasText: "Primary" }).waitFor();
  await page.goto(`${base}/processors`);
  await page.getByRole("link", { name: "Change routing" }).click();
  await page.getByLabel("Currency", { exact: true }).fill("EUR");
  await page.getByLabel("From amount").fill("20.00");
  await page.getByLabel("Up to amount").fill("10.00");
  await page.getByLabel("Share").fill("40");
  await page.getByRole("button", { name: "Add a rule" }).click();
  await confirmIfPrompted(owner.page);
  await page.locator(".problems").getByText("The rule isn't valid.").waitFor();
  assert.is(await page.getByLabel("From amount").inputValue(), "20.00");
  await page.getByLabel("Up to amount").fill("");
  await page.getByRole("button", { name: "Add a rule" }).click();
  await page.getByText("This applies to new payments.").waitFor();
  await page.getByRole("link", { name: "Back to processors" }).click();
  await page.getByText("EUR, from €20.00").waitFor();
  await page.getByLabel("Amount").fill("25.00");
  await page.getByLabel("Currency", { exact: true }).fill("EUR");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText(/^40 %: .*\(rule 1\)$/).waitFor();
  await page.getByText(/^60 %: .*\(primary account\)$/).waitFor();
  await page.getByLabel("Amount").fill("19.99");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText(/^Simulator .*\(primary account\)$/).waitFor();
  await page.getByRole("link", { name: "Change routing" }).click();
  await page.getByLabel("Processor error").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("This applies to new payments.").waitFor();
  await page.getByRole("button", { name: "Remove rule 1" }).click();
  await page.getByText("No rules.").waitFor();
  assert.ok(await page.getByLabel("Processor error").isChecked(), "another change keeps it");
});

visit.alone("carries no secret field through a sign-in", async () => {
  const someone = await openAs(visit, running.stack, { email: "vera@example.com", name: "Vera" });
  const person = await personOf(someone, running.stack, "/account");
  const path = `${new URL(base).pathname}/processors/new/stripe`;
  const fields = { secret_secret_key: stripeKeys.secret, make_default: "yes" };
  const { status, text } = await person.post(path, fields, { cookie: "" });
  assert.is(status, 401);
  assert.match(text, "make_default");
  assert.not.match(text, stripeKeys.secret);
});

visit.alone("invites a member by email, edits and removes them", async () => {
  const { page } = owner;
  await page.goto(`${base}/team/invite`);
  await page.getByLabel("Email address").fill("sam@example.com");
  await page.getByLabel("Support", { exact: true }).check();
  await page.getByLabel("Refund limit in USD").fill("12,345.6");
  await page.getByRole("button", { name: "Send invitation" }).click();
  await confirmIfPrompted(owner.page);
  await page.locator(".problems").getByText("Enter an amount like 100.00,").waitFor();
  await page.getByLabel("Refund limit in USD").fill("50.00");
  await page.getByRole("button", { name: "Send invitation" }).click();
  await page.getByText("sam@example.com").first().waitFor();
  assert.is(await page.locator(".secret").count(), 0, "only the email shows the link, which verifies the address");
  const { text } = await mailTo(running.stack, "sam@example.com");
  const link = /http:\/\/localhost:\d+\/invitations\/[\w-]+/.exec(text)?.[0] ?? "";
  assert.is.not(link, "");
  await page.getByRole("link", { name: "View team" }).click();
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
  await page.getByRole("link", { name: "Edit Sam <script>" }).click();
  await page.getByLabel("Viewer", { exact: true }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Member updated.").waitFor();
  await page.getByRole("link", { name: "Edit Sam <script>" }).click();
  await page.getByRole("link", { name: "Remove" }).click();
  await page.getByRole("button", { name: "Remove member" }).click();
  await page.getByText("Member removed.").waitFor();
  await sam.page.goto(`${base}/payments`);
  assert.is(new URL(sam.page.url()).pathname, "/sign-in");
  await sam.close();
});

visit.alone("saves a profile per environment and escapes hostile text", async () => {
  const { page } = owner;
  await page.goto(`${base}/profile`);
  await page.getByLabel("Legal name").fill('"><script>alert(1)</script>');
  await page.getByLabel("Phone").fill("+49 (30) 123-456");
  await page.getByLabel("Website").fill("https://shop.example/");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Profile saved.").waitFor();
  assert.is(await page.getByLabel("Phone").inputValue(), "+4930123456");
  assert.is(await page.getByLabel("Legal name").inputValue(), '"><script>alert(1)</script>');
  await page.goto(`${base.replace("sandbox", "live")}/profile`);
  assert.is(await page.getByLabel("Phone").inputValue(), "");
  await page.goto(`${base}/profile`);
  await page.getByLabel("Phone").fill("none");
  await page.getByRole("button", { name: "Save" }).click();
  await page.locator(".problems").getByText("Enter a number like +4930123456.").waitFor();
});

visit.alone("saves a member's own notifications", async () => {
  const { page } = owner;
  await page.goto(`${base}/notifications`);
  await page.getByLabel("A dispute needs a response soon").uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Notifications saved.").waitFor();
  assert.not.ok(await page.getByLabel("A dispute needs a response soon").isChecked());
  assert.ok(await page.getByLabel("A refund fails").isChecked());
});

visit.alone("shows actions in the audit log with the person's name", async () => {
  const { page } = owner;
  const row = () => page.locator("tbody tr", { hasText: "Changed the branding" }).first();
  await eventually("the act to be in the log", async () => {
    await page.goto(`${base}/audit`);
    return (await row().count()) > 0;
  });
  assert.match((await row().textContent()) ?? "", "Olivia Owner");
  await page.getByLabel("Action").selectOption({ label: "Removed a member" });
  await page.getByRole("button", { name: "Filter" }).click();
  await page.getByText("Sam <script>alert(1)</script>").first().waitFor();
  assert.is(await page.locator("tbody tr").count(), 1);
  await page.locator("tbody").getByRole("link", { name: "Olivia Owner" }).click();
  await page.getByText("Who: Olivia Owner").waitFor();
});

test.run();
