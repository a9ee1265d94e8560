import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import * as assert from "uvu/assert";
import { suite } from "../../../test/harness/suite.ts";
import { tempDir } from "../../../test/harness/temp-dir.ts";
import { freePort, reservePort, tryListen } from "../free-port.ts";
import { type ChosenPorts, keptPorts } from "./kept-ports.ts";

const test = suite("kept ports");
const nothing: ChosenPorts = {
  gateway: undefined,
  simulator: undefined,
  shop: undefined,
  console: undefined,
  operators: undefined,
  mailbox: undefined,
};
let dir = "";
const programs: Server[] = [];

test.beforeEach(async () => {
  dir = await tempDir("ports");
});
test.afterEach(async () => {
  for (const program of programs.splice(0)) program.close();
  await rm(dir, { recursive: true, force: true });
});

/** Listens on the port in this process, in place of another program. */
async function occupy(port: number): Promise<void> {
  const program = createServer().listen(port, "127.0.0.1");
  programs.push(program);
  await once(program, "listening");
}

/** The first of six consecutive free ports. */
async function freeRow(): Promise<number> {
  for (;;) {
    const first = await freePort();
    const others = [1, 2, 3, 4, 5].map((step) => tryListen(first + step, "127.0.0.1"));
    if (!(await Promise.all(others)).every((problem) => problem === undefined)) continue;
    // Keeps other tests from getting them as free ports.
    for (const step of [1, 2, 3, 4, 5]) reservePort(first + step);
    return first;
  }
}

async function refusal(chosen: ChosenPorts): Promise<string> {
  try {
    await keptPorts(dir, chosen);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("the ports were assigned");
}

test("the first start takes the gateway's neighbours and the next start takes the same ports", async () => {
  const gateway = await freeRow();
  const first = await keptPorts(dir, { ...nothing, gateway });
  const others = { console: gateway + 3, operators: gateway + 4, mailbox: gateway + 5 };
  assert.equal(first, { gateway, simulator: gateway + 1, shop: gateway + 2, ...others });
  assert.equal(await keptPorts(dir, nothing), first);
});

test("the first start skips a neighbour in use, and later starts keep its choice", async () => {
  const gateway = await freeRow();
  await occupy(gateway + 1);
  const first = await keptPorts(dir, { ...nothing, gateway });
  assert.is.not(first.simulator, gateway + 1);
  assert.is(first.shop, gateway + 2);
  for (const program of programs.splice(0)) program.close();
  assert.equal(await keptPorts(dir, nothing), first);
});

test("refuses to start when another program uses a kept port, and names the setting and the links", async () => {
  const { simulator, shop } = await keptPorts(dir, { ...nothing, gateway: await freeRow() });
  await occupy(simulator);
  await occupy(shop);
  const lines = (await refusal(nothing)).split("\n");
  assert.is(lines.length, 2);
  assert.match(lines[0] ?? "", `port ${simulator} is in use (lsof`);
  assert.match(lines[0] ?? "", "SIMULATOR_PORT; card forms and receipts made so far lead to");
  assert.match(lines[1] ?? "", "SHOP_PORT");
  const moved = await keptPorts(dir, { ...nothing, simulator: await freePort(), shop: await freePort() });
  assert.equal([moved.simulator === simulator, moved.shop === shop], [false, false]);
  assert.equal(await keptPorts(dir, nothing), moved);
});

test("with 0 the gateway keeps its port while it is free, and moves otherwise", async () => {
  const first = await keptPorts(dir, { ...nothing, gateway: 0 });
  assert.equal(await keptPorts(dir, { ...nothing, gateway: 0 }), first);
  await occupy(first.gateway);
  const moved = await keptPorts(dir, { ...nothing, gateway: 0 });
  assert.is.not(moved.gateway, first.gateway);
  assert.is(moved.simulator, first.simulator);
});

test("refuses one port for two parts, and never assigns a kept port as a free one", async () => {
  const port = await freePort();
  assert.match(await refusal({ ...nothing, gateway: port, simulator: port }), "both PORT and SIMULATOR_PORT");
  const kept = Object.values(await keptPorts(dir, { ...nothing, gateway: await freeRow() }));
  const free = await Promise.all(Array.from({ length: 64 }, () => freePort()));
  assert.equal(
    free.filter((each) => kept.includes(each)),
    [],
  );
});

test.run();
