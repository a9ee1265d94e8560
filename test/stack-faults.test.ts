import * as assert from "uvu/assert";
import { api } from "./harness/api.ts";
import { eventually } from "./harness/eventually.ts";
import { allGone, startCommands } from "./harness/start-commands.ts";
import { suite } from "./harness/suite.ts";

const test = suite("npm start, disturbed", { timeoutMs: 200_000 });
/** A service that loses the broker during its first connection gives that connection 20 s before it tries again. */
const readyAgainMsMax = 40_000;
const { settings, start, clear } = startCommands();

test.after(clear);

test("a part that is killed comes back, is said so, and stack.json has its new pid", async () => {
  const command = start(await settings());
  const before = await command.ready();
  for (const part of ["checkout", "nats", "postgres"]) {
    process.kill(before.pids[part] ?? 0, "SIGKILL");
    await eventually(`${part} to be back`, () => command.output().includes(`${part} is back`), { limitMs: 30_000 });
    assert.match(command.output(), `${part} stopped (ended by SIGKILL)`);
    const pid = (await command.stack()).pids[part];
    assert.is.not(pid, before.pids[part]);
  }
  const isReady = async () => (await api(before.gateway).get("/readyz")).status === 200;
  await eventually("the gateway to be ready", isReady, { limitMs: readyAgainMsMax });
  command.process.kill("SIGINT");
  await command.ended;
});

test("ending npm itself ends the stack that it started", async () => {
  const command = start(await settings(), true);
  const { pids } = await command.ready();
  command.process.kill("SIGTERM");
  await command.ended;
  await allGone(pids);
});

test("a supervisor killed with kill -9 leaves no process, and the next start carries on", async () => {
  const env = await settings();
  const first = start(env);
  const before = await first.ready();
  process.kill(before.pids.supervisor ?? 0, "SIGKILL");
  await first.ended;
  await allGone(before.pids);
  const second = start(env);
  assert.is((await second.ready()).merchant_id, before.merchant_id);
  second.process.kill("SIGINT");
  await second.ended;
});

test.run();
