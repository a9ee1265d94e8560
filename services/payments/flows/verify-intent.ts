// The confirm path: asks the processor about an intent and settles the payment by the answer. Phases: 1 read · 2 ask
// the processor · 3 settle in one transaction. A payment that this path has already announced is returned without
// asking. An intent that the processor has lost is listed for an operator, and ends once its absence is proved.
import type { Database } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import type { Connector, IntentReport } from "../connectors/connector.ts";
import type { Connectors } from "../connectors/registry.ts";
import type { PaymentsMetrics } from "../metrics.ts";
import type { Path } from "../rules/payment.ts";
import { findPayment, lockPayment, recordNotFound, type StoredPayment } from "../store/payments.ts";
import { closeFunds, fundsAbout } from "../store/suspense.ts";
import { type Accounts, provenValue } from "./accounts/ask-processor.ts";
import { ListedIntentError, logSettlement, mismatchError } from "./record-findings.ts";
import type { ArchiveDeps } from "./restore-archived.ts";
import { lockBooks, type SettlementResult, settleNeverMade, settlePayment } from "./settle-payment.ts";
import { recordLostIntent } from "./unexpected-funds/record-funds.ts";

export interface VerifyDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  /** Delay of the reconcile job's next check of a payment that is not settled, seconds. */
  readonly reconcileAfterSeconds: number;
  readonly log: Log;
  readonly accounts: Accounts;
  readonly connectors: Connectors;
  readonly metrics: PaymentsMetrics;
  readonly archive: ArchiveDeps["archive"];
}

/**
 * @param redirectResult of the buyer's return from a bank's page; empty: none
 * @param byMerchant the merchant ends the session: an intent that the processor lost ends as soon as it is listed
 * @throws Failure NOT_FOUND, CONNECTOR_ERROR (not verified, or the intent differs).
 */
export async function verifyIntent(
  deps: VerifyDeps,
  paymentId: string,
  path: Path,
  byMerchant = false,
  redirectResult = "",
): Promise<StoredPayment> {
  const payment = requireFound(await findPayment(deps.db, paymentId));
  if (path === "confirm" && payment.state.outcome === "succeeded" && payment.state.announcedByConfirm) return payment;
  if (payment.connectorRef === "") return payment;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const { connectorRef: ref } = payment;
  const finished = redirectResult === "" ? undefined : await connector.finishRedirect?.(account, ref, redirectResult);
  const answer = finished ?? (await connector.retrieveIntent(account, ref));
  crashPoint("verify-intent.2-asked");
  if (answer.kind !== "not_found") {
    return await settleReport(deps, paymentId, provenValue(answer), path, payment.version);
  }
  return await missIntent(deps, connector, payment, answer.at, byMerchant);
}

/**
 * Settles a report in a transaction of its own. @param versionSeen the payment's version before the processor was asked
 * @throws Failure CONNECTOR_ERROR (the intent differs and is listed).
 */
export async function settleReport(
  deps: Pick<VerifyDeps, "db" | "outbox" | "log" | "metrics" | "reconcileAfterSeconds">,
  paymentId: string,
  report: IntentReport,
  path: Path,
  versionSeen?: number,
): Promise<StoredPayment> {
  const settled = await deps.db.transaction((tx) => settlePayment(tx, deps, paymentId, report, path, versionSeen));
  crashPoint("verify-intent.3-settled");
  return finishSettlement(deps, settled, path);
}

/** Publishes and logs a committed settlement. @throws Failure CONNECTOR_ERROR (the intent differs). */
export function finishSettlement(
  deps: Pick<VerifyDeps, "outbox" | "log" | "metrics">,
  settled: SettlementResult,
  path: Path,
): StoredPayment {
  deps.outbox.wake();
  logSettlement(deps, settled);
  if (settled.mismatch !== undefined) {
    throw new Failure("CONNECTOR_ERROR", { cause: mismatchError(settled.mismatch) });
  }
  // A webhook's reasons are stored with its event; an answer repeats known facts, which are not worth a line.
  const ignored = settled.ignored.filter((reason) => !/: already (known|paid)$/.test(reason));
  if (ignored.length > 0) deps.log.info({ payment_id: settled.payment.id, path, ignored }, "facts ignored");
  return settled.payment;
}

// An intent that is missing for less than this share of the key life may be missing from a lagging replica only.
const lagShare = 1 / 144;

/**
 * The processor does not know an intent that it created. @param at by its clock; undefined: not reported
 * @throws Failure CONNECTOR_ERROR until its absence is proved.
 */
async function missIntent(
  deps: VerifyDeps,
  connector: Connector,
  payment: StoredPayment,
  at: Date | undefined,
  byMerchant: boolean,
): Promise<StoredPayment> {
  const why = "the processor does not know an intent that it created";
  const failure = new Failure("CONNECTOR_ERROR", { cause: new Error(why) });
  if (!at) throw failure;
  const missingMs = at.getTime() - (await recordNotFound(deps.db, payment.id, at)).getTime();
  const lifeMs = connector.keyLifeSeconds * 1_000;
  if (missingMs < lifeMs * lagShare) throw failure;
  const isNew = await deps.db.transaction(
    async (tx) => (await lockPayment(tx, payment.id)) && recordLostIntent(tx, payment),
  );
  if (isNew) {
    deps.metrics.moneyAlerts.inc({ kind: "lost_intent" });
    deps.log.fatal({ alert: "lost_intent", payment_id: payment.id }, why);
  }
  // The miss that proves the absence must come after the alert: two misses alone may be chance.
  const isProved = !isNew && missingMs >= lifeMs;
  if (!isProved && !byMerchant) throw new Failure("CONNECTOR_ERROR", { cause: new ListedIntentError(why) });
  const note = isProved
    ? "the processor did not know it for as long as it keeps keys"
    : "its merchant ended the session";
  const { connector: name, connectorRef } = payment;
  const settled = await deps.db.transaction(async (tx) => {
    const books = await lockBooks(tx, payment.id);
    const row = (await fundsAbout(tx, name, connectorRef)).find(({ kind }) => kind === "lost_intent");
    if (row) await closeFunds(tx, row.id, { resolution: "gone", operator: "", note });
    return await settleNeverMade(tx, deps, books);
  });
  deps.outbox.wake();
  return settled.payment;
}
