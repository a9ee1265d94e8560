// The machine of PostgreSQL vanishes under a whole stack: packets of every connection that is open are dropped without
// a word, and new connections to the same address work at once. `npm run prove -- vanish` does so to every way in turn,
// and measures how long each takes.
import assert from "node:assert/strict";
import { startBuyers } from "../chaos/vanish-buyers.ts";
import { startVanishRig } from "../chaos/vanish-rig.ts";
import { checkAfterwards, stepOf, vanish } from "../chaos/vanish-steps.ts";
import { suite } from "../harness/suite.ts";

const test = suite("vanish", { timeoutMs: 240_000 });

test("when PostgreSQL's machine vanishes every buyer buys again, every paid order is told, and no process is started again", async () => {
  const rig = await startVanishRig();
  const buyers = await startBuyers(rig, 2);
  try {
    const step = stepOf("postgres");
    const recovery = await vanish(rig, buyers, step);
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
