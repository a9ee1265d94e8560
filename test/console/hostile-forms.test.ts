// Broken, endless and foreign request bodies, with and without a session. The console rejects them without reading on.
import assert from "node:assert/strict";
import { request } from "node:http";
import { browserSuite } from "../harness/browser.ts";
import { openAs, startConsoleStack } from "../harness/console.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { fixture, suite } from "../harness/suite.ts";
import { type Person, personOf } from "./person.ts";
import { disputedPurchase, makePurchase } from "./purchases.ts";

const test = suite("console hostile forms", { timeoutMs: 120_000, hookTimeoutMs: 180_000 });
const visit = browserSuite(test);
const running = fixture(test, () => startConsoleStack());
const merchant = fixture(test, () => freshMerchant(running.stack));
let base: string;
let filesPath: string;
let owner: Person;

test.before(async () => {
  base = `/${merchant.id}/sandbox`;
  const { dispute } = await disputedPurchase(running.stack, merchant);
  filesPath = `${base}/disputes/${dispute}/files`;
  const opened = await openAs(visit, running.stack, { email: "forms@example.com", merchantId: merchant.id });
  owner = await personOf(opened, running.stack, "/account");
});

const multipart = "multipart/form-data; boundary=XX";
const field = (name: string, value: string) =>
  `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;

async function send(path: string, type: string, body: string): Promise<Response> {
  return await fetch(`${running.stack.console}${path}`, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": type, "sec-fetch-site": "same-origin" },
    body,
  });
}

visit.alone("rejects a malformed upload without an error of the console", async () => {
  for (const [what, type, body] of [
    ["no boundary", "multipart/form-data", "xx"],
    ["an endless boundary", `multipart/form-data; boundary=${"a".repeat(5_000)}`, "xx"],
    ["no end", multipart, '--XX\r\nContent-Disposition: form-data; name="form_token"\r\n\r\nx'],
    ["no parts", multipart, "\u0000\u0001"],
    ["a thousand fields", multipart, `${field("a", "x").repeat(1_000)}--XX--\r\n`],
    ["a name of every object", multipart, `${field("__proto__", "x")}--XX--\r\n`],
  ] as const)
    assert.equal((await send(filesPath, type, body)).status, 403, what);
});

visit.alone("rejects a file that breaks off", async () => {
  const token = (await owner.fieldsOf(`${base}/payments`, "/sign-out")).form_token ?? "";
  const head = `${field("form_token", token)}${field("file_kind", "receipt_file")}`;
  const file = '--XX\r\nContent-Disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.4 and no end';
  const answer = await owner.send(filesPath, multipart, `${head}${file}`);
  assert.equal(answer.status, 422);
  assert.match(answer.text, /Upload a readable PDF, JPEG or PNG file/);
});

visit.alone("stops reading an upload without a length or over the limit", async () => {
  const piece = Buffer.from(field("a", "x").repeat(1_000));
  for (const headers of [{}, { "content-length": String(2 ** 30) }]) {
    const { status, sent } = await pour(filesPath, { "content-type": multipart, ...headers }, piece);
    // A sender that still writes when the connection ends may lose the answer.
    assert.ok(status === 413 || status === 0, `answered ${status}`);
    assert.ok(sent < 2 ** 26, `${sent} bytes were taken`);
  }
});

visit.alone("rejects JSON and plain text as forms", async () => {
  const { payment } = await makePurchase(running.stack, merchant);
  const path = `${base}/payments/${payment}/refund`;
  const fields = await owner.fieldsOf(path);
  for (const type of ["application/json", "text/plain"]) {
    const answer = await owner.send(path, type, JSON.stringify({ ...fields, amount: "1.00" }));
    assert.equal(answer.status, 403, type);
  }
  assert.equal((await merchant.api.get(`/v1/payments/${payment}`)).number("refunded_amount"), 0);
});

visit.alone("warns that a form may have gone through when its service is down", async () => {
  const { payment } = await makePurchase(running.stack, merchant);
  const path = `${base}/payments/${payment}/refund`;
  const fields = await owner.fieldsOf(path);
  await running.halt("payments");
  try {
    assert.match((await owner.post(path, { ...fields, amount: "1.00" })).text, /may have gone through/);
    assert.match((await owner.get(`${base}/payments.csv`)).text, /Nothing was changed/);
  } finally {
    await running.resume("payments");
  }
});

/** Sends pieces until the console ends the connection. */
async function pour(path: string, headers: Record<string, string>, piece: Buffer) {
  const { promise, resolve } = Promise.withResolvers<{ status: number; sent: number }>();
  let [status, sent] = [0, 0];
  const outgoing = request(`${running.stack.console}${path}`, {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin", ...headers },
  });
  outgoing.on("response", (answer) => {
    status = answer.statusCode ?? 0;
    answer.resume();
  });
  // Writes after the answer fail.
  outgoing.on("error", () => {});
  outgoing.on("close", () => resolve({ status, sent }));
  const more = () => {
    if (outgoing.destroyed || sent >= 2 ** 29) return void outgoing.destroy();
    sent += piece.length;
    outgoing.write(piece, more);
  };
  more();
  return await promise;
}

test.run();
