// A short chaos run: processes and servers are killed, frozen and cut off under persistent clients. `npm run chaos` makes long ones.
import assert from "node:assert/strict";
import { chaos } from "../chaos/chaos.ts";
import { type ChaosRig, startChaosRig } from "../chaos/chaos-rig.ts";
import { suite } from "../harness/suite.ts";

const test = suite("chaos", { timeoutMs: 280_000 });
const seconds = 7;
let rig: ChaosRig;

test.before(async () => {
  rig = await startChaosRig();
});
test.after(() => rig.stop());

test("after kills, freezes and cuts everywhere, every outcome that a client saw stands in all the books", async () => {
  const seed = Math.floor(Math.random() * 1_000_000);
  const report = await chaos(rig, { seconds, seed, clients: 4, say: () => {} });
  const again = `again: npm run chaos -- --minutes ${(seconds / 60).toFixed(3)} --seed ${seed}`;
  assert.deepEqual(report.differences, [], again);
  assert.ok(report.operations > 0 && report.disturbances.size > 0, again);
});

test.run();
