// Makes one object at a processor exactly once: a try looks for it by our reference, and sends the same key again while
// the processor surely has it. A key is replaced only after absence was proved: complete looks found nothing for a
// key's life, by the processor's clock, since the last send; no edge's answer proves it. A capture makes no object: the
// intent takes one alone, under whatever keys, so its key is replaced when it was sent twice in vain.
import type { Database } from "#platform/database/database.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { noteBegun } from "#platform/values/call-context.ts";
import {
  type CaptureOrder,
  type Connector,
  type CreatedIntent,
  type DisputeReport,
  type EvidenceOrder,
  type IntentOrder,
  type IntentReport,
  type IntentSearch,
  isKnown,
  type KnownAnswer,
  type PaymentOrder,
  type ProcessorAccount,
  type ProcessorAnswer,
  type RefundOrder,
  type RefundReport,
} from "../connectors/connector.ts";
import { paymentOfIntent } from "../store/intent-owners.ts";
import {
  type Operation,
  processorKey,
  recordDoubt,
  recordNothingFound,
  recordResend,
  recordSearch,
  takeNextKey,
} from "../store/operations.ts";
import { renewalOf } from "../store/renewals.ts";

/** What came of it; `never_made`: it is proved that the processor has nothing of it and will do nothing. */
export type CommandResult<T> = ProcessorAnswer<T> | { readonly kind: "never_made"; readonly cause: unknown };

/** The intent of an operation. */
export async function makeIntent(
  db: Database,
  connector: Connector,
  account: ProcessorAccount,
  order: IntentOrder,
  operation: Operation,
): Promise<CommandResult<CreatedIntent>> {
  return await makeOnce(db, connector.keyLifeSeconds, operation, {
    find: () => findMade(db, connector, account, operation, order.surface),
    send: (key) => connector.createIntent(account, order, key),
  });
}

/**
 * The payment of an operation: an intent that is paid at once. @param order undefined: nobody knows it any more, so it
 * is only looked for.
 */
export async function makePayment(
  db: Database,
  connector: Connector,
  account: ProcessorAccount,
  order: PaymentOrder | undefined,
  operation: Operation,
): Promise<CommandResult<IntentReport>> {
  return await makeOnce(db, connector.keyLifeSeconds, operation, {
    find: async () => reportOf(await findMade(db, connector, account, operation, account.surface)),
    send: order && ((key) => connector.payIntent(account, order, key)),
  });
}

/** Looks for the intent of an operation, and sends nothing. */
export async function searchIntent(
  db: Database,
  connector: Connector,
  account: ProcessorAccount,
  surface: string,
  operation: Operation,
): Promise<CommandResult<CreatedIntent>> {
  const find = () => findMade(db, connector, account, operation, surface);
  return await searchProcessor(db, connector.keyLifeSeconds, operation, find);
}

/** The refund of an operation. */
export async function makeRefund(
  db: Database,
  connector: Connector,
  account: ProcessorAccount,
  order: RefundOrder,
  operation: Operation,
  find = () => connector.findRefund(account, order),
): Promise<CommandResult<RefundReport>> {
  return await makeOnce(db, connector.keyLifeSeconds, operation, {
    find,
    send: (key) => connector.createRefund(account, order, key),
  });
}

/** The capture of an operation: its intent as it is then, unless nothing is captured or ended of it yet. */
export async function makeCapture(
  db: Database,
  connector: Connector,
  account: ProcessorAccount,
  order: CaptureOrder,
  operation: Operation,
): Promise<CommandResult<IntentReport>> {
  return await makeOnce(db, connector.keyLifeSeconds, operation, {
    find: () => findCaptured(connector, account, order.intentRef),
    send: (key) => connector.captureIntent(account, order, key),
    isOnceByItself: true,
  });
}

/** While it is authorized as it was, no capture has come to be; one of an earlier attempt may have come back. */
export async function findCaptured(
  connector: Connector,
  account: ProcessorAccount,
  intentRef: string,
): Promise<ProcessorAnswer<IntentReport>> {
  const answer = await connector.retrieveIntent(account, intentRef);
  // An intent that is gone is no proof of anything that happened to it.
  if (!isKnown(answer)) return { kind: "unknown", cause: "cause" in answer ? answer.cause : new Error(answer.kind) };
  const { facts } = answer.value;
  const last = facts.at(-1);
  if (last?.kind !== "attempt_succeeded" || facts.some((fact) => isCaptureOf(last.attempt.ref, fact))) return answer;
  return { kind: "not_found", at: connector.processorTime(), cause: new Error("it is authorized, and not captured") };
}

function isCaptureOf(attemptRef: string, fact: IntentReport["facts"][number]): boolean {
  return fact.kind === "attempt_succeeded" && fact.attempt.ref === attemptRef && fact.capturedAmount > 0n;
}

/** The submission of an operation. */
export async function makeEvidence(
  db: Database,
  connector: Connector,
  account: ProcessorAccount,
  order: EvidenceOrder,
  operation: Operation,
): Promise<CommandResult<DisputeReport>> {
  return await makeOnce(db, connector.keyLifeSeconds, operation, {
    find: () => findEvidenceAt(connector, account, order),
    send: (key) => connector.submitEvidence(account, order, key),
  });
}

/** Looks whether the processor has a submission of ours. */
export async function findEvidenceAt(
  connector: Connector,
  account: ProcessorAccount,
  { disputeRef, reference }: Pick<EvidenceOrder, "disputeRef" | "reference">,
): Promise<ProcessorAnswer<DisputeReport>> {
  const found = await connector.retrieveDispute(account, disputeRef);
  if (!isKnown(found)) return found;
  if (found.value.evidenceReference === reference) return found;
  return {
    kind: "not_found",
    at: connector.processorTime(),
    cause: new Error("the dispute has other evidence, or none"),
  };
}

function findMade(
  db: Database,
  connector: Connector,
  account: ProcessorAccount,
  operation: Operation,
  surface: string,
): Promise<ProcessorAnswer<CreatedIntent>> {
  const { paymentId: reference, sentAfter: since, searchAfter: after } = operation;
  return findIntent(db, connector, account, { reference, renewal: renewalOf(operation), surface, since, after });
}

/** Looks for a payment's intent by its reference, which others can edit: another payment's intent is no answer. */
export async function findIntent(
  db: Database,
  connector: Connector,
  account: ProcessorAccount,
  search: IntentSearch,
): Promise<ProcessorAnswer<CreatedIntent>> {
  const found = await connector.findIntent(account, search);
  if (!isKnown(found)) return found;
  const { reference } = search;
  const connectorRef = found.value.report.ref;
  const owner = await paymentOfIntent(db, { connector: connector.name, connectorRef, reference });
  if (owner === reference) return found;
  return { kind: "unknown", cause: new Error(`the intent with the reference ${reference} belongs to ${owner}`) };
}

function reportOf(found: ProcessorAnswer<CreatedIntent>): ProcessorAnswer<IntentReport> {
  return isKnown(found) ? { ...found, value: found.value.report } : found;
}

interface Calls<T> {
  readonly find: () => Promise<ProcessorAnswer<T>>;
  /** undefined: it cannot be sent again. */
  readonly send: ((key: string) => Promise<ProcessorAnswer<T>>) | undefined;
  /** The processor does it once and never again, also under another key: its object's state says that it is done. */
  readonly isOnceByItself?: true;
}

// Keys are surely remembered for this share of their life, whatever the clocks.
const resendShare = 1 / 2;

async function makeOnce<T>(
  db: Database,
  keyLifeSeconds: number,
  operation: Operation,
  { find, send, isOnceByItself }: Calls<T>,
): Promise<CommandResult<T>> {
  const mayResend = operation.keyAgeSeconds < keyLifeSeconds * resendShare;
  if (operation.tried) {
    const found = await searchProcessor(db, keyLifeSeconds, operation, find);
    if (found.kind !== "unknown" || !found.isEmpty || !mayResend || !send) return found;
    if (!(await recordResend(db, operation))) return found;
  }
  if (!send) return await searchProcessor(db, keyLifeSeconds, operation, find);
  noteBegun();
  const sent = await send(processorKey(operation));
  if (isKnown(sent) || (!operation.tried && sent.kind !== "unknown")) return sent;
  // An earlier send, whose answer nobody has, may have done what this one was refused for.
  if (sent.kind === "declined") {
    const found = await searchProcessor(db, keyLifeSeconds, operation, find);
    return found.kind === "unknown" && found.isEmpty ? sent : found;
  }
  await recordDoubt(db, operation.id, "cause" in sent ? String(sent.cause) : "no answer");
  crashPoint("make-at-processor.1-in-doubt");
  const found = await searchProcessor(db, keyLifeSeconds, operation, find);
  // A fault that the processor has stored under the key comes again for as long as it keeps the key.
  const isInVain = isOnceByItself && operation.tried && found.kind === "unknown" && found.isEmpty;
  if (isInVain) await takeNextKey(db, operation);
  return found;
}

/** Looks for it under our reference. `isEmpty`: a complete look found nothing, which is not proof yet. */
async function searchProcessor<T>(
  db: Database,
  keyLifeSeconds: number,
  operation: Operation,
  find: () => Promise<ProcessorAnswer<T>>,
): Promise<FindResult<T>> {
  const found = await find();
  if (isKnown(found)) return found;
  if (found.kind === "unknown" && found.resumeAfter) await recordSearch(db, operation.id, found.resumeAfter);
  if (found.kind !== "not_found" || !found.at) return unknownBy(found);
  const since = await recordNothingFound(db, operation.id, found.at, keyLifeSeconds);
  const isProved = found.at.getTime() - since.getTime() >= keyLifeSeconds * 1_000;
  return isProved ? { kind: "never_made", cause: found.cause } : { ...unknownBy(found), isEmpty: true };
}

type FindResult<T> =
  | KnownAnswer<T>
  | { readonly kind: "never_made"; readonly cause: unknown }
  | { readonly kind: "unknown"; readonly cause: unknown; readonly isEmpty?: true };

function unknownBy(answer: ProcessorAnswer<unknown>): { readonly kind: "unknown"; readonly cause: unknown } {
  return { kind: "unknown", cause: "cause" in answer ? answer.cause : new Error(answer.kind) };
}
