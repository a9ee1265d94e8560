// The confirm path: asks the processor what became of an intent and settles the payment by the answer. Phases: 1 read · 2 ask
// the processor · 3 settle in one transaction. A payment that this path has announced already is answered without asking.
import { crashPoint } from "#platform/crash-point.ts";
import type { Database } from "#platform/database.ts";
import { Failure } from "#platform/failure.ts";
import type { Log } from "#platform/log.ts";
import { moneyAlerts } from "#platform/metrics.ts";
import type { Outbox } from "#platform/outbox.ts";
import type { IntentReport } from "../connectors/connector.ts";
import type { Connectors } from "../connectors/registry.ts";
import type { Path } from "../rules/payment.ts";
import { findPayment, type StoredPayment } from "../store/payments.ts";
import { type Accounts, provenValue } from "./ask-processor.ts";
import { IntentMismatch, settlePayment } from "./settle-payment.ts";

export interface VerifyDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  /** When the reconcile job next asks about a payment that is not settled; seconds. */
  readonly patienceSeconds: number;
  readonly log: Log;
  readonly accounts: Accounts;
  readonly connectors: Connectors;
}

/** @throws Failure NOT_FOUND, CONNECTOR_ERROR (not verified, or the intent differs). */
export async function verifyIntent(deps: VerifyDeps, paymentId: string, path: Path): Promise<StoredPayment> {
  const payment = await findPayment(deps.db, paymentId);
  if (!payment) throw new Failure("NOT_FOUND");
  if (path === "confirm" && payment.state.outcome === "succeeded" && payment.state.announcedByConfirm) return payment;
  if (payment.connectorRef === "") return payment;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const answer = await deps.connectors.get(payment.connector).retrieveIntent(account, payment.connectorRef);
  crashPoint("verify-intent.2-asked");
  return await settleReport(deps, paymentId, provenValue(answer), path);
}

/** Settles by a report, in a transaction of its own. */
export async function settleReport(
  deps: Pick<VerifyDeps, "db" | "outbox" | "log" | "patienceSeconds">,
  paymentId: string,
  report: IntentReport,
  path: Path,
): Promise<StoredPayment> {
  try {
    const settled = await deps.db.transaction((tx) => settlePayment(tx, deps, paymentId, report, path));
    crashPoint("verify-intent.3-settled");
    deps.outbox.poke();
    // A webhook keeps its reasons with the event; an answer repeats whatever is known, so only news is worth a line.
    const ignored = settled.ignored.filter((reason) => !/: already (known|paid)$/.test(reason));
    if (ignored.length > 0) deps.log.info({ payment_id: paymentId, path, ignored }, "facts that moved nothing");
    return settled.payment;
  } catch (error) {
    if (error instanceof IntentMismatch) alertMismatch(deps.log, paymentId, error);
    throw error;
  }
}

/** The alert-level line of CONTRACT.md §4: money may have moved on an intent that is not ours. */
export function alertMismatch(log: Log, paymentId: string, error: IntentMismatch): void {
  moneyAlerts.inc({ kind: "intent_mismatch" });
  log.fatal({ alert: "intent_mismatch", payment_id: paymentId, err: error.cause }, "intent differs from payment");
}
