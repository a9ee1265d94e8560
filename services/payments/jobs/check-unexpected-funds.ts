// Checks the intents of unexpected funds at their processors. A check without an answer is repeated later.
import type { JobContext } from "#platform/process/job.ts";
import { checkFunds } from "../flows/unexpected-funds/check-funds.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import { claimFundsChecks } from "../store/suspense.ts";

// The checks run concurrently, because the lease of each begins with the claim.
const batchMax = 5;

/** Checks rows that are due. @returns true: there may be more */
export async function checkUnexpectedFunds(deps: VerifyDeps): Promise<boolean> {
  const checks = await claimFundsChecks(deps.db, batchMax);
  await Promise.all(
    checks.map(async (check) => {
      try {
        await checkFunds(deps, check);
      } catch (error) {
        deps.log.warn({ err: error, id: check.funds.id }, "unexpected funds not checked; retrying");
      }
    }),
  );
  return checks.length === batchMax;
}

export function checkUnexpectedFundsJob(deps: VerifyDeps): JobContext {
  return { name: "check-unexpected-funds", everyMs: 5_000, runOnce: () => checkUnexpectedFunds(deps) };
}
