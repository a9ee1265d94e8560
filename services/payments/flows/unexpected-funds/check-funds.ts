// Checks the intent of unexpected funds, whose reports can be reordered or lost. Phases, each safe to rerun: 1 ask the
// processor · 2 settle and schedule the next check, in one transaction.
import { type DueCheck, finishFundsCheck } from "../../store/suspense.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { logSettlement } from "../record-findings.ts";
import { settlePayment } from "../settle-payment.ts";
import type { VerifyDeps } from "../verify-intent.ts";

/** @throws Failure CONNECTOR_ERROR: no answer, nothing was changed. */
export async function checkFunds(deps: VerifyDeps, check: DueCheck): Promise<void> {
  const { kind, connector, connectorAccountId, connectorRef, paymentId } = check.funds;
  const account = await deps.accounts.byId(connectorAccountId);
  const answer = await deps.connectors.get(connector).retrieveIntent(account, connectorRef);
  const isStillLost = kind === "lost_intent" && answer.kind === "not_found";
  const report = isStillLost ? undefined : provenValue(answer);
  const settled = await deps.db.transaction(async (tx) => {
    const done = report && (await settlePayment(tx, deps, paymentId, report, "reconcile"));
    await finishFundsCheck(tx, check);
    return done;
  });
  deps.outbox.wake();
  // The mismatch was logged when the row was opened.
  if (settled) logSettlement(deps, { ...settled, mismatch: undefined });
}
