// Short restore drills on a whole stack: on copies, with and without its broker, and on a standby that lacks commits.
// `npm run prove -- restore` makes long ones.
import assert from "node:assert/strict";
import { restoreDrill } from "../chaos/restore-drill.ts";
import { type RestoreRig, startRestoreRig, startStandbyRig } from "../chaos/restore-rig.ts";
import { missingPrometheus } from "../harness/prometheus.ts";
import { suite } from "../harness/suite.ts";

const test = suite("restore", { timeoutMs: 400_000 });
const seed = Math.floor(Math.random() * 1_000_000);
let rig: RestoreRig | undefined;

test.afterEach(async () => {
  await rig?.stop();
  rig = undefined;
});

const drills = [
  { what: "a copy, with what the broker has", start: startRestoreRig, withoutBroker: false },
  { what: "a copy, with an empty broker", start: startRestoreRig, withoutBroker: true },
  { what: "a standby that lacks the last commits, under services that run on", start: startStandbyRig },
];
for (const { what, start, withoutBroker = false } of drills) {
  test(`a stack on ${what}, has in the end what its processor has, and a merchant's repeats make nothing (seed ${seed})`, async () => {
    rig = await start();
    const say = () => {};
    const report = await restoreDrill(rig, { seed, orders: 6, buyers: 2, kills: 1, withoutBroker, say });
    assert.deepEqual(report.differences, []);
    assert.ok(report.lost > 0, "paid orders were lost");
    assert.equal(report.rang, missingPrometheus === undefined ? true : undefined);
  });
}

test.run();
