// The developers' screens in a real browser: webhooks, API keys, the request log, events.
import * as assert from "uvu/assert";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { merchantApi } from "../harness/api.ts";
import { browserSuite, type Visit } from "../harness/browser.ts";
import { openAs, startConsoleStack } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { pay } from "../harness/pay.ts";
import { isSignedWith, type Receiver, startReceiver } from "../harness/receiver.ts";
import { suite } from "../harness/suite.ts";
import { sendForm, signedIn } from "./console-forms.ts";

const test = suite("console developers", { timeoutMs: 120_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
let running: RunningStack;
let receiver: Receiver;
let dev: Visit;
let base: string;

test.before(async () => {
  running = await startConsoleStack();
  receiver = await startReceiver(running.stack.tls);
  dev = await openAs(visit, running.stack, { email: "dev@example.com", role: "developer" });
  base = `${running.stack.console}/${running.stack.merchant_id}/sandbox`;
});
test.after(async () => {
  await receiver.close();
  await running.stop();
});

/** Registers an endpoint and leaves its page open. @returns the secret that was shown */
async function addEndpoint(path: string, description = "Shop"): Promise<string> {
  const { page } = dev;
  await page.goto(`${base}/webhooks`);
  await page.getByRole("link", { name: "Add an endpoint" }).click();
  await page.getByLabel("Address").fill(`${receiver.url}${path}`);
  await page.getByLabel("Description").fill(description);
  await page.getByRole("button", { name: "Add an endpoint" }).click();
  await page.getByRole("heading", { name: "The endpoint is registered" }).waitFor();
  const secret = (await page.locator(".secret pre").textContent()) ?? "";
  assert.ok((await page.getByText("createHmac").count()) > 0, "with the code that verifies it");
  await page.getByRole("link", { name: "To the endpoint" }).click();
  await page.getByRole("heading", { name: "Deliveries" }).waitFor();
  return secret;
}

visit.alone(
  "an endpoint's secret is shown once, and signs the test event that its page then shows answered",
  async () => {
    const { page } = dev;
    const secret = await addEndpoint("/first");
    receiver.answer({ status: 200 });
    await page.getByRole("button", { name: "Send a test event" }).click();
    const received = await receiver.waitFor(({ path }) => path === "/first");
    assert.ok(isSignedWith(received, secret));
    // Without script the page renews itself; no click is needed.
    await page.locator(".facts .chip", { hasText: "Delivered" }).waitFor();
    await page.getByText('"test.ping"').waitFor();
    await page.goto(`${base}/webhooks`);
    assert.not.ok((await page.content()).includes(secret));
  },
);

visit.alone("a form that is sent twice registers one endpoint, and shows no secret again", async () => {
  const { page } = dev;
  await page.goto(`${base}/webhooks/new`);
  const hiddenField = (name: string) => page.locator(`form.panel input[name=${name}]`).inputValue();
  const form_token = await hiddenField("form_token");
  const key = await hiddenField("key");
  const person = await signedIn(dev.context, running.stack.console ?? "");
  const fields = { form_token, key, url: `${receiver.url}/twice`, description: "", event_types: "payment.failed" };
  const send = async () =>
    await (await sendForm(person, `/${running.stack.merchant_id}/sandbox/webhooks`, fields)).text();
  const [first, second] = [await send(), await send()];
  assert.match(first, /whsec_[\w-]{20}/);
  assert.not.match(second, /whsec_[\w-]{20}/);
  assert.match(second, "registered already");
  await page.goto(`${base}/webhooks`);
  assert.is(await page.getByRole("link", { name: `${receiver.url}/twice` }).count(), 1);
});

visit.alone("what cannot be an endpoint is refused beside its field, with all that was typed", async () => {
  const { page } = dev;
  await page.goto(`${base}/webhooks/new`);
  await page.getByLabel("Address").fill("https://user:pass@shop.example/hook");
  await page.getByLabel("Description").fill("Kept");
  await page.getByLabel("payment.failed", { exact: true }).uncheck();
  await page.getByRole("button", { name: "Add an endpoint" }).click();
  await page.getByText("Enter a public https address").first().waitFor();
  assert.is(await page.getByLabel("Description").inputValue(), "Kept");
  assert.not.ok(await page.getByLabel("payment.failed", { exact: true }).isChecked());
  assert.is(await page.getByLabel("Address").getAttribute("aria-invalid"), "true");
});

visit.alone("a failed delivery is told with the endpoint's own words, and sent again by hand", async () => {
  const { page } = dev;
  await addEndpoint("/refuses");
  receiver.answer(({ path }) => (path === "/refuses" ? { status: 500, body: "<b>no</b> room" } : { status: 200 }));
  await page.getByRole("button", { name: "Send a test event" }).click();
  await page.getByText("http_500").first().waitFor();
  await page.locator("summary", { hasText: "What the endpoint answered" }).first().click();
  await page.getByText("<b>no</b> room").first().waitFor();
  receiver.answer({ status: 200 });
  await page.getByRole("button", { name: "Send again" }).click();
  await page.locator(".facts .chip", { hasText: "Delivered" }).waitFor();
  await page.getByText("by hand").first().waitFor();
});

visit.alone("all that failed goes into the queue again, and the page follows the run to its end", async () => {
  const { page } = dev;
  await page.goto(`${base}/webhooks`);
  await page.getByRole("link", { name: `${receiver.url}/first` }).click();
  await page.locator("summary", { hasText: "Retry failed deliveries" }).click();
  await page.getByLabel("Since").selectOption("month");
  await page.getByRole("button", { name: "Retry failed deliveries" }).click();
  await page.locator(".chip", { hasText: "Finished" }).waitFor();
  assert.match(page.url(), /\/runs\/op_/);
});

visit.alone("an endpoint is changed, disabled, given a new secret, and deleted behind a question", async () => {
  const { page } = dev;
  const secret = await addEndpoint("/changing", "Before");
  await page.getByRole("link", { name: "Change", exact: true }).click();
  await page.getByLabel("Description").fill("After");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("The endpoint is changed.").waitFor();
  await page.getByText("After", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByText("nothing is sent to it").waitFor();
  assert.is(await page.getByRole("button", { name: "Send a test event" }).count(), 0);
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByRole("link", { name: "New signing secret" }).click();
  await page.getByRole("button", { name: "New signing secret" }).click();
  const rolled = (await page.locator(".secret pre").textContent()) ?? "";
  assert.match(rolled, /^whsec_/);
  assert.is.not(rolled, secret);
  await page.getByRole("link", { name: "To the endpoint" }).click();
  await page.getByRole("link", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete the endpoint" }).click();
  await page.getByText("The endpoint is deleted.").waitFor();
  assert.is(await page.getByRole("link", { name: `${receiver.url}/changing` }).count(), 0);
});

visit.alone("a new key works, is shown once, and its roll and revocation end what they say", async () => {
  const { page } = dev;
  await page.goto(`${base}/keys/new`);
  await page.getByLabel("Name").fill("Backend <i>one</i>");
  await page.getByLabel("merchant:read").check();
  await page.getByRole("button", { name: "Make a key" }).click();
  const made = (await page.locator(".secret pre").textContent()) ?? "";
  const works = async (key: string) => (await merchantApi(running.stack.gateway, key).get("/v1/merchants/me")).status;
  assert.is(await works(made), 200);
  await page.getByRole("link", { name: "To the keys" }).click();
  assert.not.ok((await page.content()).includes(made));
  await page.getByRole("link", { name: "Backend <i>one</i>" }).click();
  await page.getByRole("link", { name: "Roll" }).click();
  await page.getByLabel("Keep the old key working for").selectOption("now");
  await page.getByRole("button", { name: "Roll" }).click();
  await page.getByText("The old one does not work any more.").waitFor();
  const rolled = (await page.locator(".secret pre").textContent()) ?? "";
  assert.is(await works(rolled), 200);
  await eventually("the old key to end", async () => (await works(made)) === 401);
  await page.goto(`${base}/keys`);
  await page.getByRole("link", { name: "Backend <i>one</i>" }).first().click();
  await page.getByRole("link", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke the key" }).click();
  await page.getByText("The key is revoked.").waitFor();
  await eventually("the key to be revoked", async () => (await works(rolled)) === 401);
});

visit.alone("a live key needs a fresh proof, and keeps to the addresses that were typed before it", async () => {
  const { page } = dev;
  await page.goto(`${base.replace("sandbox", "live")}/keys/new`);
  await page.getByLabel("Name").fill("Live backend");
  await page.getByLabel("Allowed addresses").fill("203.0.113.9\nnot-an-address");
  await page.getByRole("button", { name: "Make a key" }).click();
  await confirmIfPrompted();
  await page.getByText("Enter addresses or networks").first().waitFor();
  assert.is(await page.getByLabel("Allowed addresses").inputValue(), "203.0.113.9\nnot-an-address");
  await page.getByLabel("Allowed addresses").fill("203.0.113.9");
  await page.getByRole("button", { name: "Make a key" }).click();
  const made = (await page.locator(".secret pre").textContent()) ?? "";
  assert.match(made, /^sk_live_/);
  const refused = await merchantApi(running.stack.gateway, made).get("/v1/payments");
  assert.is(refused.status, 403);
  await page.goto(`${base.replace("sandbox", "live")}/keys`);
  await page.getByRole("link", { name: "Live backend" }).click();
  await page.getByText("203.0.113.9/32").waitFor();
  await page.getByText("Used from").waitFor();
});

async function confirmIfPrompted(): Promise<void> {
  const button = dev.page.getByRole("button", { name: "Confirm with a passkey" });
  if ((await button.count()) > 0) await button.click();
}

visit.alone("a request is found by its Request-Id, and listed by outcome with the name of its key", async () => {
  const { page } = dev;
  const api = merchantApi(running.stack.gateway, running.stack.api_key);
  const refused = await api.get("/v1/payments/pay_00000000000000000000000000");
  const requestId = refused.headers.get("request-id") ?? "";
  await eventually("the request to be in the log", async () => {
    await page.goto(`${base}/requests?outcome=400`);
    return (await page.getByText("/v1/payments/pay_00000000000000000000000000").count()) > 0;
  });
  assert.is(await page.locator("tbody .chip", { hasText: /^2\d\d$/ }).count(), 0);
  await page.getByRole("searchbox", { name: "Request-Id" }).fill(` ${requestId} `);
  await page.getByRole("button", { name: "Find" }).click();
  await page.waitForURL((url) => url.pathname.endsWith(requestId));
  await page.getByText("not_found").waitFor();
  await page.getByText("Local stack").waitFor();
});

visit.alone("what was announced is listed, whether or not an endpoint was told, with what was sent", async () => {
  const { page } = dev;
  receiver.answer({ status: 200 });
  const api = merchantApi(running.stack.gateway, running.stack.api_key);
  const session = (await api.post("/v1/checkout-sessions", { amount: 1050, currency: "USD" })).expect(201);
  await pay(session.text("render.frame_url"));
  const [id, secret] = [session.text("id"), session.text("session_secret")];
  (await api.post(`/v1/checkout/${id}/confirm?secret=${secret}`)).expect(200);
  await eventually("the event to be listed", async () => {
    await page.goto(`${base}/events?type=payment.succeeded`);
    return (await page.locator("tbody").getByRole("link", { name: "payment.succeeded" }).count()) > 0;
  });
  await page.locator("tbody").getByRole("link", { name: "payment.succeeded" }).first().click();
  await page.getByText('"type": "payment.succeeded"').waitFor();
  await page.getByRole("link", { name: `${receiver.url}/first` }).click();
  await page.getByRole("heading", { name: "Attempts" }).waitFor();
});

visit.alone("with the webhook service away a page says which part is missing, and the others work", async () => {
  const { page } = dev;
  await running.halt("webhook");
  try {
    await page.goto(`${base}/webhooks`);
    await page.getByText("Webhooks: cannot be shown at the moment").waitFor();
    await page.goto(`${base}/events`);
    await page.getByText("Events: cannot be shown at the moment").waitFor();
    await page.goto(`${base}/keys`);
    await page.getByRole("link", { name: "Local stack" }).waitFor();
  } finally {
    await running.resume("webhook");
  }
});

test.run();
