// The life of local stacks, in order: two run at the same time, are disturbed, stop, start again, are killed, and start
// again.
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { freePort } from "../../deploy/local/free-port.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { apiClient, merchantApi } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { allGone, modeOf, type StartCommand, startCommands } from "../harness/files/start-commands.ts";
import { payInFrame } from "../harness/pay.ts";
import { suite } from "../harness/suite.ts";

const test = suite("npm start", { timeoutMs: 200_000 });
/** A service that loses the broker during its first connection waits 20 s before it retries. */
const readyAgainMsMax = 40_000;
const { newDir, settings, start, clear } = startCommands();

interface Stack {
  readonly command: StartCommand;
  readonly info: StackInfo;
}
/** Each process of the second stack logs this at its start. */
const complaint = "looks-like-a-failure";
const complaining = `--import=data:text/javascript,if(process.argv[1]?.includes('/services/'))console.error('${complaint}')`;
let env: Record<string, string>;
let secondEnv: Record<string, string>;
let first: Stack | undefined;
let second: Stack | undefined;
/** A session of the first stack with its response, and a receipt of the second. */
let created: { id: string; secret: string; form: string; link: string };
let receipt = "";

test.after(clear);

/** Output of a failing start. */
async function refusal(env: Record<string, string>): Promise<{ code: number | null; lines: string[] }> {
  const command = start(env);
  const code = await command.ended;
  const lines = command.output().trim().split("\n");
  return { code, lines: lines.filter((line) => !line.startsWith("Tollbooth starts on")) };
}

async function ready(command: StartCommand): Promise<Stack> {
  return { command, info: await command.ready() };
}

/** Settings of later starts of the first stack; its folder has the rest. */
const kept = () => ({ STATE_DIR: env.STATE_DIR ?? "" });
const statusOf = async (url: string) => (await fetch(url)).status;

/** Pays a session of the stack. @returns the URL of its receipt */
async function paidReceipt(info: StackInfo): Promise<string> {
  const merchant = merchantApi(info.gateway, info.api_key);
  const session = (await merchant.post("/v1/checkout-sessions", { amount: 900, currency: "EUR" })).expect(201);
  await payInFrame(session.text("render.frame_url"));
  const confirm = `/v1/checkout/${session.text("id")}/confirm?secret=${session.text("session_secret")}`;
  const paymentId = (await merchant.post(confirm)).expect(200).text("payment_id");
  return (await merchant.get(`/v1/payments/${paymentId}`)).expect(200).text("receipt_url");
}

test("two stacks run at the same time, and neither accepts the other's key", async () => {
  env = await settings();
  secondEnv = { ...(await settings()), NODE_OPTIONS: complaining, NATS_STREAM_GIB: "9" };
  const commands = [start(env), start(secondEnv)] as const;
  [first, second] = [await ready(commands[0]), await ready(commands[1])];
  for (const { info } of [first, second]) {
    assert.is((await apiClient(info.gateway).get("/readyz")).status, 200);
    const wanted = { amount: 700, currency: "EUR" };
    const session = await merchantApi(info.gateway, info.api_key).post("/v1/checkout-sessions", wanted);
    assert.is(session.status, 201);
    created ??= {
      id: session.text("id"),
      secret: session.text("session_secret"),
      form: session.text("render.frame_url"),
      link: session.text("checkout_url"),
    };
  }
  receipt = await paidReceipt(first.info);
  assert.is((await merchantApi(first.info.gateway, second.info.api_key).get("/v1/payments")).status, 401);
});

test("a stack's event streams have the configured size limit", async () => {
  assert.ok(second);
  const metrics = await (await fetch(`${second.info.admin.checkout}/metrics`)).text();
  assert.match(metrics, /tollbooth_stream_bytes_max\{stream="[\w-]+-checkout"[^}]*\} 9663676416/);
});

test("refuses a second start on the same state in one line, and only the owner can read its file", async () => {
  assert.ok(first); // otherwise the start below would run forever
  const { code, lines } = await refusal({ ...env, PORT: String(await freePort()) });
  assert.equal([code, lines.length], [1, 1]);
  assert.match(lines[0] ?? "", "already running");
  assert.is(await modeOf(join(env.STATE_DIR ?? "", "stack.json")), 0o600);
});

test("a start prints the addresses and next steps: docs, demo shop, a payable link", async () => {
  assert.ok(first);
  const { command, info } = first;
  const output = command.output();
  const [, next = ""] = output.split("Tollbooth is ready");
  for (const address of [info.demo_shop, `${info.gateway}/docs`, info.api_key])
    assert.match(next, address ?? "no place");
  assert.match(next, "What to do next");
  const [link = ""] = /http\S+\/c\/cs_\w+#cs_secret_\S+/.exec(next) ?? [];
  const { pathname, hash } = new URL(link);
  const session = await apiClient(info.gateway).get(`/v1/checkout/${pathname.slice(3)}?secret=${hash.slice(1)}`);
  assert.equal([session.status, session.body.status], [200, "open"]);
  for (const url of [`${info.gateway}/docs`, info.demo_shop ?? ""]) assert.is(await statusOf(url), 200, url);
});

test("warnings of starting processes are in their logs, not on the terminal", async () => {
  assert.ok(second);
  const { command } = second;
  const [before = ""] = command.output().split("Tollbooth is ready");
  const lines = before.trim().split("\n");
  const unexpected = lines.filter((line) => !/^Tollbooth starts on |^ {2}\S.* \d+ ms$|^fetching /.test(line));
  assert.equal(unexpected, []);
  const log = await readFile(join(secondEnv.STATE_DIR ?? "", "logs/checkout.log"), "utf8");
  assert.match(log, complaint);
});

test("a killed process is restarted and logged, and stack.json has its new pid", async () => {
  assert.ok(second);
  const { command, info } = second;
  for (const component of ["checkout", "nats", "postgres"]) {
    process.kill(info.pids[component] ?? 0, "SIGKILL");
    await eventually(`${component} to be back`, () => command.output().includes(`${component} is back`), {
      limitMs: 30_000,
    });
    assert.match(command.output(), `${component} stopped (ended by SIGKILL)`);
    const pid = (await command.stack()).pids[component];
    assert.is.not(pid, info.pids[component]);
  }
  const isReady = async () => (await apiClient(info.gateway).get("/readyz")).status === 200;
  await eventually("the gateway to be ready", isReady, { limitMs: readyAgainMsMax });
  second = { command, info: await command.stack() };
});

test("Ctrl-C leaves no process of either stack", async () => {
  assert.ok(first && second);
  for (const { command } of [first, second]) command.process.kill("SIGINT");
  assert.equal(await Promise.all([first.command.ended, second.command.ended]), [0, 0]);
  await allGone(first.info.pids);
  await allGone(second.info.pids);
});

test("the next start keeps key and data, and kill -9 leaves no process", async () => {
  assert.ok(first);
  const { command, info } = await ready(start(kept()));
  assert.equal([info.merchant_id, info.api_key], [first.info.merchant_id, first.info.api_key]);
  const secret = encodeURIComponent(created.secret);
  const resolved = await apiClient(info.gateway).get(`/v1/checkout/${created.id}?secret=${secret}`);
  assert.equal([resolved.status, resolved.body.amount], [200, 700]);
  // Addresses of the first start are still valid.
  const addressNames = ["gateway", "processor", "demo_shop"] as const;
  assert.equal(
    addressNames.map((name) => info[name]),
    addressNames.map((name) => first?.info[name]),
  );
  for (const url of [created.link, created.form, receipt, info.demo_shop ?? ""])
    assert.is(await statusOf(url), 200, url);
  assert.is(resolved.text("render.frame_url"), created.form);
  process.kill(info.pids.supervisor ?? 0, "SIGKILL");
  await command.ended;
  await allGone(info.pids);
});

test("a start after kill -9 keeps the data, and ending npm ends its stack", async () => {
  const { command, info } = await ready(start(kept(), true));
  assert.is(info.merchant_id, first?.info.merchant_id);
  command.process.kill("SIGTERM");
  await command.ended;
  await allGone(info.pids);
});

test("a used port, a read-only state directory and invalid settings each end in one line", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = String(typeof address === "object" && address !== null ? address.port : 0);
  const file = join(await newDir(), "file");
  await writeFile(file, "");
  const STATE_DIR = await newDir();
  const cases = [
    { env: { STATE_DIR, PORT: port }, expected: [`port ${port} is in use`] },
    { env: { STATE_DIR: file }, expected: ["cannot write to the state directory"] },
    {
      env: { STATE_DIR, NATS_URL: "nats://127.0.0.1:1", PORT: "0" },
      expected: ["NATS_URL: no JetStream at 127.0.0.1:1"],
    },
    {
      env: { STATE_DIR, DATABASE_URL: "postgres://u:hidden@127.0.0.1:1/x", PORT: "0" },
      expected: ["DATABASE_URL: cannot"],
    },
    { env: { STATE_DIR, PORT: "http", NATS_URL: "localhost" }, expected: ["PORT must be", "NATS_URL must be"] },
  ];
  for (const { env, expected } of cases) {
    const { code, lines } = await refusal(env);
    const headlines = lines.filter((line) => !line.startsWith("  "));
    assert.is(code, 1);
    assert.is(headlines.length, expected.length, headlines.join("\n"));
    expected.forEach((text, at) => assert.match(headlines[at] ?? "", text));
    assert.not.match(lines.join("\n"), "hidden");
  }
  await new Promise((resolve) => server.close(resolve));
});

test.run();
