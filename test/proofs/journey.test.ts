// One payment through a one-process stack with a kill -9 at every step: session, payment, confirm, webhook, refund.
import { suite } from "../harness/suite.ts";
import { KillRig } from "./kill-rig.ts";

const test = suite("money journey", { timeoutMs: 240_000 });
let rig: KillRig;

test.before(async () => {
  rig = await KillRig.start("one");
});
test.after(() => rig.stop());

test("one process of all parts killed at every step of the main job loses and doubles nothing", () =>
  rig.killAtEveryStep("one"));

test.run();
