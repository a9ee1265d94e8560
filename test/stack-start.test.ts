import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { freePort } from "../deploy/local/free-port.ts";
import { api, merchantApi } from "./harness/api.ts";
import { modeOf } from "./harness/start-command.ts";
import { allGone, startCommands } from "./harness/start-commands.ts";
import { suite } from "./harness/suite.ts";

const test = suite("npm start", { timeoutMs: 200_000 });
const { newDir, settings, start, clear } = startCommands();

test.after(clear);

/** What a start says that cannot succeed. */
async function refusal(env: Record<string, string>): Promise<{ code: number | null; lines: string[] }> {
  const command = start(env);
  const code = await command.ended;
  const lines = command.output().trim().split("\n");
  return { code, lines: lines.filter((line) => !line.startsWith("Tollbooth starts on")) };
}

test("two stacks run side by side, and Ctrl-C leaves no process of either", async () => {
  const [first, second] = [start(await settings()), start(await settings())];
  const stacks = [await first.ready(), await second.ready()];
  for (const stack of stacks) {
    assert.is((await api(stack.gateway).get("/readyz")).status, 200);
    const session = await merchantApi(stack.gateway, stack.api_key).post("/v1/checkout-sessions", {
      amount: 1050,
      currency: "USD",
    });
    assert.is(session.status, 201);
  }
  const [one, other] = stacks;
  const foreign = await merchantApi(one?.gateway ?? "", other?.api_key ?? "").get("/v1/payments");
  assert.is(foreign.status, 401);
  for (const command of [first, second]) command.process.kill("SIGINT");
  assert.equal(await Promise.all([first.ended, second.ended]), [0, 0]);
  for (const stack of stacks) await allGone(stack.pids);
});

test("a start on the same state is refused in one line while it is in use, and then carries on with key and data", async () => {
  const env = await settings();
  const first = start(env);
  const before = await first.ready();
  assert.is(await modeOf(join(env.STATE_DIR ?? "", "stack.json")), 0o600);
  const created = await merchantApi(before.gateway, before.api_key).post("/v1/checkout-sessions", {
    amount: 700,
    currency: "EUR",
  });
  const { code, lines } = await refusal({ ...env, PORT: String(await freePort()) });
  assert.equal([code, lines.length], [1, 1]);
  assert.match(lines[0] ?? "", "already running");
  first.process.kill("SIGINT");
  assert.is(await first.ended, 0);
  const second = start(env);
  const after = await second.ready();
  assert.equal([after.merchant_id, after.api_key], [before.merchant_id, before.api_key]);
  const secret = encodeURIComponent(created.text("session_secret"));
  const resolved = await api(after.gateway).get(`/v1/checkout/${created.text("id")}?secret=${secret}`);
  assert.equal([resolved.status, resolved.body.amount], [200, 700]);
  second.process.kill("SIGINT");
  await second.ended;
});

test("a port in use, a state directory that cannot be written and wrong settings end in one clear line each", async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = String(typeof address === "object" && address !== null ? address.port : 0);
  const file = join(await newDir(), "file");
  await writeFile(file, "");
  const STATE_DIR = await newDir();
  const cases = [
    { env: { STATE_DIR, PORT: port }, says: [`port ${port} is in use`] },
    { env: { STATE_DIR: file }, says: ["cannot write to the state directory"] },
    { env: { STATE_DIR, NATS_URL: "nats://127.0.0.1:1", PORT: "0" }, says: ["NATS_URL: no JetStream at 127.0.0.1:1"] },
    {
      env: { STATE_DIR, DATABASE_URL: "postgres://u:hidden@127.0.0.1:1/x", PORT: "0" },
      says: ["DATABASE_URL: cannot"],
    },
    { env: { STATE_DIR, PORT: "http", NATS_URL: "localhost" }, says: ["PORT must be", "NATS_URL must be"] },
  ];
  for (const { env, says } of cases) {
    const { code, lines } = await refusal(env);
    const told = lines.filter((line) => !line.startsWith("  "));
    assert.is(code, 1);
    assert.is(told.length, says.length, told.join("\n"));
    says.forEach((text, at) => assert.match(told[at] ?? "", text));
    assert.not.match(lines.join("\n"), "hidden");
  }
  await new Promise((resolve) => server.close(resolve));
});

test.run();
