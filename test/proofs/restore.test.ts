// A short restore drill on a whole stack whose broker is lost as well. `npm run prove -- restore` makes long ones, also
// with what the broker has.
import assert from "node:assert/strict";
import { restoreDrill } from "../chaos/restore-drill.ts";
import { type RestoreRig, startRestoreRig } from "../chaos/restore-rig.ts";
import { missingPrometheus } from "../harness/servers/prometheus.ts";
import { suite } from "../harness/suite.ts";

const test = suite("restore", { timeoutMs: 400_000 });
const seed = Math.floor(Math.random() * 1_000_000);
let rig: RestoreRig;

test.before(async () => {
  rig = await startRestoreRig();
});
test.after(() => rig?.stop());

test(`a stack on a backup, with an empty broker, has in the end what its processor has, and a merchant's repeats make nothing (seed ${seed})`, async () => {
  const log = () => {};
  const report = await restoreDrill(rig, { seed, orders: 6, buyers: 2, kills: 1, withoutBroker: true, log });
  assert.deepEqual(report.differences, []);
  assert.ok(report.lost > 0, "paid orders were lost");
  assert.equal(report.rang, missingPrometheus === undefined ? true : undefined);
});

test.run();
