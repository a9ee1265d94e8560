// PostgreSQL's machine vanishes under a whole stack: packets of open connections are dropped silently, and new
// connections to the same address work at once. `npm run prove -- vanish` does the same to every route in turn, and
// measures the recovery.
import assert from "node:assert/strict";
import { startBuyers } from "../chaos/vanish-buyers.ts";
import { startVanishRig } from "../chaos/vanish-rig.ts";
import { checkAfterwards, runVanishStep, stepOf } from "../chaos/vanish-steps.ts";
import { suite } from "../harness/suite.ts";

const test = suite("vanish", { timeoutMs: 240_000 });

test("after the loss of PostgreSQL's machine all buyers buy again, all paid orders are delivered, and no process restarts", async () => {
  const rig = await startVanishRig();
  const buyers = await startBuyers(rig, 2);
  try {
    const step = stepOf("postgres");
    const recovery = await runVanishStep(rig, buyers, step);
    for (const service of ["checkout", "payments", "merchant", "webhook"])
      assert.ok(recovery.connections.get(service), `${service} had a connection that vanished`);
    const { wrong, delivered } = await checkAfterwards(rig, buyers);
    assert.deepEqual(wrong, []);
    assert.ok(delivered > 0);
  } finally {
    await buyers.close();
    await rig.stop();
  }
});

test.run();
