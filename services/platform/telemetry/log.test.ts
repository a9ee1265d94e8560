import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { suite } from "../../../test/harness/suite.ts";
import { maskSecrets } from "./log.ts";

const test = suite("log");

test("masks every secret of the system inside any text", () => {
  const secrets = [
    "sk_test_abcDEF0123456789",
    "sk_live_abcDEF0123456789",
    "cs_secret_01jabc_AbC-_9",
    "whsec_AbC-_9",
    "sim_sk_abc",
    "sim_wh_AbC-_9",
    "rk_live_abcDEF0123456789",
    "rk_test_abcDEF0123456789",
    "pi_01abc_secret_xyz",
    "pi_3MtwBwLkdIwHu7ix28a3tqPa_secret_YrKJUKribcBjcG8HVhfZluoGH",
    "seti_1Mm8s8LkdIwHu7ix0OXBfTRG_secret_NXDICkPqPeiBTAFqWmkbff09lRmSVXe",
  ];
  for (const secret of secrets) {
    const line = maskSecrets(`GET /x?secret=${secret}&y=1 "${secret}"`);
    assert.ok(!line.includes(secret), line);
  }
  assert.equal(maskSecrets("postgres://user:hunter2@host/db"), "postgres://user:…@host/db");
  assert.equal(maskSecrets("no nats://svc:hunter2@nats:4222"), "no nats://…@nats:4222");
  assert.equal(maskSecrets("tls://s3cr3ttoken@nats:4222"), "tls://…@nats:4222");
  assert.equal(maskSecrets("https://shop.example/a@b"), "https://shop.example/a@b");
  assert.equal(maskSecrets("pay_01abc is fine"), "pay_01abc is fine");
});

test("masks a value after a keyword and keeps the keyword", () => {
  assert.equal(maskSecrets("Authorization: Bearer eyJhbGci.abc-_~+/9=="), "Authorization: Bearer …");
  assert.equal(maskSecrets("authorization: bearer 0123456789abcdef, next"), "authorization: bearer …, next");
  assert.equal(maskSecrets("host=db password=hunter2 user=x"), "host=db password=… user=x");
  assert.equal(maskSecrets(`PGPASSWORD = "hunter2"`), `PGPASSWORD = "…"`);
  assert.equal(maskSecrets("/c/1?secret=abc&locale=de"), "/c/1?secret=…&locale=de");
  assert.equal(maskSecrets("authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l, next"), "authorization: Basic …, next");
  assert.equal(maskSecrets("a basic rule"), "a basic rule");
  assert.equal(maskSecrets("a bearer of news"), "a bearer of news");
});

test("masks card numbers in any notation, and no other number", () => {
  for (const card of ["4242424242424242", "4242 4242 4242 4242", "4242-4242-4242-4242", "378282246310005"])
    assert.equal(maskSecrets(`declined: ${card}.`), "declined: ….", card);
  assert.equal(maskSecrets('{"number":"4222222222222"}'), '{"number":"…"}', "13 digits");
  assert.equal(maskSecrets("6304000000000000000 is 19 long"), "… is 19 long");
  for (const other of [
    "4242424242424241",
    "424242424242",
    "42424242424242424242",
    "pay_4242424242424242",
    "0.4242424242424242",
    "2026-11-22T18:41:42.000Z",
  ]) {
    assert.equal(maskSecrets(`took ${other} ms`), `took ${other} ms`, other);
  }
});

test("masks secrets in a line's fields, error and causes", async () => {
  const secret = "sk_test_abcDEF0123456789";
  const program = `
    import { createLog } from ${JSON.stringify(new URL("log.ts", import.meta.url).href)};
    const text = "of ${secret} to";
    const err = new Error(text, { cause: new Error(text) });
    createLog("masked", "info").info({ path: text, ignored: [text, 1], count: 7, err }, text);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  await once(child, "exit");
  assert.ok(!String(line).includes(secret), String(line));
  const { path, ignored, count, err, msg } = JSON.parse(String(line));
  const shown = "of sk_test_… to";
  assert.deepEqual([path, ignored, count, err.message, msg], [shown, [shown, 1], 7, shown, shown]);
});

test("a process can exit after its log's reader is gone", async () => {
  const program = `
    import { createLog } from ${JSON.stringify(new URL("log.ts", import.meta.url).href)};
    const log = createLog("orphan", "info");
    process.stdin.resume().once("end", () => {
      log.info("unread");
      log.fatal("last words");
      process.exit(3);
    });
    log.info("up");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  await once(child.stdout, "data");
  child.stdout.destroy();
  child.stdin.end();
  try {
    assert.deepEqual(await exited, [3, null]);
  } finally {
    child.kill("SIGKILL");
  }
});

test.run();
