// kill -9 of each process under the main job, at every step at once: nothing is lost or doubled once it is back.
import { suite } from "../harness/suite.ts";
import { KillRig } from "./kill-rig.ts";

const test = suite("kill -9", { timeoutMs: 240_000 });
let rig: KillRig;

test.before(async () => {
  rig = await KillRig.start("separate");
});
test.after(() => rig.stop());

for (const name of ["checkout", "payments", "merchant", "webhook", "gateway", "simulator"]) {
  test(`${name} killed at every step of the main job loses and doubles nothing`, () => rig.killAtEveryStep(name));
}

test.run();
