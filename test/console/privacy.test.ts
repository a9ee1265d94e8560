// The console's page for a buyer's personal data: it erases once and after fresh proof, downloads a copy, explains
// refusals next to the field, and keeps the e-mail out of addresses, logs and the audit log.
import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { newId } from "#platform/values/id.ts";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import { browserSuite, phone } from "../harness/browser.ts";
import { openAs, signInNew, startConsoleStack } from "../harness/console.ts";
import { inDatabase } from "../harness/database.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { fixture, suite } from "../harness/suite.ts";
import { confirmIfPrompted, type Person, personOf } from "./person.ts";
import { disputedPurchase, makePurchase } from "./purchases.ts";
import { assertUsable } from "./usable.ts";

const test = suite("console privacy", { timeoutMs: 180_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
const running = fixture(test, () => startConsoleStack({ shape: "one" }));
const merchant = fixture(test, () => freshMerchant(running.stack));
let owner: Person;
let base: string;

test.before(async () => {
  base = `/${merchant.id}/sandbox`;
  const joining = { email: "owner@privacy.example", merchantId: merchant.id };
  owner = await personOf(await openAs(visit, running.stack, joining), running.stack, "/account");
});

/** An address that nothing else has. */
const freshEmail = () => `Ada.${newId("note").slice("note_".length)}@Example.com`;
const paymentOf = async (id: string) => (await merchant.api.get(`/v1/payments/${id}`)).expect(200);
const isErased = async (id: string) => (await paymentOf(id)).at("description") === "[erased]";

/** Hidden fields of the second step. */
async function reviewed(buyer: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const { status, text } = await owner.post(`${base}/privacy`, buyer);
  assert.equal(status, 200, text);
  const form = text.slice(text.indexOf(`action="${base}/privacy/erase"`));
  const inputs = form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g);
  return Object.fromEntries([...inputs].map(([, name = "", value = ""]) => [name, value]));
}

/** Ids on the list, newest first. */
async function listed(): Promise<string[]> {
  const { text } = await owner.get(`${base}/privacy`);
  return [...text.matchAll(/\/privacy\/erasures\/(era_\w+)/g)].map(([, id = ""]) => id);
}

/** Log files and tables of the merchant service, which has the audit log, with the text. */
async function placesWith(text: string): Promise<string[]> {
  const found: string[] = [];
  const logs = join(dirname(dirname(running.stack.rpc_files.callers)), "logs");
  for (const name of await readdir(logs)) {
    if ((await readFile(join(logs, name), "utf8")).toLowerCase().includes(text.toLowerCase())) found.push(name);
  }
  const url = databaseUrlOf(running.stack.database, "merchant");
  const select = "select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace";
  for (const { name } of await inDatabase<{ name: string }>(url, select)) {
    const [row] = await inDatabase<{ n: string }>(
      url,
      `select count(*) as n from "${name}" t where t::text ilike '%${text}%'`,
    );
    if (Number(row?.n) > 0) found.push(name);
  }
  return found;
}

visit(
  "leads from a payment to the erasure of its buyer, whose e-mail no address, log or audit entry names",
  async ({ page, context }) => {
    const email = freshEmail();
    const [secret = ""] = email.split("@");
    const first = await makePurchase(running.stack, merchant, { customer_email: email, reference: "LB-7" });
    const second = await makePurchase(running.stack, merchant, { customer_email: email.toLowerCase() });
    const addresses: string[] = [];
    context.on("request", (request) => addresses.push(request.url()));
    await signInNew({ page, context }, running.stack, { email: "erases@privacy.example", merchantId: merchant.id });
    await page.goto(`${running.stack.console}${base}/payments/${first.payment}`);
    await page.getByRole("link", { name: "Erase this buyer" }).click();
    assert.equal(await page.getByLabel("Or a payment ID").inputValue(), first.payment);
    await assertUsable(page, "privacy");
    await page.setViewportSize(phone);
    await page.getByLabel("Or a payment ID").fill(newId("payment"));
    await page.getByRole("button", { name: "Review erasure" }).click();
    await page.getByRole("link", { name: "There is no payment with this ID" }).waitFor();
    await assertUsable(page, "privacy-problem");
    await page.setViewportSize(phone);
    await page.getByLabel("Or a payment ID").fill("");
    await page.getByLabel("Customer's email address").fill(email.toUpperCase());
    for (const at of ["first", "second"]) {
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name: "Download data" }).click();
      assert.match((await downloading).suggestedFilename(), /^buyer-data-\d{4}-\d\d-\d\d\.json$/, at);
    }
    await page.getByRole("button", { name: "Review erasure" }).click();
    await page.getByRole("heading", { name: "Erase this customer's personal data?" }).waitFor();
    await page.getByText("2 payments and 2 checkouts").waitFor();
    for (const text of ["What is erased", "What stays", "You can't undo this."])
      await page.getByText(text, { exact: true }).waitFor();
    await assertUsable(page, "privacy-review");
    assert.equal(await isErased(first.payment), false);
    await page.getByRole("button", { name: "Erase personal data" }).click();
    await confirmIfPrompted(page);
    await page.getByRole("heading", { name: "Personal data erased" }).waitFor();
    const facts = await page.locator(".facts").textContent();
    for (const fact of ["Payments2", "Checkouts2", "Payment links0", "Backups hold copies until"])
      assert.ok(facts?.replace(/\s/g, "").includes(fact.replace(/\s/g, "")), `${fact}: ${facts}`);
    await assertUsable(page, "privacy-result");
    for (const { payment } of [first, second]) assert.equal(await isErased(payment), true);
    const kept = await paymentOf(first.payment);
    assert.deepEqual(
      [kept.at("amount"), kept.at("currency"), kept.at("status"), kept.at("customer_email")],
      [4_250, "EUR", "succeeded", undefined],
    );
    await page.getByRole("link", { name: "Back to Privacy" }).click();
    await page.getByRole("region", { name: "Latest erasures" }).getByText("Finished").first().waitFor();
    assert.ok(!(await page.content()).toLowerCase().includes(secret.toLowerCase()), "the list does not name the buyer");
    await assertUsable(page, "privacy-list");
    const named = addresses.filter((address) => decodeURIComponent(address).toLowerCase().includes("example.com"));
    assert.deepEqual(named, []);
    await eventually("the audit entry", async () => {
      await page.goto(`${running.stack.console}${base}/audit`);
      return (await page.locator("td").getByText("Requested an erasure of personal data").count()) > 0;
    });
    assert.ok(!(await page.content()).toLowerCase().includes(secret.toLowerCase()));
    assert.deepEqual(await placesWith(secret), []);
  },
  { bypassCSP: true },
);

visit.alone("erases once for a form without JavaScript that is sent six times at once", async () => {
  const { payment } = await makePurchase(running.stack, merchant, { customer_email: freshEmail() });
  const before = await listed();
  const fields = await reviewed({ payment_id: payment });
  const answers = await Promise.all(Array.from({ length: 6 }, () => owner.post(`${base}/privacy/erase`, fields)));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [303]);
  const after = await listed();
  assert.equal(new Set(after).size, new Set(before).size + 1);
  const repeated = await owner.post(`${base}/privacy/erase`, fields);
  assert.equal(repeated.location, `${base}/privacy/erasures/${after[0]}`);
  const other = await owner.post(`${base}/privacy/erase`, { ...fields, payment_id: "", customer_email: freshEmail() });
  assert.equal(other.status, 422);
  assert.match(other.text, /already used for another customer/);
  assert.equal((await listed()).length, after.length);
});

visit.alone("explains next to the field why it erases nothing", async () => {
  const { payment, dispute } = await disputedPurchase(running.stack, merchant, { customer_email: freshEmail() });
  const elsewhere = await makePurchase(running.stack, await freshMerchant(running.stack));
  const gone = await makePurchase(running.stack, merchant);
  (await merchant.api.post("/v1/privacy/erasures", { payment_id: gone.payment })).expect(201);
  const before = await listed();
  const cases: readonly (readonly [Record<string, string>, field: string, problem: RegExp])[] = [
    [{}, "customer_email", /Enter an email address or a payment ID\./],
    [{ customer_email: "a@example.com", payment_id: payment }, "payment_id", /not both/],
    [{ customer_email: "ada" }, "customer_email", /Enter an address like/],
    [{ customer_email: freshEmail() }, "customer_email", /no personal data for this/],
    [{ payment_id: gone.payment }, "payment_id", /no personal data for this/],
    [{ payment_id: "pay_1" }, "payment_id", /no payment with this ID/],
    [{ payment_id: newId("payment") }, "payment_id", /no payment with this ID/],
    [{ payment_id: elsewhere.payment }, "payment_id", /no payment with this ID/],
    [{ payment_id: payment }, "payment_id", /an open dispute/],
  ];
  for (const [fields, field, problem] of cases) {
    const { status, text } = await owner.post(`${base}/privacy`, fields);
    const shown = new RegExp(`id="${field}-problem">([^<]+)<`).exec(text)?.[1] ?? "";
    assert.match(shown, problem, JSON.stringify(fields));
    assert.equal(status, 422);
    if (fields.payment_id === payment && !fields.customer_email)
      assert.ok(text.includes(`${base}/disputes/${dispute}`));
  }
  const blocked = await owner.post(`${base}/privacy/erase`, { payment_id: payment });
  assert.equal(blocked.status, 422);
  assert.match(blocked.text, /id="payment_id-problem">This customer has an open dispute/);
  assert.deepEqual(await listed(), before);
  assert.equal(await isErased(payment), false);
});

visit.alone("downloads what there is about one payment's buyer, stored nowhere", async () => {
  const email = freshEmail();
  const bought = await makePurchase(running.stack, merchant, { customer_email: email });
  const file = await owner.post(`${base}/privacy/export`, { payment_id: bought.payment });
  const names = ["content-type", "content-disposition", "cache-control", "x-content-type-options"];
  const [type, disposition, ...rest] = names.map((name) => file.headers.get(name) ?? "");
  assert.deepEqual([file.status, type, ...rest], [200, "application/json; charset=utf-8", "no-store", "nosniff"]);
  assert.match(disposition ?? "", /^attachment; filename="buyer-data-[\d-]+\.json"$/);
  const copy = (await merchant.api.post("/v1/privacy/exports", { payment_id: bought.payment })).expect(200);
  assert.deepEqual(JSON.parse(file.text), copy.body);
  assert.ok(file.text.includes(email) && file.text.includes(bought.session));
  const none = await owner.post(`${base}/privacy/export`, { customer_email: freshEmail() });
  assert.deepEqual([none.status, none.headers.get("content-disposition")], [422, null]);
});

visit.alone("asks for fresh proof before it erases, and erases nothing without it", async () => {
  const { payment } = await makePurchase(running.stack, merchant, { customer_email: freshEmail() });
  const fields = await reviewed({ payment_id: payment });
  await inDatabase(
    databaseUrlOf(running.stack.database, "merchant"),
    "update console_sessions set proved_at = now() - interval '1 hour' where proved_at is not null",
  );
  const asked = await owner.post(`${base}/privacy/erase`, fields);
  assert.match(asked.text, /Confirm it&#39;s you|Confirm it's you/);
  assert.ok(asked.text.includes(`value="${payment}"`), "the proof continues with the same input");
  const wrong = await owner.post(`${base}/privacy/erase`, { ...fields, proof_code: "000000" });
  assert.equal(wrong.status, 422);
  assert.equal(await isErased(payment), false);
});

test.run();
