// The sample of a webhook receiver, run as a merchant would run it.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { freePort } from "../../deploy/local/free-port.ts";
import { purchase } from "../console/purchases.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { announcedTwice } from "../harness/payments/announced-twice.ts";
import { stack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const test = suite("receive-webhooks.mjs", { timeoutMs: 60_000 });
const run = promisify(execFile);
const sample = join(import.meta.dirname, "../../gateway/docs/samples/receive-webhooks.mjs");

test("fulfils a payment that is announced twice once, and names the port that is in use", async () => {
  const running = await stack();
  const merchant = await freshMerchant(running);
  const stateDir = await tempDir("receive-webhooks");
  await writeFile(join(stateDir, "stack.json"), JSON.stringify({ tls: running.tls }));
  const port = String(await freePort());
  const endpoint = { url: `https://localhost:${port}/hook`, event_types: ["payment.succeeded"] };
  const created = (await merchant.api.post("/v1/merchants/me/webhooks", endpoint)).expect(201);
  const env = { ...process.env, SIGNING_SECRET: created.text("signing_secret"), STATE_DIR: stateDir };
  const child = spawn(process.execPath, [sample, port], { env, stdio: ["ignore", "pipe", "inherit"] });
  try {
    let printed = "";
    child.stdout.on("data", (data: Buffer) => (printed += data));
    await eventually("the receiver to listen", () => printed.includes("waiting for webhooks"));
    const second = await run(process.execPath, [sample, port], { env, timeout: 20_000 }).catch((error) => error);
    assert.equal(second.stderr, `port ${port} is in use: another receiver is running\n`);

    const { payment: paymentId } = await purchase(running, merchant);
    await announcedTwice(merchant, paymentId);
    const verified = `{"type":"payment.succeeded","payment_id":"${paymentId}","status":"succeeded"} signature ok`;
    const lines = printed.split("\n").slice(1, -1);
    assert.deepEqual(lines.toSorted(), [`fulfilled: ${paymentId}`, verified, verified].toSorted());
  } finally {
    child.kill();
  }
});

test.run();
