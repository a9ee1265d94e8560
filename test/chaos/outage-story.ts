// An account of the simulator that fails with every call for a while, so that its circuit opens and, where the merchant
// allows it, new sessions go to the other account.
import { tryOnce } from "./persistent-client.ts";
import type { Random } from "./random.ts";
import type { Run } from "./story.ts";

export const outageFault = "processor outage";
/** More than half of a circuit's window, so that it opens; few enough for its probes to use up soon. */
const callsFailed = { min: 10, max: 13 };

/** At a merchant that has another account to go to. */
export async function playOutage({ rig, drawn }: Run, random: Random): Promise<void> {
  const simulator = rig.shops.find((shop) => shop.simulator && shop.stripe)?.simulator;
  if (!simulator || !drawn.may(outageFault)) return;
  const { account, api } = simulator;
  const count = random.int(callsFailed.min, callsFailed.max);
  const set = await tryOnce(() => api.put("/test/faults", { target: "api.*", kind: "edge_error", account, count }));
  if (set?.status === 201) drawn.count(outageFault);
}
