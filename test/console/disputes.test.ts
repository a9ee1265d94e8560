// Disputes and captures in the console: evidence with files is sent once, and so is a capture.
import assert from "node:assert/strict";
import { browserSuite, desktop } from "../harness/browser.ts";
import { openAs, signInNew, startConsoleStack } from "../harness/console.ts";
import { pdfFile, pngFile } from "../harness/files/sample-files.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { fixture, suite } from "../harness/suite.ts";
import { type Person, personOf } from "./person.ts";
import { disputedPurchase, makePurchase } from "./purchases.ts";
import { assertUsable } from "./usable.ts";

const test = suite("console disputes", { timeoutMs: 180_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
const running = fixture(test, () => startConsoleStack({ shape: "one" }));
const merchant = fixture(test, () => freshMerchant(running.stack));
let base: string;

test.before(() => {
  base = `/${merchant.id}/sandbox`;
});

const disputeOf = async (id: string) => (await merchant.api.get(`/v1/disputes/${id}`)).expect(200);

async function owner(email: string): Promise<Person> {
  const opened = await openAs(visit, running.stack, { email, merchantId: merchant.id });
  return await personOf(opened, running.stack, "/account");
}

visit(
  "shows a dispute response before it is sent, sends it once, and names its files afterwards",
  async ({ page, context }) => {
    const { dispute } = await disputedPurchase(running.stack, merchant, { reference: "A-2001" });
    await signInNew({ page, context }, running.stack, { email: "answers@example.com", merchantId: merchant.id });
    await page.goto(`${running.stack.console}${base}/disputes`);
    await page.getByRole("link", { name: "€42.50" }).first().click();
    const facts = await page.locator(".facts").first().textContent();
    for (const fact of ["days left", "ada@example.com", "A-2001", "····0259"]) assert.ok(facts?.includes(fact), fact);
    await page.getByText("passed 3-D Secure, CVC and address checks").waitFor();
    await page.getByLabel("Product or service").fill("One lemon tree <b>120 cm</b>\nin a pot");
    await page.getByLabel("Document type").selectOption({ label: "Proof of shipping" });
    await page
      .getByLabel("File", { exact: true })
      .setInputFiles({ name: "Lieferschein März.pdf", mimeType: "application/pdf", buffer: pdfFile() });
    await page.getByRole("button", { name: "Add file" }).click();
    await page.getByText("File added").waitFor();
    await assertUsable(page, "dispute-response");
    assert.equal(await page.getByLabel("Product or service").inputValue(), "One lemon tree <b>120 cm</b>\nin a pot");
    await page.getByRole("button", { name: "Review response" }).click();
    await page.getByRole("heading", { name: "Check your response" }).waitFor();
    await page.getByText("One lemon tree <b>120 cm</b>").waitFor();
    await page.getByRole("link", { name: "Lieferschein März.pdf" }).waitFor();
    await assertUsable(page, "dispute-review");
    assert.equal((await disputeOf(dispute)).text("evidence.status"), "not_submitted");
    await page.getByRole("button", { name: "Back to edit" }).click();
    assert.equal(await page.getByLabel("Product or service").inputValue(), "One lemon tree <b>120 cm</b>\nin a pot");
    await page.getByRole("button", { name: "Review response" }).click();
    await page.getByRole("button", { name: "Send this answer" }).click();
    await page.getByText("Your response").first().waitFor();
    const answered = await disputeOf(dispute);
    assert.match(answered.text("evidence.product_description"), /^One lemon tree <b>120 cm<\/b>\r?\nin a pot$/);
    assert.match(answered.text("evidence.shipping_documentation_file"), /^file_/);
    await page.getByText("One lemon tree <b>120 cm</b>").waitFor();
    assert.equal(await page.getByRole("button", { name: "Review response" }).count(), 0);
    const path = await page.getByRole("link", { name: "Lieferschein März.pdf" }).getAttribute("href");
    const file = await context.request.get(`${running.stack.console}${path}`);
    assert.deepEqual([file.status(), (await file.body()).equals(pdfFile())], [200, true]);
    const headers = ["content-type", "content-disposition", "content-security-policy", "x-content-type-options"];
    assert.deepEqual(
      headers.map((name) => file.headers()[name]),
      [
        "application/pdf",
        "attachment; filename*=UTF-8''Lieferschein%20M%C3%A4rz.pdf",
        "sandbox; default-src 'none'",
        "nosniff",
      ],
    );
    const other = await disputedPurchase(running.stack, merchant);
    const foreign = await context.request.get(`${running.stack.console}${path?.replace(dispute, other.dispute)}`);
    assert.equal(foreign.status(), 404, "a file of another dispute");
  },
  { viewport: desktop, bypassCSP: true },
);

visit.alone("serves a picture in a sandbox under its cleaned name, and removes a file from the response", async () => {
  const person = await owner("pictures@example.com");
  const { dispute } = await disputedPurchase(running.stack, merchant);
  const path = `${base}/disputes/${dispute}`;
  const fields = { once: "", product_description: "kept", file_kind: "receipt_file" };
  const added = await person.upload(`${path}/files`, fields, pngFile(), "..\\a\u202eb.png");
  const id = /name="added_receipt_file" value="(file_\w+)"/.exec(added.text)?.[1] ?? "";
  const { headers } = await person.get(`${path}/files/${id}`);
  assert.deepEqual(
    [headers.get("content-type"), headers.get("content-disposition"), headers.get("content-security-policy")],
    ["image/png", "inline; filename*=UTF-8''ab.png", "sandbox; default-src 'none'"],
  );
  const removal = { ...fields, added_receipt_file: id, remove_file: "receipt_file" };
  const removed = await person.upload(`${path}/files`, removal, Buffer.alloc(0), "");
  assert.deepEqual([removed.status, removed.text.includes(id), removed.text.includes("kept")], [200, false, true]);
});

visit.alone("stores no file that is too large, of a wrong type, or without a form token", async () => {
  const person = await owner("files@example.com");
  const { dispute } = await disputedPurchase(running.stack, merchant);
  const path = `${base}/disputes/${dispute}`;
  const fields = { once: "", product_description: "kept <i>", file_kind: "receipt_file" };
  const tooBig = await person.upload(
    `${path}/files`,
    fields,
    Buffer.concat([pdfFile(), Buffer.alloc(5 * 1024 * 1024)]),
  );
  assert.deepEqual([tooBig.status, /larger than 5 MB/.test(tooBig.text)], [422, true]);
  assert.match(tooBig.text, /kept &#60;i&#62;/);
  for (const bytes of [
    Buffer.from("<html>no</html>"),
    Buffer.from("%PDF-1.7 cut off"),
    Buffer.from("\x89PNG nothing"),
  ]) {
    const wrong = await person.upload(`${path}/files`, fields, bytes);
    assert.deepEqual(
      [wrong.status, /Upload a readable PDF, JPEG or PNG file/.test(wrong.text)],
      [422, true],
      bytes.toString("latin1"),
    );
  }
  assert.equal((await person.upload(`${path}/files`, { ...fields, form_token: "a.b" }, pdfFile())).status, 403);
  assert.equal((await person.upload(`${path}/files`, { ...fields, file_kind: "constructor" }, pdfFile())).status, 404);
  const foreign = "file_01m88cq0bxae1npmyyk7tcq626";
  const sent = await person.upload(
    `${path}/evidence/send`,
    { ...fields, added_receipt_file: foreign },
    Buffer.alloc(0),
    "",
  );
  assert.equal(sent.status, 422, "another dispute's file");
  assert.equal((await disputeOf(dispute)).text("evidence.status"), "not_submitted");
});

visit.alone("rejects a form with too much text from strangers and members", async () => {
  const person = await owner("long-texts@example.com");
  const { dispute } = await disputedPurchase(running.stack, merchant);
  const path = `${base}/disputes/${dispute}/files`;
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`text_${i}`, "&".repeat(79_999)]));
  const form = new FormData();
  for (const [name, value] of Object.entries(many)) form.append(name, value);
  const headers = { "sec-fetch-site": "same-origin" };
  const stranger = await fetch(`${running.stack.console}${path}`, { method: "POST", body: form, headers });
  const page = await stranger.text();
  assert.deepEqual([stranger.status, /up to 128 kB/.test(page)], [413, true]);
  assert.ok(page.length < 10_000, "the answer does not repeat the form");
  const member = await person.upload(path, many, pdfFile());
  assert.deepEqual([member.status, /up to 128 kB/.test(member.text)], [413, true]);
  assert.equal((await disputeOf(dispute)).text("evidence.status"), "not_submitted");
});

visit.alone("sends a response to the processor once although the form is sent several times", async () => {
  const person = await owner("twice@example.com");
  const { dispute } = await disputedPurchase(running.stack, merchant);
  const path = `${base}/disputes/${dispute}`;
  const { once = "" } = await person.fieldsOf(path, `${path}/evidence`);
  const send = () =>
    person.upload(`${path}/evidence/send`, { once, product_description: "A tree" }, Buffer.alloc(0), "");
  const answers = await Promise.all(Array.from({ length: 6 }, send));
  assert.ok(answers.some(({ status }) => status === 303));
  assert.match((await send()).location, /done=evidence-/);
  assert.equal((await disputeOf(dispute)).text("evidence.product_description"), "A tree");
});

visit(
  "keeps the response form when the session ends, and accepts a dispute after a confirmation",
  async ({ page, context }) => {
    const { dispute } = await disputedPurchase(running.stack, merchant);
    await signInNew({ page, context }, running.stack, { email: "accepts@example.com", merchantId: merchant.id });
    await page.goto(`${running.stack.console}${base}/disputes/${dispute}`);
    await page.getByLabel("Product or service").fill("Typed before the end");
    await context.clearCookies();
    await page.getByRole("button", { name: "Add file" }).click();
    await page.getByText("Your session has expired").first().waitFor();
    await page.getByRole("button", { name: "Sign in with a passkey" }).click();
    await page.getByRole("button", { name: "Send now" }).click();
    await page.getByText("Choose a file.").first().waitFor();
    assert.equal(await page.getByLabel("Product or service").inputValue(), "Typed before the end");
    await page.getByRole("link", { name: "Accept dispute" }).click();
    await page.getByText("You can't undo this").waitFor();
    assert.equal((await disputeOf(dispute)).at("acceptance"), undefined);
    await page.getByRole("button", { name: "Accept and give up €42.50" }).click();
    await page
      .getByText(/Dispute accept/)
      .first()
      .waitFor();
    assert.equal(typeof (await disputeOf(dispute)).at("acceptance"), "string");
  },
  { viewport: desktop },
);

visit.alone("captures part of an authorization once, or cancels it", async () => {
  const person = await owner("captures@example.com");
  const manual = { capture_method: "manual", amount: 10_000 };
  const [one, two] = [
    await makePurchase(running.stack, merchant, manual),
    await makePurchase(running.stack, merchant, manual),
  ];
  const capture = `${base}/payments/${one.payment}/capture`;
  assert.equal((await person.post(capture, { ...(await person.fieldsOf(capture)), amount: "100.01" })).status, 422);
  const fields = { ...(await person.fieldsOf(capture)), amount: "60.00" };
  const answers = await Promise.all(Array.from({ length: 4 }, () => person.post(capture, fields)));
  assert.ok(answers.some(({ status }) => status === 303));
  const captured = await merchant.api.get(`/v1/payments/${one.payment}`);
  assert.deepEqual([captured.number("captured_amount"), captured.text("status")], [6_000, "succeeded"]);
  assert.match((await person.get(capture)).text, /can&#39;t be captured/);
  const cancel = `${base}/payments/${two.payment}/cancel`;
  assert.match((await person.post(cancel, await person.fieldsOf(cancel))).location, /done=cancel/);
  assert.equal((await merchant.api.get(`/v1/payments/${two.payment}`)).text("status"), "canceled");
  assert.match((await person.get(cancel)).text, /can&#39;t be canceled/);
});

test.run();
