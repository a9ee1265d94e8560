// Looks at the intent of an item that is set aside, or was: reports about it overtake each other, and some never come.
// Phases, each safe to run again: 1 ask the processor · 2 settle, and say when to look again, in one transaction.

import { type DueLook, finishLook } from "../../store/suspense.ts";
import { provenValue } from "../accounts/ask-processor.ts";
import { settlePayment } from "../settle-payment.ts";
import { tellSettled, type VerifyDeps } from "../verify-intent.ts";

/** @throws Failure CONNECTOR_ERROR: no answer; nothing has changed. */
export async function lookAtItem(deps: VerifyDeps, look: DueLook): Promise<void> {
  const { kind, connector, connectorAccountId, connectorRef, paymentId } = look.item;
  const account = await deps.accounts.byId(connectorAccountId);
  const answer = await deps.connectors.get(connector).retrieveIntent(account, connectorRef);
  const isStillLost = kind === "lost_intent" && answer.kind === "not_found";
  const report = isStillLost ? undefined : provenValue(answer);
  const settled = await deps.db.transaction(async (tx) => {
    const told = report && (await settlePayment(tx, deps, paymentId, report, "reconcile"));
    await finishLook(tx, look);
    return told;
  });
  deps.outbox.wake();
  // That the intent differs is why it stands on the list; whoever put it there has told.
  if (settled) tellSettled(deps.log, { ...settled, mismatch: undefined });
}
