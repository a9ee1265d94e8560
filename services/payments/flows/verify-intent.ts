// The confirm path: asks the processor what became of an intent and settles the payment by the answer. Phases: 1 read ·
// 2 ask the processor · 3 settle in one transaction. A payment that this path has announced already is answered without
// asking. An intent that the processor gave and knows nothing of is listed for an operator, and ends when that was so
// for as long as absence needs.
import type { Database, Tx } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import type { Connector, IntentReport } from "../connectors/connector.ts";
import type { Connectors } from "../connectors/registry.ts";
import type { PaymentsMetrics } from "../metrics.ts";
import type { Path } from "../rules/payment.ts";
import { findPayment, lockPayment, recordNotFound, type StoredPayment } from "../store/payments.ts";
import { closeFunds, fundsAbout } from "../store/suspense.ts";
import { type Accounts, provenValue } from "./accounts/ask-processor.ts";
import { lockedBooks, type SettlementResult, settleNeverMade, settlePayment } from "./settle-payment.ts";
import { recordLostIntent } from "./unexpected-funds/record-funds.ts";

export interface VerifyDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  /** When the reconcile job next asks about a payment that is not settled; seconds. */
  readonly reconcileAfterSeconds: number;
  readonly log: Log;
  readonly accounts: Accounts;
  readonly connectors: Connectors;
  readonly metrics: PaymentsMetrics;
}

/**
 * @param byMerchant the merchant ends the session: an intent that the processor lost ends as soon as it is listed
 * @throws Failure NOT_FOUND, CONNECTOR_ERROR (not verified, or the intent differs).
 */
export async function verifyIntent(
  deps: VerifyDeps,
  paymentId: string,
  path: Path,
  byMerchant = false,
): Promise<StoredPayment> {
  const payment = await findPayment(deps.db, paymentId);
  if (!payment) throw new Failure("NOT_FOUND");
  if (path === "confirm" && payment.state.outcome === "succeeded" && payment.state.announcedByConfirm) return payment;
  if (payment.connectorRef === "") return payment;
  const account = await deps.accounts.byId(payment.connectorAccountId);
  const connector = deps.connectors.get(payment.connector);
  const answer = await connector.retrieveIntent(account, payment.connectorRef);
  crashPoint("verify-intent.2-asked");
  if (answer.kind !== "not_found") {
    return await settleReport(deps, paymentId, provenValue(answer), path, payment.version);
  }
  return await missIntent(deps, connector, payment, answer.at, byMerchant);
}

/**
 * Settles by a report, in a transaction of its own.
 * @param versionSeen the payment's version before the processor was asked about the whole payment
 * @throws Failure CONNECTOR_ERROR (the intent differs; it is listed then).
 */
export async function settleReport(
  deps: Pick<VerifyDeps, "db" | "outbox" | "log" | "metrics" | "reconcileAfterSeconds">,
  paymentId: string,
  report: IntentReport,
  path: Path,
  versionSeen?: number,
): Promise<StoredPayment> {
  const work = (tx: Tx) => settlePayment(tx, deps, paymentId, report, path, versionSeen);
  const settled = await deps.db.transactionTogether(paymentId, work);
  crashPoint("verify-intent.3-settled");
  return answerSettled(deps, settled, path);
}

/** What was settled is told to whom it concerns. @throws as settleReport */
export function answerSettled(
  deps: Pick<VerifyDeps, "outbox" | "log" | "metrics">,
  settled: SettlementResult,
  path: Path,
): StoredPayment {
  deps.outbox.wake();
  logSettlement(deps, settled);
  if (settled.mismatch !== undefined) throw new Failure("CONNECTOR_ERROR", { cause: mismatchError(settled.mismatch) });
  // A webhook keeps its reasons with the event; an answer repeats whatever is known, so only news is worth a line.
  const ignored = settled.ignored.filter((reason) => !/: already (known|paid)$/.test(reason));
  if (ignored.length > 0) deps.log.info({ payment_id: settled.payment.id, path, ignored }, "facts that moved nothing");
  return settled.payment;
}

/** The alert-level lines of what was settled: money may have moved on an intent that is not ours, or twice. */
export function logSettlement(
  { log, metrics: { moneyAlerts } }: Pick<VerifyDeps, "log" | "metrics">,
  { payment, opened, mismatch, isOtherCapture, isRenamed }: SettlementResult,
): void {
  if (isOtherCapture) {
    moneyAlerts.inc({ kind: "other_capture" });
    log.fatal(
      { alert: "other_capture", payment_id: payment.id },
      "the processor captured another amount than asked for",
    );
  }
  const difference = mismatch ?? (isRenamed ? "reference" : undefined);
  if (difference !== undefined) {
    moneyAlerts.inc({ kind: "intent_mismatch" });
    const err = mismatchError(difference);
    log.fatal({ alert: "intent_mismatch", payment_id: payment.id, err }, "intent differs from payment");
  }
  for (const kind of opened) {
    moneyAlerts.inc({ kind });
    log.fatal({ alert: kind, payment_id: payment.id }, "unexpected funds: see the operators' list");
  }
}

/** Cause of a failure about an intent that is in the operators' list: the processor would say the same again. */
export class DifferentIntentError extends Error {}

function mismatchError(what: string): Error {
  return new DifferentIntentError(`the processor's intent differs from the payment in its ${what}`);
}

// An intent that is missing for less than this share of what absence needs may be a replica of the processor that lags.
const lagShare = 1 / 144;

/**
 * The processor knows nothing of an intent that it gave. @param at by its own clock; undefined: it did not say.
 * @throws Failure CONNECTOR_ERROR until that is proved.
 */
async function missIntent(
  deps: VerifyDeps,
  connector: Connector,
  payment: StoredPayment,
  at: Date | undefined,
  byMerchant: boolean,
): Promise<StoredPayment> {
  const why = "the processor does not know an intent that it gave";
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
  // Two misses may be chance, however far apart: the one that proves it comes after somebody was told.
  const isProved = !isNew && missingMs >= lifeMs;
  if (!isProved && !byMerchant) throw new Failure("CONNECTOR_ERROR", { cause: new DifferentIntentError(why) });
  const note = isProved
    ? "the processor did not know it for as long as it keeps keys"
    : "its merchant ended the session";
  const end = { resolution: "gone", operator: "", note } as const;
  const settled = await deps.db.transaction((tx) => endLostIntent(tx, deps, payment, end));
  deps.outbox.wake();
  return settled.payment;
}

/** Ends a payment whose intent the processor lost, and its row in the operators' list. @throws Failure NOT_FOUND. */
export async function endLostIntent(
  tx: Tx,
  deps: Pick<VerifyDeps, "outbox" | "reconcileAfterSeconds">,
  { id, connector, connectorRef }: StoredPayment,
  end: Parameters<typeof closeFunds>[2],
): Promise<SettlementResult> {
  const books = await lockedBooks(tx, id);
  const row = (await fundsAbout(tx, connector, connectorRef)).find(({ kind }) => kind === "lost_intent");
  if (row) await closeFunds(tx, row.id, end);
  return await settleNeverMade(tx, deps, books);
}
