// A short walk over everything that can happen to payments, with a misbehaving processor: `npm run prove -- walk` makes
// long ones.
import assert from "node:assert/strict";
import { runWalk, startWalkRig } from "../chaos/walk.ts";
import type { WideRig } from "../chaos/wide-rig.ts";
import { suite } from "../harness/suite.ts";

const test = suite("walk over payments", { timeoutMs: 145_000 });
const operations = 150;
let rig: WideRig;

test.before(async () => {
  rig = await startWalkRig(operations);
});
test.after(() => rig.stop());

test(`${operations} operations, another way each time: the processor, our books, the events and the clients agree`, async () => {
  const seed = Math.floor(Math.random() * 1_000_000);
  const report = await runWalk(rig, { operations, seed, log: () => {} });
  const again = `npm run prove -- walk --operations ${operations} --seed ${seed}`;
  assert.deepEqual(report.differences, [], `again: ${again}`);
  assert.ok(report.operations >= operations && report.payments > 0 && report.faults > 0);
});

test.run();
