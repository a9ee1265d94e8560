// Short restore drills on whole stacks: one whose broker is lost as well, and one that the scripts of a small
// installation back up under traffic. `npm run prove -- restore` makes long ones, also with what the broker has.
import assert from "node:assert/strict";
import { restoreDrill } from "../chaos/restore-drill.ts";
import { type RestoreRig, startBackupRig, startRestoreRig } from "../chaos/restore-rig.ts";
import { missingPrometheus } from "../harness/servers/prometheus.ts";
import { missingPostgres } from "../harness/servers/volume-backup.ts";
import { suite } from "../harness/suite.ts";

const test = suite("restore", { timeoutMs: 400_000 });
const seed = Math.floor(Math.random() * 1_000_000);
const rang = missingPrometheus === undefined ? true : undefined;
const log = () => {};

async function onRig(start: () => Promise<RestoreRig>, work: (rig: RestoreRig) => Promise<void>): Promise<void> {
  const rig = await start();
  try {
    await work(rig);
  } finally {
    await rig.stop();
  }
}

test(`a stack on a backup, with an empty broker, has in the end what its processor has, and a merchant's repeats make nothing (seed ${seed})`, () =>
  onRig(startRestoreRig, async (rig) => {
    const report = await restoreDrill(rig, { seed, orders: 6, buyers: 2, kills: 1, withoutBroker: true, log });
    assert.deepEqual(report.differences, []);
    assert.ok(report.lost > 0, "paid orders were lost");
    assert.equal(report.rang, rang);
  }));

const fromBackup = `a small installation's backup, made under traffic and restored into an empty server, ends with books that agree (seed ${seed})`;
if (missingPostgres !== undefined) test.skip(fromBackup, missingPostgres);
else {
  test(fromBackup, () =>
    onRig(startBackupRig, async (rig) => {
      const report = await restoreDrill(rig, { seed, orders: 12, buyers: 2, kills: 1, withoutBroker: false, log });
      assert.deepEqual(report.differences, []);
      assert.ok(report.lost > 0, "paid orders were lost");
      assert.equal(report.rang, rang);
    }),
  );
}

test.run();
