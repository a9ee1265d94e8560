// Refunds in the console: a form refunds once, limits hold under concurrency, and the input survives proof and sign-in.
import assert from "node:assert/strict";
import { connectPeer } from "#platform/rpc/client.ts";
import { newId } from "#platform/values/id.ts";
import { ArchiveService } from "#proto/status/v1/archive_pb.ts";
import { browserSuite, desktop } from "../harness/browser.ts";
import { openAs, sharedConsoles, signInNew } from "../harness/console.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cards } from "../harness/pay.ts";
import { fixture, suite } from "../harness/suite.ts";
import { runSql } from "./operators-rig.ts";
import { type Person, personOf } from "./person.ts";
import { disputedPurchase, makePurchase } from "./purchases.ts";
import { assertUsable } from "./usable.ts";

const test = suite("console refunds", { timeoutMs: 180_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
const stack = fixture(test, sharedConsoles);
const merchant = fixture(test, () => freshMerchant(stack));
let base: string;

test.before(() => {
  base = `/${merchant.id}/sandbox`;
});

const at = (path: string) => `${stack.console}${base}${path}`;
const refundsOf = async (payment: string) =>
  (await merchant.api.get(`/v1/payments/${payment}/refunds`)).expect(200).list("data").length;
const refundedOf = async (payment: string) =>
  (await merchant.api.get(`/v1/payments/${payment}`)).expect(200).number("refunded_amount");

async function owner(email: string): Promise<Person> {
  const opened = await openAs(visit, stack, { email, merchantId: merchant.id });
  return await personOf(opened, stack, "/account");
}

visit(
  "refunds a part and shows the person and the reason",
  async ({ page, context }) => {
    const { payment } = await makePurchase(stack, merchant);
    await signInNew({ page, context }, stack, {
      email: "rina@example.com",
      name: "Rina",
      merchantId: merchant.id,
    });
    await page.goto(at(`/payments/${payment}`));
    await page.getByRole("link", { name: "Refund", exact: true }).click();
    assert.equal(await page.getByLabel("Refund amount").inputValue(), "42.50");
    await page.getByLabel("Refund amount").fill("10,00");
    await page.getByLabel("Other reason").fill("Broken pot");
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.getByText(/Refund sent|Refund in progress/).waitFor();
    assert.equal(await refundedOf(payment), 1_000);
    await page.getByText("Broken pot", { exact: true }).waitFor();
    await eventually("the audit log to name the person", async () => {
      await page.reload();
      return await page.getByText("By Rina").isVisible();
    });
    await page.goto(at("/refunds"));
    await page.getByText("Broken pot", { exact: true }).waitFor();
  },
  { viewport: desktop },
);

visit.alone("makes one refund for two tabs that refund at once", async () => {
  const person = await owner("tabs@example.com");
  const { payment } = await makePurchase(stack, merchant);
  const path = `${base}/payments/${payment}/refund`;
  const tabs = await Promise.all([person.fieldsOf(path), person.fieldsOf(path)]);
  const answers = await Promise.all(
    tabs.map(({ once = "" }) => person.post(path, { once, amount: "10.00", reason: "" })),
  );
  assert.equal(await refundsOf(payment), 1);
  assert.equal(await refundedOf(payment), 1_000);
  assert.ok(answers.some(({ status }) => status === 303));
  // The second tab gets the same refund.
  const again = await person.post(path, { once: tabs[1]?.once ?? "", amount: "10.00", reason: "" });
  assert.match(again.location, /done=refund-repeated/);
  const other = await person.post(path, { once: tabs[1]?.once ?? "", amount: "20.00", reason: "" });
  assert.equal(other.status, 422);
  assert.match(other.text, /has changed since you opened the page/);
  assert.match(other.text, /value="20.00"/, "the input is kept");
  assert.equal(await refundsOf(payment), 1);
  const fields = await person.fieldsOf(path);
  assert.equal((await person.post(path, { once: fields.once ?? "", amount: "20.00", reason: "" })).status, 303);
  assert.equal(await refundedOf(payment), 3_000);
});

visit.alone("refunds once for a form that is sent twelve times at once", async () => {
  const person = await owner("double@example.com");
  const { payment } = await makePurchase(stack, merchant);
  const path = `${base}/payments/${payment}/refund`;
  const { once = "" } = await person.fieldsOf(path);
  const answers = await Promise.all(
    Array.from({ length: 12 }, () => person.post(path, { once, amount: "42.50", reason: "" })),
  );
  assert.equal(await refundsOf(payment), 1);
  for (const { status } of answers) assert.ok(status === 303 || status === 422, `answered ${status}`);
});

visit.alone("ignores the key of another payment", async () => {
  const person = await owner("keys@example.com");
  const [one, two] = [await makePurchase(stack, merchant), await makePurchase(stack, merchant)];
  const { once = "" } = await person.fieldsOf(`${base}/payments/${one.payment}/refund`);
  await person.post(`${base}/payments/${two.payment}/refund`, { once, amount: "1.00", reason: "" });
  assert.deepEqual([await refundedOf(one.payment), await refundedOf(two.payment)], [0, 100]);
});

visit.alone("rejects an invalid or too large amount and keeps the input", async () => {
  const person = await owner("wrong@example.com");
  const { payment } = await makePurchase(stack, merchant);
  const path = `${base}/payments/${payment}/refund`;
  for (const amount of ["42.51", "0", "0.00", "-5", "1e3", "1.234", "abc", "", "1,000.00", "99999999999999999999"]) {
    const { once = "" } = await person.fieldsOf(path);
    const { status, text } = await person.post(path, { once, amount, other: "kept <b>" });
    assert.equal(status, 422, amount);
    assert.match(text, /value="kept &#60;b&#62;"/);
  }
  assert.equal(await refundsOf(payment), 0);
});

visit.alone("limits support's refunds by amount and currency", async () => {
  const joining = { email: "support@example.com", role: "support", merchantId: merchant.id };
  const opened = await openAs(visit, stack, { ...joining, refundLimit: { amount: 2_000n, currency: "EUR" } });
  const person = await personOf(opened, stack, "/account");
  const euros = await makePurchase(stack, merchant);
  const dollars = await makePurchase(stack, merchant, { currency: "USD" });
  const refund = async (payment: string, amount: string) => {
    const path = `${base}/payments/${payment}/refund`;
    return await person.post(path, { ...(await person.fieldsOf(path)), amount, reason: "", currency: "EUR" });
  };
  assert.match((await person.get(`${base}/payments/${euros.payment}/refund`)).text, /up to €20.00 of a payment/);
  assert.equal((await refund(euros.payment, "20.01")).status, 422);
  assert.equal((await refund(dollars.payment, "1.00")).status, 422);
  assert.equal((await refund(euros.payment, "20.00")).status, 303);
  assert.deepEqual([await refundedOf(euros.payment), await refundedOf(dollars.payment)], [2_000, 0]);
  const more = await refund(euros.payment, "0.01");
  assert.equal(more.status, 422);
  assert.match(more.text, /With earlier refunds/);
  assert.equal(await refundedOf(euros.payment), 2_000);
});

visit.alone("refuses support to accept a dispute above its refund limit or in another currency", async () => {
  for (const [currency, amount, isAllowed] of [
    ["EUR", 4_249n, false],
    ["USD", 100_000n, false],
    ["EUR", 4_250n, true],
  ] as const) {
    const { dispute } = await disputedPurchase(stack, merchant);
    const joining = { email: `concedes-${amount}@example.com`, role: "support", merchantId: merchant.id };
    const opened = await openAs(visit, stack, { ...joining, refundLimit: { amount, currency } });
    const person = await personOf(opened, stack, "/account");
    const path = `${base}/disputes/${dispute}/accept`;
    const shown = await person.get(path);
    assert.equal(/Accept and give up/.test(shown.text), isAllowed);
    const answer = await person.post(path, await person.fieldsOf(path));
    assert.equal(answer.status, isAllowed ? 303 : 422, `${amount} ${currency}`);
    const acceptance = (await merchant.api.get(`/v1/disputes/${dispute}`)).expect(200).at("acceptance");
    assert.equal(typeof acceptance === "string", isAllowed);
  }
});

visit.alone("demands fresh proof to accept a large dispute", async () => {
  const { dispute } = await disputedPurchase(stack, merchant, { amount: 1_000_001 });
  const opened = await openAs(visit, stack, { email: "concedes@example.com", merchantId: merchant.id });
  const person = await personOf(opened, stack, "/account");
  await expireProofs();
  const path = `${base}/disputes/${dispute}/accept`;
  const answer = await person.post(path, await person.fieldsOf(path));
  assert.match(answer.text, /Confirm it&#39;s you/);
  assert.equal((await merchant.api.get(`/v1/disputes/${dispute}`)).expect(200).at("acceptance"), undefined);
});

visit.alone("enforces support's limit over concurrent refunds with different keys", async () => {
  const joining = { email: "split@example.com", role: "support", merchantId: merchant.id };
  const opened = await openAs(visit, stack, { ...joining, refundLimit: { amount: 2_000n, currency: "EUR" } });
  const person = await personOf(opened, stack, "/account");
  const { payment } = await makePurchase(stack, merchant);
  const path = `${base}/payments/${payment}/refund`;
  await Promise.all(
    Array.from({ length: 6 }, (_, n) => person.post(path, { once: `mine-${n}`, amount: "9.00", reason: "" })),
  );
  const refunded = await refundedOf(payment);
  assert.ok(refunded > 0 && refunded <= 2_000, `${refunded} was refunded`);
});

visit(
  "demands fresh proof for large refunds, also in parts, and keeps the input",
  async ({ page, context }) => {
    const { payment } = await makePurchase(stack, merchant, { amount: 1_500_000 });
    await signInNew({ page, context }, stack, { email: "grave@example.com", merchantId: merchant.id });
    await expireProofs();
    await page.goto(at(`/payments/${payment}/refund`));
    await page.getByLabel("Refund amount").fill("10000.01");
    await page.getByLabel("Other reason").fill("Large order came back");
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.getByText("Confirm it's you").first().waitFor();
    assert.equal(await refundsOf(payment), 0);
    await page.getByRole("button", { name: "Confirm with a passkey" }).click();
    await page.getByText("Large order came back", { exact: true }).waitFor();
    assert.equal(await refundedOf(payment), 1_000_001);
    await expireProofs();
    await page.goto(at(`/payments/${payment}/refund`));
    await page.getByLabel("Refund amount").fill("1.00");
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.getByText("Confirm it's you").first().waitFor();
    const small = (await makePurchase(stack, merchant)).payment;
    await page.goto(at(`/payments/${small}/refund`));
    await page.getByLabel("Refund amount").fill("1.00");
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.getByText(/Refund sent|Refund in progress/).waitFor();
  },
  { viewport: desktop },
);

/** Expires the proofs of this merchant's members. */
const expireProofs = () =>
  runSql(
    stack.database,
    "merchant",
    `update console_sessions set proved_at = now() - interval '1 hour'
     where proved_at is not null and person_id in (select person_id from memberships where merchant_id = $1)`,
    [merchant.id],
  );

visit(
  "keeps the refund form when the session expires and sends it only on request",
  async ({ page, context }) => {
    const { payment } = await makePurchase(stack, merchant);
    await signInNew({ page, context }, stack, { email: "ended@example.com", merchantId: merchant.id });
    await page.goto(at(`/payments/${payment}/refund`));
    await page.getByLabel("Refund amount").fill("12.34");
    await page.getByLabel("Other reason").fill("Half was missing");
    await context.clearCookies();
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.getByText("Your session has expired").first().waitFor();
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByRole("button", { name: "Send now" }).waitFor();
    assert.equal(await refundsOf(payment), 0);
    await page.getByRole("button", { name: "Send now" }).click();
    await page.getByText("Half was missing", { exact: true }).waitFor();
    assert.equal(await refundedOf(payment), 1_234);
  },
  { viewport: desktop },
);

visit(
  "refunds a payment that is in the archive, from a page that explains it",
  async ({ page, context }) => {
    const payment = await agedPurchase(Date.UTC(2024, 4, 12));
    const peer = connectPeer({ url: stack.rpc.payments, token: stack.rpc_token });
    await peer.client(ArchiveService).archiveMonth({ month: "2024-05" });
    peer.close();
    await eventually("the payment to be archived", async () =>
      (await merchant.api.get(`/v1/payments/${payment}`)).expect(200).at("archived"),
    );
    await signInNew({ page, context }, stack, { email: "old@example.com", merchantId: merchant.id });
    await page.goto(at(`/payments/${payment}`));
    await page.getByText("This payment is archived").waitFor();
    assert.equal(await page.getByRole("link", { name: "Erase this buyer" }).count(), 0);
    await assertUsable(page, "payment-archived");
    await page.getByRole("link", { name: "Refund", exact: true }).click();
    await page.getByLabel("Refund amount").fill("10.00");
    await page.getByRole("button", { name: "Refund", exact: true }).click();
    await page.getByText(/Refund sent|Refund in progress/).waitFor();
    assert.equal(await page.getByText("This payment is archived").count(), 0);
    assert.equal(await refundedOf(payment), 1_000);
  },
  { viewport: desktop, bypassCSP: true },
);

/** A paid purchase, as if it had been made then. @returns payment ID */
async function agedPurchase(at: number): Promise<string> {
  const { payment } = await makePurchase(stack, merchant);
  const aged = newId("payment", at);
  // Foreign keys are off.
  await runSql(
    stack.database,
    "payments",
    `set session_replication_role = replica;
     update payments set id = '${aged}' where id = '${payment}';
     update attempts set payment_id = '${aged}' where payment_id = '${payment}';
     update operations set payment_id = '${aged}', reference = '${aged}' where payment_id = '${payment}';
     update journal set payment_id = '${aged}' where payment_id = '${payment}'`,
  );
  return aged;
}

visit.alone("shows a refund that fails later and allows another one", async () => {
  const person = await owner("later@example.com");
  const { payment } = await makePurchase(stack, merchant, {}, cards.refundFailsLater);
  const path = `${base}/payments/${payment}/refund`;
  await person.post(path, { ...(await person.fieldsOf(path)), amount: "42.50", reason: "" });
  await eventually("the refund to fail", async () => (await refundedOf(payment)) === 0);
  const shown = await untilShown(person, `${base}/payments/${payment}`, /Refund of €42.50[\s\S]*?Failed/);
  assert.match(shown, /href="[^"]*\/refund"/);
  await untilShown(person, `${base}/refunds?status=failed`, /chip-bad[\s\S]*hint/);
  assert.equal((await person.post(path, { ...(await person.fieldsOf(path)), amount: "1.00", reason: "" })).status, 303);
});

async function untilShown(person: Person, path: string, what: RegExp): Promise<string> {
  return await eventually(`${path} to show ${what}`, async () => {
    const { text } = await person.get(path);
    return what.test(text) ? text : undefined;
  });
}

test.run();
