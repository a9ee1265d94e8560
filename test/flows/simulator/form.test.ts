// The simulator's card form in a real browser: as a page, and framed by a page of another origin.
import { once } from "node:events";
import { createServer } from "node:http";
import { type Browser, chromium, type Page } from "playwright-core";
import * as assert from "uvu/assert";
import { languages } from "../../../services/simulator/texts/languages.ts";
import { browserPath } from "../../harness/browser.ts";
import { suite } from "../../harness/suite.ts";
import { type SimulatorRig, startRig } from "./service.ts";

const test = suite("simulator-form", { timeoutMs: 30_000 });
const inBrowser = (name: string, body: (page: Page) => Promise<void>) => {
  if (!browserPath) return test.skip(name, "no Chromium found");
  test(name, async () => {
    const page = await browser.newPage({ viewport: { width: 360, height: 740 }, locale: "en-IE" });
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on(
      "console",
      (message) => message.text().includes("Content Security Policy") && problems.push(message.text()),
    );
    await body(page);
    await page.close();
    assert.equal(problems, []);
  });
};

let rig: SimulatorRig;
let browser: Browser;

test.before(async () => {
  if (!browserPath) return;
  rig = await startRig();
  browser = await chromium.launch({
    executablePath: browserPath,
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--disable-dev-shm-usage", "--disable-gpu"],
  });
});
test.after(async () => {
  await browser?.close();
  await rig?.stop();
});

type Form = Pick<Page, "locator">;

async function typeCard(form: Form, number: string): Promise<void> {
  await form.locator("#number").pressSequentially(number);
  await form.locator("#expiry").pressSequentially("1240");
  await form.locator("#cvc").pressSequentially("123");
}

inBrowser("a buyer types a card, pays and sees the receipt", async (page) => {
  const { id, client_secret } = await rig.intent({ description: "Two cups" });
  const urls: string[] = [];
  page.on("request", (request) => urls.push(request.url()));
  await page.goto(`${rig.url}/form/${id}#${client_secret}`);
  await page.getByRole("button", { name: "Pay €10.50" }).waitFor();
  await typeCard(page, "4242424242424242");
  assert.is(await page.inputValue("#number"), "4242 4242 4242 4242");
  assert.is(await page.inputValue("#expiry"), "12 / 40");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Payment successful" }).waitFor();
  await page.goto((await page.getAttribute("#result-link", "href")) ?? "");
  await page.getByText("Visa ending in 4242").waitFor();
  const fromScript = urls.filter((url) => url.includes(client_secret) && !url.endsWith(`/form/${id}#${client_secret}`));
  assert.equal(fromScript, []);
});

inBrowser("errors show at their fields, and focus goes to the first", async (page) => {
  const { id, client_secret } = await rig.intent();
  await page.goto(`${rig.url}/form/${id}#${client_secret}`);
  await page.getByRole("button", { name: /^Pay / }).click();
  await page.getByText("Enter your card number.").waitFor();
  assert.is(await page.evaluate("document.activeElement.id"), "number");
  assert.is(await page.getAttribute("#number", "aria-invalid"), "true");
  await page.locator("#number").fill("4242424242424242");
  assert.is(await page.getAttribute("#number", "aria-invalid"), null);
  const { body } = await rig.call("GET", `/api/intents/${id}`);
  assert.is(body.attempts.length, 0);
});

inBrowser("after a decline and a failed 3-D Secure the buyer can pay with another card", async (page) => {
  const { id, client_secret } = await rig.intent();
  await page.goto(`${rig.url}/form/${id}#${client_secret}`);
  await page.getByText("Test cards").click();
  const payWith = async (number: string) => {
    await page.locator(`[data-card="${number}"]`).click();
    await page.getByRole("button", { name: /^Pay / }).click();
  };
  await payWith("4000000000000002");
  await page.getByRole("alert").getByText("Your card was declined.").waitFor();
  await payWith("4000002500003155");
  await page.getByRole("button", { name: "Fail authentication" }).click();
  await page.getByRole("alert").getByText("Your bank did not confirm").waitFor();
  await payWith("4000002500003155");
  await page.getByRole("button", { name: "Authenticate" }).click();
  await page.getByRole("heading", { name: "Payment successful" }).waitFor();
  const { body } = await rig.call("GET", `/api/intents/${id}`);
  assert.is(body.attempts.length, 3);
});

inBrowser("3-D Secure can be canceled without a charge, and the form keeps the card", async (page) => {
  const { id, client_secret } = await rig.intent();
  await page.goto(`${rig.url}/form/${id}#${client_secret}`);
  await typeCard(page, "4000002500003155");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Cancel and go back" }).click();
  await page.getByRole("alert").getByText("Your card was not charged").waitFor();
  const { body } = await rig.call("GET", `/api/intents/${id}`);
  assert.equal([body.status, body.attempts[0]?.failure_code], ["requires_payment_method", "canceled"]);
  assert.is(await page.inputValue("#number"), "4000 0025 0000 3155");
  await page.locator("#cvc").fill("123");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Authenticate", exact: true }).click();
  await page.getByRole("heading", { name: "Payment successful" }).waitFor();
});

for (const [code, texts] of languages) {
  inBrowser(`form, 3-D Secure and receipt are translated to ${code}`, async (page) => {
    const { id, client_secret } = await rig.intent();
    await page.goto(`${rig.url}/form/${id}?locale=${code}#${client_secret}`);
    await page.locator("#pay:enabled").waitFor();
    assert.is(await page.getAttribute("html", "dir"), code === "ar" ? "rtl" : "ltr");
    await page.locator("#pay").click();
    for (const text of [texts.number, texts.numberEmpty, texts.expiryEmpty, texts.cvcEmpty, texts.private])
      await page.getByText(text).first().waitFor();
    await typeCard(page, "4000002500003155");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: texts.challengeTitle }).waitFor();
    await page.getByRole("button", { name: texts.authenticate, exact: true }).click();
    await page.getByRole("heading", { name: texts.succeededTitle }).waitFor();
    const receipt = await page.getByRole("link", { name: texts.viewReceipt }).getAttribute("href");
    await page.goto(receipt ?? "");
    assert.is(await page.getAttribute("html", "lang"), code);
    for (const text of [texts.receipt, texts.paidOn, texts.card, texts.authorization])
      await page.getByText(text).first().waitFor();
  });
}

inBrowser("the form asks for the cardholder's name where the processor requires it", async (page) => {
  const asking = await startRig(undefined, { requiresName: true });
  const { id, client_secret } = await asking.intent();
  await page.goto(`${asking.url}/form/${id}#${client_secret}`);
  await typeCard(page, "4242424242424242");
  await page.keyboard.press("Enter");
  await page.getByText("Enter the name on the card.").waitFor();
  const card = { client_secret, number: "4242424242424242", exp_month: 12, exp_year: 2040, cvc: "123" };
  const answer = await fetch(`${asking.url}/form/${id}/pay`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(card),
  });
  assert.is(answer.status, 400);
  await page.getByLabel("Name on card").fill("Ada Lovelace");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Payment successful" }).waitFor();
  await asking.stop();
});

inBrowser("as a page it returns to the shop after success", async (page) => {
  const shop = await servePage("<h1>Shop</h1>");
  const { id, client_secret } = await rig.intent({ return_url: `${shop.url}/done?order=7#top` });
  await page.goto(`${rig.url}/form/${id}#${client_secret}`);
  await typeCard(page, "4242424242424242");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${shop.url}/done?order=7&processor_status=succeeded#top`);
  await shop.close();
});

inBrowser("an asynchronous payment shows as processing until it settles", async (page) => {
  const { id, client_secret } = await rig.intent();
  await page.goto(`${rig.url}/form/${id}#${client_secret}`);
  await typeCard(page, "4000000000006108");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Payment is being processed" }).waitFor();
  await page.getByRole("heading", { name: "Payment successful" }).waitFor();
});

inBrowser("a paid intent shows as paid, a wrong secret shows nothing", async (page) => {
  const { id, client_secret } = await rig.paidIntent();
  await page.goto(`${rig.url}/form/${id}#${client_secret}`);
  await page.getByRole("heading", { name: "Payment successful" }).waitFor();
  await page.goto("about:blank");
  await page.goto(`${rig.url}/form/${id}#wrong`);
  await page.getByRole("heading", { name: "This link is not valid" }).waitFor();
  assert.not.match((await page.locator("main").textContent()) ?? "", "10.50");
});

/** A merchant's page that frames the form, sends the port after load, and keeps the form's messages. */
const shopPage = (
  formUrl: string,
) => `<!doctype html><iframe id="form" src="${formUrl}" title="Card details"></iframe><script>
  window.messages = [];
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => window.messages.push(data);
  document.getElementById("form").onload = ({ target }) => {
    target.contentWindow.postMessage({ type: "tollbooth:init" }, ${JSON.stringify(new URL(formUrl).origin)}, [port2]);
    window.ask = (message) => port1.postMessage(message);
  };
</script>`;

type FormMessage = { type: string; status?: string; failure_code?: string; height?: number; complete?: boolean };

inBrowser("in a frame it reports readiness, completeness and results, and accepts submit and style", async (page) => {
  const { id, client_secret } = await rig.intent({ return_url: "https://shop.example/never" });
  const shop = await servePage(shopPage(`${rig.url}/form/${id}#${client_secret}`));
  await page.clock.install();
  await page.goto(shop.url);
  const form = page.frameLocator("#form");
  const until = (what: Partial<FormMessage>) =>
    page.waitForFunction(
      (wanted) => {
        const messages: FormMessage[] = Reflect.get(globalThis, "messages");
        return messages.some((one) =>
          Object.entries(wanted).every(([name, value]) => Reflect.get(one, name) === value),
        );
      },
      what,
      { timeout: 10_000 },
    );
  await until({ type: "ready" });
  await page.evaluate(`ask({ type: "style", theme: "dark", accent: "#ffcc00" })`);
  await form.locator('html[data-theme="dark"]').waitFor();
  assert.is(await form.locator("html").evaluate((root) => root.style.getPropertyValue("--on-accent")), "#000");
  await typeCard(form, "4000000000009995");
  await until({ type: "change", complete: true });
  await page.evaluate(`ask({ type: "submit" })`);
  await until({ type: "result", status: "failed", failure_code: "insufficient_funds" });
  await form.locator("#number").fill("4242424242424242");
  await form.locator("#cvc").fill("123");
  await page.evaluate(`ask({ type: "submit" })`);
  await until({ type: "result", status: "succeeded" });
  await page.clock.runFor(10_000);
  assert.equal(
    page.frames().map((frame) => new URL(frame.url()).origin),
    [shop.url, rig.url],
  );
  const messages: FormMessage[] = await page.evaluate("messages");
  assert.ok((messages.find(({ type }) => type === "ready")?.height ?? 0) > 200);
  assert.ok(messages.some(({ type }) => type === "resize"));
  await shop.close();
});

inBrowser("the lost-connection card reports no success", async (page) => {
  const { id, client_secret } = await rig.intent();
  const shop = await servePage(shopPage(`${rig.url}/form/${id}#${client_secret}`));
  await page.goto(shop.url);
  const form = page.frameLocator("#form");
  await typeCard(form, "4000000000006306");
  await form.getByRole("button", { name: /^Pay / }).click();
  await form.getByRole("heading", { name: "Connection lost" }).waitFor();
  const messages: FormMessage[] = await page.evaluate("messages");
  assert.is(
    messages.some(({ type }) => type === "result"),
    false,
  );
  assert.is((await rig.call("GET", `/api/intents/${id}`)).body.status, "succeeded");
  await shop.close();
});

inBrowser("challenge and receipt cannot be framed, and no page allows foreign scripts", async () => {
  const { id } = await rig.intent();
  const policyOf = async (path: string) =>
    (await fetch(`${rig.url}${path}`)).headers.get("content-security-policy") ?? "";
  assert.match(await policyOf(`/form/${id}`), "frame-ancestors *");
  assert.match(await policyOf("/challenge/at_1"), "frame-ancestors 'none'");
  for (const path of [`/form/${id}`, "/challenge/at_1"]) {
    assert.match(await policyOf(path), "default-src 'none'; script-src 'self'; style-src 'self'");
    assert.not.match(await policyOf(path), "unsafe");
  }
});

/** A page of another origin. */
async function servePage(html: string): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((_request, reply) => reply.setHeader("content-type", "text/html").end(html));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `http://localhost:${typeof address === "object" && address ? address.port : 0}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test.run();
