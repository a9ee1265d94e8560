// The SDK in a merchant's page of another origin, with a strict Content-Security-Policy.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { membersOf } from "#platform/values/unchecked.ts";
import { apiClient } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { cards, payInFrame } from "../harness/pay.ts";
import { fillCard, newOrder } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const scriptHost = "https://js.processor.example";
const { test, inBrowser, site } = pageSuite("sdk", { shop: [scriptHost] });

inBrowser("a shop embeds the fields and ships on the signed webhook", async ({ page }) => {
  await page.goto(site.shop.url);
  await page.locator('body[data-state="ready"]').waitFor();
  const form = page.frameLocator("iframe");
  await fillCard(form, cards.declined);
  await page.getByRole("button", { name: "Pay €24.99" }).click();
  await page.getByText("Your card was declined.").waitFor();
  assert.equal(site.shop.shipped.size, 0);
  await fillCard(form, cards.succeeds);
  await page.getByRole("button", { name: "Pay €24.99" }).click();
  const thanks = (await page.getByText("Thank you.").textContent()) ?? "";
  const paymentId = /pay_\w+/.exec(thanks)?.[0] ?? "";
  await eventually("the order to be shipped", () => site.shop.shipped.has(paymentId));
});

inBrowser("mounting, unmounting and destroying in any order leaves exactly one working form", async ({ page }) => {
  const { secret } = await newOrder(site.merchant);
  await page.goto(`${site.shop.url}/bare`);
  const left = await page.evaluate(`(async () => {
    const make = () => Tollbooth.create({ sessionSecret: ${JSON.stringify(secret)} });
    const kept = make();
    for (let i = 0; i < 40; i++) {
      const other = make();
      void other.mount("#two"); void kept.mount(i % 2 ? "#one" : "#two");
      if (i % 3 === 0) kept.unmount();
      if (i % 4 === 0) await Promise.resolve();
      other.unmount(); other.destroy(); other.destroy(); void other.mount("#two");
    }
    globalThis.kept = kept;
    const mounted = await kept.mount("#one");
    return { mounted: mounted.ok, state: kept.state, frames: document.querySelectorAll("iframe").length };
  })()`);
  assert.deepEqual(left, { mounted: true, state: "ready", frames: 1 });
  const form = page.frameLocator("#one iframe");
  await fillCard(form, cards.succeeds);
  const [first, second] = await page.evaluate<{ type: string }[]>("Promise.all([kept.confirm(), kept.confirm()])");
  assert.deepEqual([first?.type, second], ["succeeded", first]);
});

inBrowser("distinguishes a failed 3-D Secure from a declined card", async ({ page }) => {
  const { secret } = await newOrder(site.merchant);
  await page.goto(`${site.shop.url}/bare`);
  await page.evaluate(`(async () => {
    globalThis.kept = Tollbooth.create({ sessionSecret: ${JSON.stringify(secret)} });
    await kept.mount("#one");
  })()`);
  const form = page.frameLocator("#one iframe");
  await fillCard(form, cards.needsChallenge);
  await page.evaluate("globalThis.paying = kept.confirm(); undefined");
  await form.getByRole("button", { name: "Fail authentication" }).click();
  const result = await page.evaluate<Record<string, unknown>>("paying");
  assert.equal(result.type, "declined");
  const { code, message } = membersOf(result.error);
  assert.deepEqual([code, message], ["declined", "Your bank did not confirm the payment. Please try again."]);
});

// Proves credentials: browser
inBrowser("returns misuse as error values and refuses an API key", async ({ page }) => {
  await page.goto(`${site.shop.url}/bare`);
  const { secret } = await newOrder(site.merchant);
  const codes = await page.evaluate(`(async () => {
    const code = async (sessionSecret, target) => {
      const handle = Tollbooth.create({ sessionSecret });
      const confirmed = await handle.confirm();
      const mounted = await handle.mount(target);
      handle.destroy();
      return [confirmed.error.code, mounted.error?.code, (await handle.load()).error.code];
    };
    return [await code("sk_test_abc", "#one"), await code("junk", "#one"), await code(() => Promise.reject(), "#one"),
      await code(${JSON.stringify(secret)}, "#nowhere"), await code(${JSON.stringify(`${secret.slice(0, -4)}AAAA`)}, "#one")];
  })()`);
  const of = (code: string) => ["not_mounted", code, "destroyed"];
  const wanted = ["api_key_in_browser", "invalid_secret", "secret_unavailable", "invalid_target", "invalid_secret"];
  assert.deepEqual(codes, wanted.map(of));
});

inBrowser("loads a processor's script from the processor and uses its driver", async ({ page }) => {
  const order = await newOrder(site.merchant);
  const frameUrl = order.answer.text("render.frame_url");
  // The part of Stripe.js that the driver uses, from the processor's host; the session is real.
  const script = `globalThis.Stripe = () => ({
    elements: () => ({ update() {}, create: () => { const on = {}; return {
      on(name, listener) { on[name] = listener; }, focus() {}, destroy() { document.getElementById("fake").remove(); },
      mount(place) { place.innerHTML = '<input id="fake" aria-label="Card">'; setTimeout(() => { on.ready({}); on.change({ complete: true }); }); } }; } }),
    confirmPayment: async ({ confirmParams, redirect }) => await globalThis.atProcessor(confirmParams.return_url, redirect) });`;
  await page.route(`${scriptHost}/**`, (route) => route.fulfill({ contentType: "text/javascript", body: script }));
  await page.route(`**/v1/checkout/${order.id}?*`, async (route) => {
    const answer = await route.fetch();
    const json = membersOf(await answer.json());
    const element = { kind: "element", connector: "stripe", script_url: `${scriptHost}/v3/` };
    const render = { ...element, publishable_key: "pk_test_1", client_secret: "pi_1_secret_2", environment: "sandbox" };
    await route.fulfill({ response: answer, json: json.render ? { ...json, render } : json });
  });
  const answers = ["declined", "succeeded"];
  await page.exposeFunction("atProcessor", async () => {
    if (answers.shift() === "declined") return { error: { type: "card_error", decline_code: "insufficient_funds" } };
    await payInFrame(frameUrl);
    return { paymentIntent: { status: "succeeded" } };
  });
  await page.goto(`${site.shop.url}/bare`);
  const results = await page.evaluate<Record<string, unknown>[]>(`(async () => {
    const handle = Tollbooth.create({ sessionSecret: ${JSON.stringify(order.secret)} });
    await handle.mount("#one");
    return [await handle.confirm(), await handle.confirm()];
  })()`);
  const [declined, succeeded] = results;
  assert.equal(declined?.type, "declined");
  assert.equal(membersOf(declined?.error).declineCode, "insufficient_funds");
  assert.equal(succeeded?.type, "succeeded");
});

inBrowser("loads a pinned version with the manifest's integrity, directly and by the loader", async ({ page }) => {
  const manifest = (await apiClient(site.stack.gateway).get("/js/manifest.json")).expect(200);
  const version = manifest.text("v1");
  const { integrity } = membersOf(membersOf(membersOf(manifest.at("versions"))[version])["checkout.js"]);
  const pinned = await fetch(`${site.stack.gateway}/js/${version}/checkout.js`);
  const bytes = Buffer.from(await pinned.arrayBuffer());
  assert.equal(integrity, `sha384-${createHash("sha384").update(bytes).digest("base64")}`);
  assert.match(pinned.headers.get("cache-control") ?? "", /immutable/);
  assert.equal((await fetch(`${site.stack.gateway}/js/9.9.9/checkout.js`)).status, 404);
  await page.goto(`${site.shop.url}/bare`);
  const loaded = await page.evaluate(`(async () => {
    delete globalThis.Tollbooth;
    const { loadCheckout } = await import("${site.stack.gateway}/js/v1/loader.mjs");
    const src = "${site.stack.gateway}/js/${version}/checkout.js";
    const wrong = await loadCheckout({ src, integrity: "sha384-AAAA", retries: 0 });
    const right = await loadCheckout({ src, integrity: ${JSON.stringify(integrity)} });
    return [wrong, right.version];
  })()`);
  assert.deepEqual(loaded, [null, version]);
});

inBrowser(
  "the custom element and its loader work with Trusted Types if their policies are allowed",
  async ({ page }) => {
    const { secret } = await newOrder(site.merchant);
    const policy = "require-trusted-types-for 'script'; trusted-types tollbooth tollbooth-loader";
    await page.goto(`${site.shop.url}/bare?refuses=${encodeURIComponent(policy)}`);
    const shown = await page.evaluate(`(async () => {
    delete globalThis.Tollbooth;
    await import("${site.stack.gateway}/js/v1/element.mjs");
    const element = document.createElement("tollbooth-checkout");
    const { type } = await element.confirm();
    element.setAttribute("session-secret", ${JSON.stringify(secret)});
    const ready = new Promise((resolve) => element.addEventListener("ready", ({ detail }) => resolve(detail)));
    document.getElementById("one").append(element);
    const { session } = await ready;
    return [type, session.amount.formatted, element.handle.state, element.querySelectorAll("iframe").length];
  })()`);
    assert.deepEqual(shown, ["error", "€10.50", "ready", 1]);
  },
);

inBrowser.alone("the loader returns null if Trusted Types do not allow its policy", async () => {
  const { context, page } = await inBrowser.open();
  const policy = "require-trusted-types-for 'script'; trusted-types 'none'";
  await page.goto(`${site.shop.url}/bare?refuses=${encodeURIComponent(policy)}`);
  const loaded = await page.evaluate(`(async () => {
    delete globalThis.Tollbooth;
    const { loadCheckout } = await import("${site.stack.gateway}/js/v1/loader.mjs");
    return await loadCheckout({ src: "${site.stack.gateway}/js/v1/checkout.js" });
  })()`);
  assert.equal(loaded, null);
  await context.close(); // `close` would fail on the expected policy errors
});

test.run();
