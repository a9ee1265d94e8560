// Every night-like day the statement of each account is compared with our books, a day at a time, behind the present by
// as much as things need to settle. An account whose statement could not be read goes on where it stood an hour later.

import type { JobContext } from "#platform/process/job.ts";
import { clockMs } from "#platform/values/clock.ts";
import { hasStatement, matchStatement } from "../flows/match-statement.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import { claimMatch, countOpenDifferences, finishMatch, takeUpAccounts } from "../store/processor/statements.ts";

const everyMs = 60_000;
const dayMs = 86_400_000;
// Whatever is under way has come to us by webhook or by our own question after this.
const lagMs = 3_600_000;
const retrySeconds = 3_600;
// A day of a large account is some thousands of pages; a process that died in it is stood in for after this.
const leaseSeconds = 7_200;

/** One day of one account. @returns true when there may be more. */
export async function matchNextStatement(deps: VerifyDeps): Promise<boolean> {
  await takeUpAccounts(deps.db);
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
    deps.log.warn({ err: error, connector_account_id: accountId }, "a statement could not be matched; trying again");
    await finishMatch(deps.db, accountId, { matchedUntil, pauseSeconds: retrySeconds, error: String(error) });
  }
  return true;
}

export function matchStatementsJob(deps: VerifyDeps): JobContext {
  return { name: "match-statements", everyMs, limitMs: leaseSeconds * 1_000, runOnce: () => matchNextStatement(deps) };
}
