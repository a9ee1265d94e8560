// Applies a processor's signed webhook. Phases: 1 find the accounts (merchant) · 2 verify the signature over the raw
// bytes · 3 ask the processor, if the event is only a hint · 4 settle and record the event in one transaction:
// settle-payment.ts → rules/settlement.ts → rules/payment-transition.ts → store/payments.ts. A repeated event changes
// nothing; the answer is sent after the commit.
import type { Tx } from "#platform/database/database.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { Failure } from "#platform/values/failure.ts";
import type { Connector, IntentReport, ProcessorAccount, ProcessorEvent } from "../connectors/connector.ts";
import { isAwaited, lockPayment } from "../store/payments.ts";
import { insertProcessorEvent, isKnownEvent } from "../store/processor/processor-events.ts";
import { provenValue } from "./accounts/ask-processor.ts";
import { logSettlement } from "./record-findings.ts";
import { paymentOfIntent } from "./restore-archived.ts";
import { type SettlementResult, settleLocked } from "./settle-payment.ts";
import type { VerifyDeps } from "./verify-intent.ts";

/** An account as the ingress's path names it. */
interface AccountPath {
  readonly connector: string;
  readonly externalAccountId: string;
}

interface ReceivedEvent extends AccountPath {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws Failure NOT_FOUND (connector or account), UNAUTHORIZED (signature), INVALID_BODY (content). */
export async function receiveProcessorEvent(
  deps: VerifyDeps,
  received: ReceivedEvent,
): Promise<{ duplicate: boolean }> {
  const { connector, accounts } = await findProcessorAccounts(deps, received);
  crashPoint("receive-event.1-account-found");
  const { account, events } = await verifyWebhook(deps, connector, accounts, received);
  crashPoint("receive-event.2-verified");
  let duplicate = true;
  for (const event of events) {
    if (event.intentRef !== "" && (await isKnownEvent(deps.db, connector.name, event.id))) continue;
    if (await applyProcessorEvent(deps, account, event)) duplicate = false;
  }
  return { duplicate };
}

/** Phase 1; the gateway also calls it before it reads a body. @throws Failure NOT_FOUND (connector or account). */
export async function findProcessorAccounts(
  deps: Pick<VerifyDeps, "connectors" | "accounts">,
  { connector: name, externalAccountId }: AccountPath,
): Promise<{ connector: Connector; accounts: readonly ProcessorAccount[] }> {
  const connector = deps.connectors.get(name);
  return { connector, accounts: await deps.accounts.byExternalId(name, externalAccountId) };
}

/** An external id can belong to an account of each environment: the event's is the one whose secret signed it. */
async function verifyWebhook(
  { metrics, log }: VerifyDeps,
  connector: Connector,
  accounts: readonly ProcessorAccount[],
  { body, headers }: ReceivedEvent,
): Promise<{ account: ProcessorAccount; events: readonly ProcessorEvent[] }> {
  let refusal: unknown;
  for (const account of accounts) {
    try {
      return { account, events: await connector.readWebhook(account, body, headers) };
    } catch (error) {
      refusal = error;
      if (!(error instanceof Failure && error.reason === "UNAUTHORIZED")) break;
    }
  }
  if (refusal instanceof Failure && refusal.reason === "UNAUTHORIZED") {
    metrics.webhooksRefused.inc({ connector: connector.name });
    for (const { id, merchantId } of accounts)
      log.warn({ connector_account_id: id, merchant_id: merchantId }, "processor webhook refused");
  }
  throw refusal ?? new Failure("NOT_FOUND");
}

/**
 * Phases 3 and 4: for a verified webhook, and for an entry of the account's own event list.
 * @returns false: a repeat, nothing was changed.
 * @throws Failure CONNECTOR_ERROR: the processor could not be asked, and sends the event again.
 */
export async function applyProcessorEvent(
  deps: VerifyDeps,
  account: ProcessorAccount,
  event: ProcessorEvent,
): Promise<boolean> {
  const connector = deps.connectors.get(account.connector);
  const report = event.intentRef === "" ? event.report : await fetchReport(deps, connector, account, event);
  crashPoint("receive-event.3-asked");
  const paymentId =
    report && (await paymentOfIntent(deps, { ...report, connector: connector.name, connectorRef: report.ref }));
  try {
    const settled = await deps.db.transaction((tx) => settleEvent(deps, tx, account, event, paymentId, report));
    crashPoint("receive-event.4-settled");
    deps.outbox.wake();
    // A mismatch is listed for an operator; sending the event again would not change it.
    if (settled) logSettlement(deps, settled);
    return true;
  } catch (error) {
    if (error instanceof Repeat) return false;
    throw error;
  }
}

/** Rolls back the transaction of an event that is already recorded. */
class Repeat extends Error {}

/** Phase 4. @returns undefined: the event is not about a payment of ours. @throws Repeat. */
async function settleEvent(
  deps: VerifyDeps,
  tx: Tx,
  account: ProcessorAccount,
  event: ProcessorEvent,
  paymentId: string | undefined,
  report: IntentReport | undefined,
): Promise<SettlementResult | undefined> {
  const locked = paymentId === undefined ? undefined : await lockPayment(tx, paymentId);
  const isFormer = locked?.payment.formerAccountId === account.id;
  const isOurs = isFormer || locked?.payment.connectorAccountId === account.id;
  const books = isOurs && locked && { ...locked, isFormer };
  const settled = report && books ? await settleLocked(tx, deps, books, report, "processor") : undefined;
  const isNew = await insertProcessorEvent(tx, {
    connector: account.connector,
    id: event.id,
    type: event.type,
    paymentId: books ? books.payment.id : undefined,
    note: (settled?.ignored ?? ["not about a payment of ours"]).join("; "),
  });
  if (!isNew) throw new Repeat();
  return settled;
}

// Far longer than a processor's replicas and lists lag, which is seconds.
const replicaLagMs = 600_000;

/**
 * Phase 3. @returns undefined: long after the event the processor has no such intent, and we await none.
 * @throws Failure CONNECTOR_ERROR, so that the event is sent again: no answer, an unknown intent of ours, or lists that
 * are behind the event and would lose its report.
 */
async function fetchReport(
  deps: VerifyDeps,
  connector: Connector,
  account: ProcessorAccount,
  { id, createdAt, intentRef, objectRef, isForgettable, isUnclaimed }: ProcessorEvent,
): Promise<IntentReport | undefined> {
  const intent = { connector: connector.name, connectorRef: intentRef, reference: "" };
  if (isUnclaimed && !(await paymentOfIntent(deps, intent))) return undefined;
  const answer = await connector.retrieveIntent(account, intentRef, isForgettable ? id : "");
  if (answer.kind === "not_found") {
    // A new intent can be missing from a replica, and be ours before its creation is recorded.
    if (isOld(createdAt, answer.at) && !(await isAwaited(deps.db, connector.name, intentRef))) return undefined;
    throw new Failure("CONNECTOR_ERROR", { cause: new Error("the processor does not know the intent of its event") });
  }
  const report = provenValue(answer);
  const attempts = report.facts.flatMap((fact) => ("attempt" in fact ? fact.attempt : []));
  const parts = [...report.refunds, ...report.disputes, ...attempts].map(({ ref }) => ref);
  const isThere = [...parts, ...(report.releases ?? [])].includes(objectRef ?? "");
  const isBehind = report.isBehind && !isOld(createdAt, connector.processorTime());
  if (!isBehind && (!objectRef || isThere)) return report;
  throw new Failure("CONNECTOR_ERROR", { cause: new Error("the processor's lists are behind its event") });
}

/** So old by the processor's clock that its replicas and lists must contain it. */
function isOld(createdAt: Date, now: Date | undefined): boolean {
  return now !== undefined && now.getTime() - createdAt.getTime() > replicaLagMs;
}
