// An account of the simulator that fails with every call for a while, so that its circuit opens and, where the merchant
// allows it, new sessions go to the other account.
import type { Drivers } from "./drawn.ts";
import { once } from "./persistent-client.ts";
import type { Random } from "./random.ts";
import type { Shop } from "./shop.ts";
import type { Run } from "./story.ts";

/** More than half of a circuit's window, so that it opens; few enough for its probes to use up soon. */
const callsFailed = { min: 10, max: 13 };

type Driver = (run: Run, shop: Shop, random: Random) => Promise<boolean>;

export const outageFaults: Drivers<"processor outage", Driver> = {
  "processor outage": async (_run, { simulator }, random) => {
    if (!simulator) return false;
    const { account, api } = simulator;
    const count = random.int(callsFailed.min, callsFailed.max);
    const set = await once(() => api.put("/test/faults", { target: "api.*", kind: "edge_error", account, count }));
    return set?.status === 201;
  },
};

/** At a merchant that has another account to go to. */
export async function playOutage(run: Run, random: Random): Promise<void> {
  const name = "processor outage";
  const shop = run.rig.shops.find(({ simulator, stripe }) => simulator && stripe);
  if (!shop || !run.drawn.may(name)) return;
  if (await outageFaults[name](run, shop, random)) run.drawn.count(name);
}
