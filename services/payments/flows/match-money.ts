// Matches our postings, the processor's movements and its payouts once an hour. Phases: 1 claim the check · 2 read the
// processor's balance · 3 compare it with the movements · 4 compare payments, movements and payouts · 5 store the
// differences, each with a money alert. Nothing is corrected here.
import type { BalanceReader } from "../connectors/balance-reader.ts";
import type { ProcessorAccount } from "../connectors/connector.ts";
import { balanceGaps } from "../rules/balance.ts";
import type { Difference } from "../rules/statement.ts";
import { moneyDifferences } from "../store/processor/money-match.ts";
import { claimBalanceCheck, saveBalanceGaps } from "../store/processor/movement-cursors.ts";
import { movedSums } from "../store/processor/movements.ts";
import { resolveMoneyDifferences } from "../store/processor/statements.ts";
import { provenValue } from "./accounts/ask-processor.ts";
import { keepDifferences } from "./match-statement.ts";
import type { VerifyDeps } from "./verify-intent.ts";

const everySeconds = 3_600;
// After a day both sides have a movement.
const defaults = { lagSeconds: 86_400 };

/** @throws Failure CONNECTOR_ERROR: the balance could not be read; the check is due again in an hour. */
export async function matchMoney(
  deps: Pick<VerifyDeps, "db" | "log" | "metrics">,
  reader: BalanceReader,
  account: ProcessorAccount,
  { lagSeconds } = defaults,
): Promise<void> {
  const due = await claimBalanceCheck(deps.db, account.id, everySeconds);
  if (!due) return;
  const reported = provenValue(await reader.readBalance(account));
  const moved = await movedSums(deps.db, account.id);
  const gaps = balanceGaps(reported, moved);
  await saveBalanceGaps(deps.db, account.id, Object.fromEntries([...gaps].map(([name, gap]) => [name, String(gap)])));
  // Money may move between the two reads: a gap counts when the check before had the same.
  const lasting = [...gaps].filter(([currency, gap]) => due.gaps[currency] === String(gap));
  const ofBalance = lasting.map(([currency, gap]): Difference => {
    const ours = moved.get(currency) ?? 0n;
    const same = { object: "balance", ref: currency, kind: "balance", paymentId: "" } as const;
    return { ...same, ours: `${ours} ${currency}`, theirs: `${ours + gap} ${currency}` };
  });
  const period = { sinceSeconds: due.sinceSeconds + lagSeconds, untilSeconds: lagSeconds };
  const found = [...ofBalance, ...(await moneyDifferences(deps.db, account, period))];
  await resolveMoneyDifferences(deps.db, account.id, found);
  await keepDifferences(deps, account, found);
}
