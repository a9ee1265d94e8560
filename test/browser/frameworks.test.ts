// The components of docs/frameworks.md and the custom element, bundled from the packed npm package and run in a shop's
// page: remounted, removed during a payment, given another session.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build, type Plugin } from "esbuild";
import type { Page } from "playwright-core";
import { compile } from "svelte/compiler";
import { compileScript, parse } from "vue/compiler-sfc";
import { packSdk } from "../../deploy/pack/browser-sdk.ts";
import { eventually } from "../harness/eventually.ts";
import { cards } from "../harness/pay.ts";
import { tempDir } from "../harness/temp-dir.ts";
import { fillCard, newOrder, type Order } from "./buyer.ts";
import { pageSuite } from "./page-suite.ts";

const { test, inBrowser, site } = pageSuite("frameworks", { shop: [] });
const root = join(import.meta.dirname, "../..");
const samples = join(root, "gateway/docs/samples/frameworks");
let folder: string;

test.before(async () => {
  folder = await tempDir("frameworks");
  const scope = join(folder, "node_modules/@tollbooth");
  await mkdir(scope, { recursive: true });
  execFileSync("tar", ["-xzf", await packSdk(folder), "-C", scope]);
  await rename(join(scope, "package"), join(scope, "checkout-js"));
});

/** Each defines `show(secret)`, where null removes the component, and records paid ids in `paid`. */
const shops = {
  react: `import { StrictMode } from "react"; import { createRoot } from "react-dom/client";
    import { Checkout } from "${samples}/checkout.jsx";
    const root = createRoot(document.getElementById("one"));
    const onPaid = ({ paymentId }) => paid.push(paymentId);
    globalThis.show = (sessionSecret) => root.render(<StrictMode>
      {sessionSecret && <Checkout src={src} sessionSecret={sessionSecret} onPaid={onPaid} />}</StrictMode>);`,
  vue: `import { createApp, h, ref } from "vue"; import Checkout from "${samples}/checkout.vue";
    const secret = ref(null);
    const onPaid = ({ paymentId }) => paid.push(paymentId);
    createApp({ render: () => secret.value && h(Checkout, { src, sessionSecret: secret.value, onPaid }) }).mount("#one");
    globalThis.show = (next) => { secret.value = next; };`,
  svelte: `import { mount, unmount } from "svelte"; import Checkout from "${samples}/checkout.svelte";
    import { writable } from "svelte/store"; import Shop from "./shop.svelte";
    const secret = writable(null);
    mount(Shop, { target: document.getElementById("one"), props: { src, secret, onpaid: ({ paymentId }) => paid.push(paymentId) } });
    globalThis.show = (next) => secret.set(next);`,
  element: `import "@tollbooth/checkout-js/element";
    const button = Object.assign(document.createElement("button"), { textContent: "Pay" });
    const element = document.createElement("tollbooth-checkout");
    element.setAttribute("src", src);
    const status = document.createElement("p");
    status.role = "status";
    button.onclick = () => element.confirm();
    element.addEventListener("ready", ({ detail }) => { button.textContent = "Pay " + detail.session.amount.formatted; });
    element.addEventListener("state", ({ detail }) => {
      button.disabled = detail !== "ready";
      status.textContent = detail === "succeeded" ? "Thank you." : "";
    });
    element.addEventListener("succeeded", ({ detail }) => paid.push(detail.paymentId));
    globalThis.show = (secret) => {
      if (secret) { element.sessionSecret = secret; document.getElementById("one").append(element, button, status); }
      else { element.remove(); button.remove(); status.remove(); }
    };`,
} as const;

/** Compiles Vue and Svelte components. */
const components: Plugin = {
  name: "components",
  setup({ onLoad }) {
    onLoad({ filter: /\.vue$/ }, async ({ path }) => {
      const { descriptor } = parse(await readFile(path, "utf8"), { filename: path });
      return { contents: compileScript(descriptor, { id: "sample", inlineTemplate: true }).content, loader: "js" };
    });
    onLoad({ filter: /\.svelte$/ }, async ({ path }) => {
      const { js, warnings } = compile(await readFile(path, "utf8"), { filename: path, generate: "client" });
      assert.deepEqual(warnings.map(String), []);
      return { contents: js.code, loader: "js" };
    });
  },
};

const bundles = new Map<string, Promise<string>>();

async function bundle(name: keyof typeof shops): Promise<string> {
  const entry = join(folder, `${name}.jsx`);
  const src = JSON.stringify(`${site.stack.gateway}/js/v1/checkout.js`);
  await writeFile(entry, `${shops[name]}`.replace(/\bsrc=\{src\}/, `src={${src}}`));
  const shopOfSvelte = `<script>import Checkout from "${samples}/checkout.svelte"; let { src, secret, onpaid } = $props();</script>
    {#if $secret}<Checkout {src} sessionSecret={$secret} {onpaid} />{/if}`;
  await writeFile(join(folder, "shop.svelte"), shopOfSvelte);
  const made = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "iife",
    jsx: "automatic",
    conditions: ["browser", "development"],
    define: { src, "process.env.NODE_ENV": '"development"' },
    banner: { js: "globalThis.paid = [];" },
    nodePaths: [join(folder, "node_modules"), join(root, "node_modules")],
    plugins: [components],
    logLevel: "error",
  });
  return made.outputFiles[0]?.text ?? "";
}

/** Opens the shop's page with the component. @returns the number of reads of a session */
async function openShop(page: Page, name: keyof typeof shops): Promise<(order: Order) => number> {
  const making = bundles.get(name) ?? bundle(name);
  bundles.set(name, making);
  const body = await making;
  await page.route(`${site.shop.url}/app.js`, (route) => route.fulfill({ contentType: "text/javascript", body }));
  const reads: string[] = [];
  page.on("request", (request) => request.method() === "GET" && reads.push(new URL(request.url()).pathname));
  await page.goto(`${site.shop.url}/bare`);
  await page.addScriptTag({ url: "/app.js" });
  return ({ id }) => reads.filter((path) => path === `/v1/checkout/${id}`).length;
}

const show = (page: Page, order?: Order) => page.evaluate(`show(${JSON.stringify(order?.secret ?? null)})`);

for (const name of Object.keys(shops) as (keyof typeof shops)[]) {
  inBrowser(`${name}: replaces the form for another session, which is paid once`, async ({ page }) => {
    const readsOf = await openShop(page, name);
    const [first, second] = [await newOrder(site.merchant), await newOrder(site.merchant, { amount: 2_000 })];
    await show(page, first);
    await page.getByRole("button", { name: "Pay €10.50", disabled: false }).waitFor();
    assert.equal(readsOf(first), 1, "a mount that was undone at once reads nothing");
    assert.equal(await page.locator("iframe").count(), 1);
    await show(page, second);
    await page.getByRole("button", { name: "Pay €20.00", disabled: false }).waitFor();
    assert.equal(await page.locator("iframe").count(), 1);
    await fillCard(page.frameLocator("#one iframe"), cards.succeeds);
    await page.getByRole("button", { name: "Pay €20.00" }).click();
    await page.getByText("Thank you.").waitFor();
    assert.deepEqual(await page.evaluate("paid"), [second.id.replace("cs_", "pay_")]);
    await show(page);
    assert.equal(await page.locator("iframe").count(), 0);
  });

  inBrowser(`${name}: removed during a payment, it shows the result when it is mounted again`, async ({ page }) => {
    await openShop(page, name);
    const order = await newOrder(site.merchant);
    await show(page, order);
    await page.getByRole("button", { name: "Pay €10.50", disabled: false }).waitFor();
    await fillCard(page.frameLocator("#one iframe"), cards.succeeds);
    const { promise: paid, resolve } = Promise.withResolvers<void>();
    // The processor has the card, but its response is lost.
    await page.route("**/form/*/pay", async (route) => {
      await route.fetch();
      resolve();
    });
    await page.getByRole("button", { name: "Pay €10.50" }).click();
    await paid;
    await show(page);
    await page.locator("iframe").waitFor({ state: "detached" });
    const id = order.id.replace("cs_", "pay_");
    await eventually("the processor's report of the payment", async () => {
      const payment = await site.merchant.api.get(`/v1/payments/${id}`);
      return payment.expect(200).text("status") === "succeeded";
    });
    await show(page, order);
    await page.getByText("Thank you.").waitFor();
    assert.deepEqual(await page.evaluate("paid"), [id]);
    assert.equal(await page.locator("iframe").count(), 0, "nothing is offered for a session that is paid");
  });
}

test.run();
