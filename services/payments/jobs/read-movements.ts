// Reads each account's movements and payouts every few minutes and, once an hour, compares the balance with the
// processor's. After a failed read the account continues a little later.
import type { JobContext } from "#platform/process/job.ts";
import { matchMoney } from "../flows/match-money.ts";
import { readMovements } from "../flows/read-movements.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import { addMovementCursors, claimMovements, finishMovements } from "../store/processor/movement-cursors.ts";

export interface MovementDeps extends VerifyDeps {
  /** Pause between two reads of an account. */
  readonly eventPollSeconds: number;
}

const everyMs = 1_000;
// The first read of a large account takes long. After this another process takes over.
const leaseSeconds = 3_600;
const retrySeconds = 60;
// A later release may read accounts of this connector.
const withoutListSeconds = 3_600;

/** Reads one account that is due. @returns true: there may be more */
export async function readNextAccount(deps: MovementDeps): Promise<boolean> {
  await addMovementCursors(deps.db);
  const cursor = await claimMovements(deps.db, leaseSeconds);
  if (!cursor) return false;
  const { accountId } = cursor;
  try {
    const account = await deps.accounts.byId(accountId);
    const reader = deps.connectors.find(account.connector)?.balance;
    if (!reader) {
      await finishMovements(deps.db, cursor, { pauseSeconds: withoutListSeconds, error: "" });
      return true;
    }
    const done = await readMovements(deps, reader, account, cursor);
    await matchMoney(deps, reader, account);
    await finishMovements(deps.db, done, { pauseSeconds: deps.eventPollSeconds, error: "" });
  } catch (error) {
    deps.log.warn({ err: error, connector_account_id: accountId }, "movements not read; retrying");
    await finishMovements(deps.db, cursor, { pauseSeconds: retrySeconds, error: String(error) });
  }
  return true;
}

export function readMovementsJob(deps: MovementDeps): JobContext {
  return { name: "read-movements", everyMs, limitMs: leaseSeconds * 1_000, runOnce: () => readNextAccount(deps) };
}
