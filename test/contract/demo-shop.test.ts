// The demo shop's server, without a browser: what it asks of the public API, and what it believes.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { membersOf } from "#platform/values/unchecked.ts";
import { type DemoShop, openDemoShop } from "../harness/demo-shop.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { announcedTwice } from "../harness/payments/announced-twice.ts";
import { contractSuite } from "./caller.ts";
import { setMerchant } from "./operator.ts";

const { test, running, merchant } = contractSuite("demo shop", { timeoutMs: 60_000 });
let shop: DemoShop;

test.before(async () => {
  shop = await openDemoShop(running, merchant.apiKey);
});
test.after(() => shop?.close());

const statusOf = (page: string) => /data-status="(\w+)"/.exec(page)?.[1];
const pageOf = async (reference: string) => (await fetch(`${shop.url}/orders/${reference}`)).text();
const sessionsOf = async (reference: string) =>
  (await merchant.api.get(`/v1/checkout-sessions?reference=${reference}`)).expect(200).list("data");

function newNumber(): string {
  return `LC-${randomBytes(6).toString("hex").toUpperCase()}`;
}

/** Presses "Buy now". @returns the answer, which leads to the order */
function buy(reference: string, headers: Record<string, string> = { origin: shop.url }): Promise<Response> {
  const body = new URLSearchParams({ order: reference });
  return fetch(`${shop.url}/orders`, { method: "POST", body, headers, redirect: "manual" });
}

/** Pays as the page does, with the secret in it, and confirms. */
async function payOrder(reference: string, card: string): Promise<void> {
  const secret = /data-secret="(cs_secret_\w{26}_[\w-]+)"/.exec(await pageOf(reference))?.[1] ?? "";
  const path = `/v1/checkout/cs_${secret.split("_")[2]}`;
  const session = (await merchant.api.get(`${path}?secret=${secret}`)).expect(200);
  await payInFrame(session.text("render.frame_url"), card);
  (await merchant.api.post(`${path}/confirm?secret=${secret}`)).expect(200);
}

test("an order bought twice at once, and again later, is one session with the shop's number", async () => {
  const reference = newNumber();
  const answers = [...(await Promise.all([buy(reference), buy(reference)])), await buy(reference)];
  const redirects = answers.map(({ status, headers }) => [status, headers.get("location")]);
  assert.deepEqual(redirects, Array(3).fill([303, `/orders/${reference}`]));
  assert.equal((await sessionsOf(reference)).length, 1);
});

test("an order is paid and ships once when the payment is announced twice, and its page follows live", async () => {
  const reference = newNumber();
  await buy(reference);
  assert.equal(statusOf(await pageOf(reference)), "open");
  const live = new EventSourceText(`${shop.url}/orders/${reference}/events`);
  await payOrder(reference, cards.declined);
  await eventually("the decline's event", () => live.text.includes("payment.failed"));
  assert.equal(statusOf(await pageOf(reference)), "open");
  await payOrder(reference, cards.succeeds);
  await eventually("the order to be paid", () => live.text.includes('"status":"paid"'));
  await announcedTwice(merchant, /"paymentId":"(pay_\w+)"/.exec(live.text)?.[1] ?? "");
  assert.equal(shop.output().split(`ships ${reference}`).length, 2, "it ships once");
  assert.match(live.text, /"last4":"4242"/);
  assert.equal(statusOf(await pageOf(reference)), "paid");
  live.close();
});

test("a webhook that is not signed with the endpoint's secret changes nothing", async () => {
  const reference = newNumber();
  await buy(reference);
  const [session] = await sessionsOf(reference);
  const body = JSON.stringify({
    type: "checkout_session.expired",
    session_id: membersOf(session).id,
    status: "expired",
  });
  const now = Math.floor(Date.now() / 1000);
  for (const signature of ["", `t=${now},v1=${"0".repeat(64)}`])
    assert.equal(await shop.sendWebhook(body, signature), 400);
  assert.equal(statusOf(await pageOf(reference)), "open");
});

test("an order that is given up ends by the webhook, and cannot be paid afterwards", async () => {
  const reference = newNumber();
  await buy(reference);
  const headers = { origin: shop.url };
  const answer = await fetch(`${shop.url}/orders/${reference}/cancel`, { method: "POST", headers, redirect: "manual" });
  assert.equal(answer.status, 303);
  await eventually("the order to end", async () => statusOf(await pageOf(reference)) === "expired");
  assert.match(await pageOf(reference), /nothing was charged/);
  assert.doesNotMatch(await pageOf(reference), /cs_secret_\w+.*id="pay"/s);
});

test("after a restart it fetches its orders: open ones can be paid, paid ones stay paid", async () => {
  const [open, paid] = [newNumber(), newNumber()];
  await Promise.all([buy(open), buy(paid)]);
  await payOrder(paid, cards.succeeds);
  await eventually("the order to be paid", async () => statusOf(await pageOf(paid)) === "paid");
  await shop.restart();
  assert.deepEqual([statusOf(await pageOf(open)), statusOf(await pageOf(paid))], ["open", "paid"]);
  await payOrder(open, cards.succeeds);
  await eventually("the other order to be paid", async () => statusOf(await pageOf(open)) === "paid");
  assert.equal((await sessionsOf(open)).length, 1);
  const endpoints = (await merchant.api.get("/v1/merchants/me/webhooks")).expect(200).list("data");
  assert.equal(endpoints.length, 1, "its old endpoint is gone");
});

test("forms of other sites, made-up orders and live keys are refused", async () => {
  assert.equal((await buy(newNumber(), { origin: "https://elsewhere.example" })).status, 403);
  assert.equal((await fetch(`${shop.url}/orders/${newNumber()}`)).status, 404);
  assert.equal((await fetch(`${shop.url}/orders/..%2f..`)).status, 404);
  await assert.rejects(openDemoShop(running, "sk_live_abc"), /must be a sandbox key/);
});

test("a suspended merchant's shop explains that it takes no orders, and a second shop that its port is in use", async () => {
  const stopped = await freshMerchant(running);
  const own = await openDemoShop(running, stopped.apiKey);
  try {
    await setMerchant(running, stopped.id, { status: "suspended" });
    const page = await eventually("the shop to close", async () => {
      const body = new URLSearchParams({ order: newNumber() });
      const answer = await fetch(`${own.url}/orders`, { method: "POST", body, redirect: "manual" });
      return answer.status === 503 && (await answer.text());
    });
    assert.match(page, /The shop cannot take orders now.*Nothing was charged/s);
    const port = Number(new URL(own.url).port);
    await assert.rejects(
      openDemoShop(running, stopped.apiKey, port),
      (error: Error) =>
        new RegExp(`port ${port} is in use: another shop is running`).test(error.message) &&
        !/EADDRINUSE/.test(error.message),
    );
  } finally {
    await own.close();
  }
});

test("its pages load its own files, the SDK and the processor's fields, and nothing else; no API key is in them", async () => {
  const reference = newNumber();
  await buy(reference);
  const answer = await fetch(`${shop.url}/orders/${reference}`);
  const policy = answer.headers.get("content-security-policy") ?? "";
  assert.match(policy, /^default-src 'none';/);
  assert.ok(
    policy.includes(`script-src 'self' ${running.gateway};`) && policy.includes(`frame-src ${running.processor}`),
  );
  assert.doesNotMatch(policy, /unsafe|\*/);
  assert.doesNotMatch(await answer.text(), /sk_test_|<script>|style=|onclick/);
});

test("no image, manifest or command of operators starts it", () => {
  const root = join(import.meta.dirname, "../..");
  const shipped = globSync(["deploy/{image,kubernetes,cli}/**/*", "gateway/**/*.ts", "services/**/*.ts"], {
    cwd: root,
    withFileTypes: true,
  }).filter((entry) => entry.isFile());
  const naming = shipped
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => /samples\/shop|shop\/server/.test(readFileSync(path, "utf8")))
    .map((path) => path.slice(root.length + 1));
  assert.deepEqual(naming, []);
});

/** A stream of server-sent events, as text. */
class EventSourceText {
  text = "";
  readonly #end = new AbortController();

  constructor(url: string) {
    void this.#read(url).catch(() => {});
  }

  async #read(url: string): Promise<void> {
    const answer = await fetch(url, { signal: this.#end.signal });
    for await (const chunk of answer.body ?? []) this.text += Buffer.from(chunk).toString();
  }

  close(): void {
    this.#end.abort();
  }
}

test.run();
