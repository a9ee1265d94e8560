// Asks again about intents that are set aside, or were: nobody else does. A processor that does not answer is asked
// later, for as long as it takes.
import type { JobContext } from "#platform/jobs/job.ts";
import { lookAtItem } from "../flows/suspense/look-at-item.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import { claimLooks } from "../store/suspense.ts";

// All at once: the lease of each begins with its claim.
const batchMax = 5;

/** Items that are due for a look. @returns true when there may be more. */
export async function lookAtSuspense(deps: VerifyDeps): Promise<boolean> {
  const looks = await claimLooks(deps.db, batchMax);
  await Promise.all(
    looks.map(async (look) => {
      try {
        await lookAtItem(deps, look);
      } catch (error) {
        deps.log.warn({ err: error, id: look.item.id }, "what is set aside could not be looked at; trying again");
      }
    }),
  );
  return looks.length === batchMax;
}

export function lookAtSuspenseJob(deps: VerifyDeps): JobContext {
  return { name: "look-at-suspense", everyMs: 5_000, runOnce: () => lookAtSuspense(deps) };
}
