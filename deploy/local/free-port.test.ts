// Two stacks that start at the same moment never choose the same port.
import { Worker } from "node:worker_threads";
import * as assert from "uvu/assert";
import { suite } from "../../test/harness/suite.ts";

const test = suite("free ports");
const askers = 16;
const portsEach = 40; // more than a block; 640 random ports of 22,528 would all differ once in 9,000 tries

/** Requests ports like a separate process: a thread has its own copy of the module. */
const asker = `
  const { parentPort, workerData } = require("node:worker_threads");
  import(workerData.url).then(async ({ freePort }) => {
    const ports = [];
    while (ports.length < workerData.count) ports.push(await freePort());
    parentPort.postMessage(ports);
    parentPort.on("message", () => {}); // lives until terminated, as a stack does
  });
`;

test("no two processes get the same port when many ask at the same time", async () => {
  const workerData = { url: new URL("free-port.ts", import.meta.url).href, count: portsEach };
  const workers = Array.from({ length: askers }, () => new Worker(asker, { eval: true, workerData }));
  const answer = (worker: Worker) =>
    new Promise<number[]>((resolve, reject) => worker.once("message", resolve).once("error", reject));
  const ports = (await Promise.all(workers.map(answer))).flat();
  await Promise.all(workers.map((worker) => worker.terminate()));
  assert.is(ports.length, askers * portsEach);
  assert.is(new Set(ports).size, ports.length);
});

test.run();
