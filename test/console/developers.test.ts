// The developers' screens in a real browser: webhooks, API keys, request log and events.
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { merchantApi } from "../harness/api.ts";
import { browserSuite, type Visit } from "../harness/browser.ts";
import { openAs, startConsoleStack } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { payInFrame } from "../harness/pay.ts";
import { isSignedWith, startReceiver } from "../harness/receiver.ts";
import { fixture, suite } from "../harness/suite.ts";
import { confirmIfPrompted, personOf } from "./person.ts";
import { makePurchase } from "./purchases.ts";

const test = suite("console developers", { timeoutMs: 120_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
const running = fixture(test, () => startConsoleStack());
const receiver = fixture(test, () => startReceiver(running.stack.tls));
let dev: Visit;
let base: string;

test.before(async () => {
  dev = await openAs(visit, running.stack, { email: "dev@example.com", role: "developer" });
  base = `${running.stack.console}/${running.stack.merchant_id}/sandbox`;
});

/** Adds an endpoint and opens its page. @returns the signing secret */
async function addEndpoint(path: string, description = "Shop"): Promise<string> {
  const { page } = dev;
  await page.goto(`${base}/webhooks`);
  await page.getByRole("link", { name: "Add endpoint" }).click();
  await page.getByLabel("URL").fill(`${receiver.url}${path}`);
  await page.getByLabel("Description").fill(description);
  await page.getByRole("button", { name: "Add endpoint" }).click();
  await page.getByRole("heading", { name: "Endpoint added" }).waitFor();
  const secret = (await page.locator(".secret pre").textContent()) ?? "";
  assert.ok((await page.getByText("createHmac").count()) > 0, "the page has code that verifies signatures");
  await page.getByRole("link", { name: "View endpoint" }).click();
  await page.getByRole("heading", { name: "Deliveries" }).waitFor();
  return secret;
}

visit.alone("shows an endpoint's secret once and the delivered test event that it signs", async () => {
  const { page } = dev;
  const secret = await addEndpoint("/first");
  receiver.answer({ status: 200 });
  await page.getByRole("button", { name: "Send test event" }).click();
  const received = await receiver.waitFor(({ path }) => path === "/first");
  assert.ok(isSignedWith(received, secret));
  // The page refreshes without script.
  await page.locator(".facts .chip", { hasText: "Delivered" }).waitFor();
  await page.getByText('"test.ping"').waitFor();
  await page.goto(`${base}/webhooks`);
  assert.not.ok((await page.content()).includes(secret));
});

visit.alone("an endpoint's payload is chosen in its form, shown on its page, and kept by other changes", async () => {
  const { page } = dev;
  await addEndpoint("/payload");
  await page.getByText("Ids and status: your server reads the object").waitFor();
  for (const label of ["The object itself", undefined]) {
    await page.getByRole("link", { name: "Edit" }).click();
    if (label !== undefined) await page.getByLabel(label).check();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("The object itself").waitFor();
  }
});

visit.alone("adds one endpoint for a form that is sent twice, and shows its secret once", async () => {
  const { page } = dev;
  await page.goto(`${base}/webhooks/new`);
  const hiddenField = (name: string) => page.locator(`form.panel input[name=${name}]`).inputValue();
  const key = await hiddenField("key");
  const person = await personOf(dev, running.stack, "/account");
  const fields = { key, url: `${receiver.url}/twice`, description: "", event_types: "payment.failed" };
  const send = async () => (await person.post(new URL(`${base}/webhooks`).pathname, fields)).text;
  const [first, second] = [await send(), await send()];
  assert.match(first, /whsec_[\w-]{20}/);
  assert.not.match(second, /whsec_[\w-]{20}/);
  assert.match(second, "already exists");
  await page.goto(`${base}/webhooks`);
  assert.is(await page.getByRole("link", { name: `${receiver.url}/twice` }).count(), 1);
});

visit.alone("rejects an invalid endpoint next to its field and keeps the input", async () => {
  const { page } = dev;
  await page.goto(`${base}/webhooks/new`);
  await page.getByLabel("URL").fill("https://user:pass@shop.example/hook");
  await page.getByLabel("Description").fill("Kept");
  await page.getByLabel("payment.failed", { exact: true }).uncheck();
  await page.getByRole("button", { name: "Add endpoint" }).click();
  await page.getByText("Enter a public HTTPS URL").first().waitFor();
  assert.is(await page.getByLabel("Description").inputValue(), "Kept");
  assert.not.ok(await page.getByLabel("payment.failed", { exact: true }).isChecked());
  assert.is(await page.getByLabel("URL").getAttribute("aria-invalid"), "true");
});

visit.alone("shows the endpoint's response to a failed delivery, and resends it", async () => {
  const { page } = dev;
  await addEndpoint("/refuses");
  receiver.answer(({ path }) => (path === "/refuses" ? { status: 500, body: "<b>no</b> room" } : { status: 200 }));
  await page.getByRole("button", { name: "Send test event" }).click();
  await page.getByText("http_500").first().waitFor();
  await page.locator("summary", { hasText: "Response body" }).first().click();
  await page.getByText("<b>no</b> room").first().waitFor();
  receiver.answer({ status: 200 });
  await page.getByRole("button", { name: "Resend" }).click();
  await page.locator(".facts .chip", { hasText: "Delivered" }).waitFor();
  await page.getByText("manual").first().waitFor();
});

visit.alone("retries all failed deliveries and shows the progress to the end", async () => {
  const { page } = dev;
  await page.goto(`${base}/webhooks`);
  await page.getByRole("link", { name: `${receiver.url}/first` }).click();
  await page.locator("summary", { hasText: "Retry failed deliveries" }).click();
  await page.locator("details", { hasText: "Retry failed" }).getByLabel("Since").selectOption("month");
  await page.getByRole("button", { name: "Retry failed deliveries" }).click();
  await page.locator(".chip", { hasText: "Finished" }).waitFor();
  assert.match(page.url(), /\/runs\/op_/);
});

visit.alone("sends an endpoint the events from before it was added", async () => {
  const { page } = dev;
  const { stack } = running;
  await makePurchase(stack, { api: merchantApi(stack.gateway, stack.api_key) });
  await addEndpoint("/later");
  await page.locator("summary", { hasText: "Send missed events" }).click();
  await page.getByRole("button", { name: "Send missed events" }).click();
  await page.locator(".chip", { hasText: "Finished" }).waitFor();
  await receiver.waitFor(({ path }) => path === "/later");
});

visit.alone("edits, disables and deletes an endpoint and rolls its secret", async () => {
  const { page } = dev;
  const secret = await addEndpoint("/changing", "Before");
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Description").fill("After");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Endpoint updated.").waitFor();
  await page.getByText("After", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByText("We won't send events to it").waitFor();
  assert.is(await page.getByRole("button", { name: "Send test event" }).count(), 0);
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByRole("link", { name: "Roll signing secret" }).click();
  await page.getByLabel("Old secrets sign for").selectOption({ label: "Stop now" });
  await page.getByRole("button", { name: "Roll signing secret" }).click();
  assert.match((await page.locator("details", { hasText: "Standard Webhooks" }).textContent()) ?? "", /whsec_.{43}=/);
  const rolled = (await page.locator(".secret pre").textContent()) ?? "";
  assert.match(rolled, /^whsec_/);
  assert.is.not(rolled, secret);
  await page.getByRole("link", { name: "View endpoint" }).click();
  await page.getByRole("link", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Delete endpoint" }).click();
  await page.getByText("Endpoint deleted.").waitFor();
  assert.is(await page.getByRole("link", { name: `${receiver.url}/changing` }).count(), 0);
});

visit.alone("shows a new key once, and ends a rolled or revoked key", async () => {
  const { page } = dev;
  await page.goto(`${base}/keys/new`);
  await page.getByLabel("Name").fill("Backend <i>one</i>");
  await page.getByLabel("merchant:read").check();
  await page.getByRole("button", { name: "Create API key" }).click();
  const made = (await page.locator(".secret pre").textContent()) ?? "";
  const works = async (key: string) => (await merchantApi(running.stack.gateway, key).get("/v1/merchants/me")).status;
  assert.is(await works(made), 200);
  await page.getByRole("link", { name: "View API keys" }).click();
  assert.not.ok((await page.content()).includes(made));
  await page.getByRole("link", { name: "Backend <i>one</i>" }).click();
  await page.getByRole("link", { name: "Roll" }).click();
  await page.getByLabel("Keep the old key working for").selectOption("now");
  await page.getByRole("button", { name: "Roll" }).click();
  await page.getByText("The old key no longer works.").waitFor();
  const rolled = (await page.locator(".secret pre").textContent()) ?? "";
  assert.is(await works(rolled), 200);
  await eventually("the old key to end", async () => (await works(made)) === 401);
  await page.goto(`${base}/keys`);
  await page.getByRole("link", { name: "Backend <i>one</i>" }).first().click();
  await page.getByRole("link", { name: "Revoke" }).click();
  await page.getByRole("button", { name: "Revoke API key" }).click();
  await page.getByText("API key revoked.").waitFor();
  await eventually("the key to be revoked", async () => (await works(rolled)) === 401);
});

visit.alone("shows a new key's first request, which works with each of its scopes alone", async () => {
  const { page } = dev;
  const scopes = ["payments:read", "payments:write", "merchant:read", "merchant:write"];
  for (const scope of scopes) {
    await page.goto(`${base}/keys/new`);
    await page.getByLabel("Name").fill(scope);
    for (const each of scopes) await page.getByLabel(each).setChecked(each === scope);
    await page.getByRole("button", { name: "Create API key" }).click();
    const key = (await page.locator(".secret pre").textContent()) ?? "";
    const command = await page.locator("pre", { hasText: "curl" }).textContent();
    const { stdout } = await promisify(execFile)("bash", ["-c", `${command} -sS -o /dev/null -w '%{http_code}'`], {
      env: { ...process.env, TOLLBOOTH_API_KEY: key },
    });
    assert.match(stdout, /^20[01]$/, `${command}: ${stdout}`);
  }
});

visit.alone("demands fresh proof for a live key and enforces its allowed addresses", async () => {
  const { page } = dev;
  await page.goto(`${base.replace("sandbox", "live")}/keys/new`);
  await page.getByLabel("Name").fill("Live backend");
  await page.getByLabel("Allowed addresses").fill("203.0.113.9\nnot-an-address");
  await page.getByRole("button", { name: "Create API key" }).click();
  await confirmIfPrompted(page);
  await page.getByText("Enter up to 20 addresses").first().waitFor();
  assert.is(await page.getByLabel("Allowed addresses").inputValue(), "203.0.113.9\nnot-an-address");
  await page.getByLabel("Allowed addresses").fill("203.0.113.9");
  await page.getByRole("button", { name: "Create API key" }).click();
  const made = (await page.locator(".secret pre").textContent()) ?? "";
  assert.match(made, /^sk_live_/);
  const refused = await merchantApi(running.stack.gateway, made).get("/v1/payments");
  assert.is(refused.status, 403);
  await page.goto(`${base.replace("sandbox", "live")}/keys`);
  await page.getByRole("link", { name: "Live backend" }).click();
  await page.getByText("203.0.113.9/32").waitFor();
  await page.getByText("Used from").waitFor();
});

visit.alone("finds a request by its Request-Id and lists requests by result", async () => {
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
  await page.getByRole("button", { name: "Search" }).click();
  await page.waitForURL((url) => url.pathname.endsWith(requestId));
  await page.getByText("not_found").waitFor();
  await page.getByText("Local stack").waitFor();
});

visit.alone("lists events with their deliveries", async () => {
  const { page } = dev;
  receiver.answer({ status: 200 });
  const api = merchantApi(running.stack.gateway, running.stack.api_key);
  const session = (await api.post("/v1/checkout-sessions", { amount: 1050, currency: "USD" })).expect(201);
  await payInFrame(session.text("render.frame_url"));
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

test.run();
