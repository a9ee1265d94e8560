// Takes a processor's signed webhook in. Phases: 1 the accounts under the id (merchant) · 2 verify the signature over
// the raw bytes · 3 ask the processor, if the event only tells that something happened · 4 record the event and settle
// the payment in one transaction. A repeat of an event changes nothing; the answer comes after the commit.
import type { Database, Tx } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import type { Connector, IntentReport, ProcessorAccount, ProcessorEvent } from "../connectors/connector.ts";
import type { Connectors } from "../connectors/registry.ts";
import type { PaymentsMetrics } from "../metrics.ts";
import { paymentOfIntent } from "../store/intent-owners.ts";
import { isAwaited, lockPayment } from "../store/payments.ts";
import { insertProcessorEvent, isKnownEvent } from "../store/processor/processor-events.ts";
import { type Accounts, provenValue } from "./accounts/ask-processor.ts";
import { type SettlementResult, settleLocked } from "./settle-payment.ts";
import { logSettlement } from "./verify-intent.ts";

export interface ReceiveDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  /** When the reconcile job next asks about a payment that is not settled; seconds. */
  readonly reconcileAfterSeconds: number;
  readonly log: Log;
  readonly accounts: Accounts;
  readonly connectors: Connectors;
  readonly metrics: PaymentsMetrics;
}

/** An account in the words of the ingress's path. */
export interface AccountPath {
  readonly connector: string;
  readonly externalAccountId: string;
}

export interface ReceivedEvent extends AccountPath {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws Failure NOT_FOUND (connector or account), UNAUTHORIZED (signature), INVALID_BODY (content). */
export async function receiveProcessorEvent(
  deps: ReceiveDeps,
  received: ReceivedEvent,
): Promise<{ duplicate: boolean }> {
  const { connector, accounts } = await findProcessorAccounts(deps, received);
  crashPoint("receive-event.1-account-found");
  const { account, event } = verifiedEvent(connector, accounts, received);
  crashPoint("receive-event.2-verified");
  if (event.intentRef !== "" && (await isKnownEvent(deps.db, connector.name, event.id))) return { duplicate: true };
  return { duplicate: !(await applyProcessorEvent(deps, account, event)) };
}

/** Phase 1, also asked alone before an event's body is read. @throws Failure NOT_FOUND (connector or account). */
export async function findProcessorAccounts(
  deps: Pick<ReceiveDeps, "connectors" | "accounts">,
  { connector: name, externalAccountId }: AccountPath,
): Promise<{ connector: Connector; accounts: readonly ProcessorAccount[] }> {
  const connector = deps.connectors.get(name);
  return { connector, accounts: await deps.accounts.byExternalId(name, externalAccountId) };
}

/**
 * Phases 3 and 4: for a webhook that was verified, and for an event of the account's own list, which nobody had to
 * sign.
 * @returns false: it was taken in before, and nothing was changed.
 * @throws Failure CONNECTOR_ERROR: the processor could not be asked; the event comes again.
 */
export async function applyProcessorEvent(
  deps: ReceiveDeps,
  account: ProcessorAccount,
  event: ProcessorEvent,
): Promise<boolean> {
  const connector = deps.connectors.get(account.connector);
  const report = event.intentRef === "" ? event.report : await fetchReport(deps.db, connector, account, event);
  crashPoint("receive-event.3-asked");
  const paymentId =
    report && (await paymentOfIntent(deps.db, { ...report, connector: connector.name, connectorRef: report.ref }));
  try {
    const work = (tx: Tx) => consumeReport(deps, tx, account, event, paymentId, report);
    const settled = await deps.db.transactionTogether(paymentId ?? event.id, work);
    crashPoint("receive-event.4-settled");
    deps.outbox.wake();
    // An intent that is not ours is listed for an operator; sending the event again would not change it.
    if (settled) logSettlement(deps, settled);
    return true;
  } catch (error) {
    if (error instanceof Repeat) return false;
    throw error;
  }
}

/** The event was taken in before: whatever it was about to do again is rolled back. */
class Repeat extends Error {}

/**
 * An id at the processor can stand for an account of each environment: the event is of the one whose secret signed it.
 */
function verifiedEvent(
  connector: Connector,
  accounts: readonly ProcessorAccount[],
  { body, headers }: ReceivedEvent,
): { account: ProcessorAccount; event: ProcessorEvent } {
  let refusal: unknown;
  for (const account of accounts) {
    try {
      return { account, event: connector.readEvent(account, body, headers) };
    } catch (error) {
      refusal = error;
      if (!(error instanceof Failure && error.reason === "UNAUTHORIZED")) break;
    }
  }
  throw refusal ?? new Failure("NOT_FOUND");
}

// Replicas are seconds behind; this is far more.
const replicaLagMs = 600_000;

/**
 * undefined: the processor has no such intent, long after the event, and it is none that we wait for.
 * @throws Failure CONNECTOR_ERROR: it sends the event again. Also when it does not know an intent of ours, and when its
 * lists are behind the event: taken in now, the news would be lost.
 */
async function fetchReport(
  db: Database,
  connector: Connector,
  account: ProcessorAccount,
  { id, createdAt, intentRef, objectRef, isForgettable, isUnclaimed }: ProcessorEvent,
): Promise<IntentReport | undefined> {
  const intent = { connector: connector.name, connectorRef: intentRef, reference: "" };
  if (isUnclaimed && !(await paymentOfIntent(db, intent))) return undefined;
  const answer = await connector.retrieveIntent(account, intentRef, isForgettable ? id : "");
  if (answer.kind === "not_found") {
    // What an event has just told of can be missing from a replica, and be ours though nobody has told us its id yet.
    if (isOld(createdAt, answer.at) && !(await isAwaited(db, connector.name, intentRef))) return undefined;
    throw new Failure("CONNECTOR_ERROR", { cause: new Error("the processor does not know an intent that it gave") });
  }
  const report = provenValue(answer);
  const attempts = report.facts.flatMap((fact) => ("attempt" in fact ? fact.attempt : []));
  const parts = [...report.refunds, ...report.disputes, ...attempts].map(({ ref }) => ref);
  const isThere = [...parts, ...(report.releases ?? [])].includes(objectRef ?? "");
  const isBehind = report.isBehind && !isOld(createdAt, connector.processorTime());
  if (!isBehind && (!objectRef || isThere)) return report;
  throw new Failure("CONNECTOR_ERROR", { cause: new Error("the processor's lists are behind its event") });
}

/** So old by the processor's clock that none of its replicas and lists can still be behind it. */
function isOld(createdAt: Date, now: Date | undefined): boolean {
  return now !== undefined && now.getTime() - createdAt.getTime() > replicaLagMs;
}

/** @returns what it settled; undefined: it is not about a payment of ours. @throws Repeat. */
async function consumeReport(
  deps: ReceiveDeps,
  tx: Tx,
  account: ProcessorAccount,
  event: ProcessorEvent,
  paymentId: string | undefined,
  report: IntentReport | undefined,
): Promise<SettlementResult | undefined> {
  const locked = paymentId === undefined ? undefined : await lockPayment(tx, paymentId);
  const isOurs = locked?.payment.connectorAccountId === account.id;
  const settled = report && locked && isOurs ? await settleLocked(tx, deps, locked, report, "processor") : undefined;
  const fresh = await insertProcessorEvent(tx, {
    connector: account.connector,
    id: event.id,
    type: event.type,
    paymentId: isOurs ? locked.payment.id : undefined,
    note: (settled?.ignored ?? ["not about a payment of ours"]).join("; "),
  });
  if (!fresh) throw new Repeat();
  return settled;
}
