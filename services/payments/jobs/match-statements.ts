// Compares each account's statement with the books once a day, a day at a time, up to an hour before the present. After
// a failed read the account continues at the same position an hour later.
import type { JobContext } from "#platform/process/job.ts";
import { clockMs } from "#platform/values/clock.ts";
import { hasStatement, matchStatement } from "../flows/match-statement.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import { addNewAccounts, claimMatch, countOpenDifferences, finishMatch } from "../store/processor/statements.ts";

const everyMs = 60_000;
const dayMs = 86_400_000;
// Reports of what is in progress have arrived by webhook or by our own question after this.
const lagMs = 3_600_000;
const retrySeconds = 3_600;
// A day of a large account is some thousands of pages. After this another process takes over.
const leaseSeconds = 7_200;

/** Matches one day of one account. @returns true: there may be more */
export async function matchNextStatement(deps: VerifyDeps): Promise<boolean> {
  await addNewAccounts(deps.db);
  const claimed = await claimMatch(deps.db, leaseSeconds);
  deps.metrics.openDifferences.set(await countOpenDifferences(deps.db));
  if (!claimed) return false;
  const { accountId, matchedUntil } = claimed;
  try {
    const account = await deps.accounts.byId(accountId);
    const to = new Date(Math.min(matchedUntil.getTime() + dayMs, clockMs() - lagMs));
    const connector = deps.connectors.find(account.connector);
    const fits = connector !== undefined && hasStatement(connector) && to > matchedUntil;
    if (fits) await matchStatement(deps, account, { from: matchedUntil, to });
    const caughtUp = to.getTime() < matchedUntil.getTime() + dayMs;
    await finishMatch(deps.db, accountId, {
      matchedUntil: fits ? to : matchedUntil,
      pauseSeconds: caughtUp || !fits ? dayMs / 1_000 : 0,
      error: "",
    });
  } catch (error) {
    deps.log.warn({ err: error, connector_account_id: accountId }, "statement match failed; retrying");
    await finishMatch(deps.db, accountId, { matchedUntil, pauseSeconds: retrySeconds, error: String(error) });
  }
  return true;
}

export function matchStatementsJob(deps: VerifyDeps): JobContext {
  return { name: "match-statements", everyMs, limitMs: leaseSeconds * 1_000, runOnce: () => matchNextStatement(deps) };
}
