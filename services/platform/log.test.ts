// Logs: secrets do not pass, wherever in a text they stand; and a log that nobody reads keeps no process alive.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { suite } from "../../test/harness/suite.ts";
import { masked } from "./log.ts";

const test = suite("log");

test("every secret of the system is masked inside any text", () => {
  const secrets = [
    "sk_test_abcDEF0123456789",
    "sk_live_abcDEF0123456789",
    "cs_secret_01jabc_AbC-_9",
    "whsec_AbC-_9",
    "sim_sk_abc",
    "pi_01abc_secret_xyz",
  ];
  for (const secret of secrets) {
    const line = masked(`GET /x?secret=${secret}&y=1 "${secret}"`);
    assert.ok(!line.includes(secret), line);
  }
  assert.equal(masked("postgres://user:hunter2@host/db"), "postgres://user:…@host/db");
  assert.equal(masked("no nats://svc:hunter2@nats:4222"), "no nats://…@nats:4222");
  assert.equal(masked("tls://s3cr3ttoken@nats:4222"), "tls://…@nats:4222");
  assert.equal(masked("https://shop.example/a@b"), "https://shop.example/a@b");
  assert.equal(masked("pay_01abc is fine"), "pay_01abc is fine");
});

test("a process whose log nobody reads any more ends with its last words", async () => {
  const program = `
    import { createLog } from ${JSON.stringify(new URL("log.ts", import.meta.url).href)};
    const log = createLog("orphan", "info");
    process.stdin.resume().once("end", () => {
      log.info("to nobody");
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
