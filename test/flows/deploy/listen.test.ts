// `npm run listen` and `npm run trigger` with a running stack and a plain local address.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import Stripe from "stripe";
import { openStack } from "../../../deploy/local/webhooks/stack-client.ts";
import { eventually } from "../../harness/eventually.ts";
import { freshMerchant, type TestMerchant } from "../../harness/merchant.ts";
import { sharedStack } from "../../harness/stack.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("listen and trigger", { timeoutMs: 60_000 });
const root = join(import.meta.dirname, "../../..");
const path = "/v1/merchants/me/webhooks";
const running = new Set<ChildProcess>();
let merchant: TestMerchant;
let stateDir: string;

test.before(async () => {
  const info = await sharedStack();
  merchant = await freshMerchant(info);
  stateDir = await tempDir("listen");
  await writeFile(join(stateDir, "stack.json"), JSON.stringify({ ...info, api_key: merchant.apiKey }));
});
test.after(() => {
  for (const child of running) child.kill("SIGKILL");
});

function run(script: string, args: string[], state = stateDir) {
  const child = spawn(process.execPath, [join("deploy/local/webhooks", script), ...args], {
    cwd: root,
    env: { ...process.env, STATE_DIR: state },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data: Buffer) => (output += data));
  const ended = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
  void ended.then(() => running.delete(child));
  const waitForOutput = (text: string | RegExp) =>
    eventually(`${script} to print ${text}`, () => output.match(text), { limitMs: 30_000 });
  return { child, ended, waitForOutput, output: () => output };
}

/** A developer's HTTP server. */
async function localServer() {
  const received: { headers: IncomingHttpHeaders; body: Buffer }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    received.push({ headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(202).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const url = `http://localhost:${typeof address === "object" ? address?.port : 0}/hook`;
  return { url, received, close: () => new Promise((resolve) => server.close(resolve)) };
}

const endpoints = async () => (await merchant.api.get(path)).list("data");

test(
  "every delivered type can be triggered and reaches the local address with a valid signature",
  async () => {
    const local = await localServer();
    const listener = run("listen.ts", ["--forward-to", local.url]);
    const [, secret = ""] = await listener.waitForOutput(/signing secret: (whsec_\S+)/);
    const types = [
      ...["payment.succeeded", "payment.failed", "payment.refunded", "payment.disputed", "test.ping"],
      ...["payment.processing", "report.ready"],
      ...["refund.succeeded", "refund.failed"],
      ...["dispute.created", "dispute.updated", "dispute.won", "dispute.lost", "dispute.closed"],
      ...["authorization.captured", "authorization.canceled", "authorization.expired"],
      ...["checkout_session.completed", "checkout_session.expired", "checkout_session.canceled"],
    ];
    for (const type of types) {
      const trigger = run("trigger.ts", [type]);
      assert.equal(await trigger.ended, 0, trigger.output());
      assert(trigger.output().startsWith(`${type}: `), trigger.output());
      await listener.waitForOutput(new RegExp(`${type.replace(".", "\\.")} .*→ 202 in \\d+ ms`));
    }
    for (const { headers, body } of local.received) {
      // Stripe's library verifies the same scheme.
      const event = Stripe.webhooks.constructEvent(body, String(headers["service-signature"]), secret);
      assert.equal(event.type, headers["service-event"]);
      assert.throws(() =>
        Stripe.webhooks.constructEvent(
          Buffer.concat([body, Buffer.from(" ")]),
          String(headers["service-signature"]),
          secret,
        ),
      );
    }
    const seen = new Set(local.received.map(({ headers }) => headers["service-event"]));
    assert.deepEqual([...seen].sort(), [...types].sort());
    listener.child.kill("SIGINT");
    assert.equal(await listener.ended, 0, listener.output());
    assert.deepEqual(await endpoints(), []);
    await local.close();
  },
  { timeoutMs: 120_000 },
);

test("a failed local delivery is printed, and the next listener removes the endpoint of a killed one", async () => {
  const local = await localServer();
  await local.close();
  const killed = run("listen.ts", ["--forward-to", local.url, "--events", "payment.failed"]);
  await killed.waitForOutput(/signing secret/);
  assert.equal((await endpoints()).length, 1);
  const trigger = run("trigger.ts", ["test.ping"]);
  assert.equal(await trigger.ended, 0, trigger.output());
  await killed.waitForOutput(/test\.ping → not delivered: .*ECONNREFUSED/);
  killed.child.kill("SIGKILL");
  await killed.ended;
  const next = run("listen.ts", ["--forward-to", local.url, "--events", "payment.failed"]);
  await next.waitForOutput(/signing secret/);
  assert.equal((await endpoints()).length, 1);
  next.child.kill("SIGTERM");
  assert.equal(await next.ended, 0, next.output());
  assert.deepEqual(await endpoints(), []);
});

test("wrong arguments and a missing stack end in one clear line", async () => {
  const cases: [string, string[], string, RegExp, number?][] = [
    [
      "trigger.ts",
      ["payment.created"],
      stateDir,
      /^there is no type payment\.created; did you mean .*\n\nnpm run trigger[\s\S]*payment\.refunded/,
      2,
    ],
    ["trigger.ts", ["test.ping"], stateDir, /^there is no active webhook endpoint: run npm run listen first\n$/],
    ["trigger.ts", ["payment.failed"], "/nonexistent", /^no stack is running .*npm start/],
    ["listen.ts", [], stateDir, /^npm run listen/, 2],
    ["listen.ts", ["--forward-to", "localhost:3000"], stateDir, /^--forward-to must be an http or https URL/, 2],
  ];
  const results = await Promise.all(
    cases.map(async ([script, args, state]) => {
      const command = run(script, args, state);
      return { code: await command.ended, output: command.output() };
    }),
  );
  for (const [i, { code, output }] of results.entries()) {
    assert.equal(code, cases[i]?.[4] ?? 1, output);
    assert.match(output, cases[i]?.[3] ?? /never/);
  }
  assert.deepEqual(await endpoints(), []);
});

test("an API refusal is printed with its fields", async () => {
  const client = await openStack({ STATE_DIR: stateDir });
  const refused = client.call("POST", path, { url: "http://localhost/hook", event_types: [] });
  await assert.rejects(refused, /400 invalid_body.*\n(?: {2}url .*\n)? {2}event_types must have/);
});

test.run();
