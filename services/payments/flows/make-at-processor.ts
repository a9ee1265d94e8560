// Makes one object at a processor exactly once: a retry searches it by our reference, and resends the same key while
// the processor still keeps it. A key is replaced only after proved absence: complete searches found nothing for a
// key's life, by the processor's clock, since the last send. A capture makes no object and an intent takes only one,
// under any key: its key is replaced after two sends in vain.
import type { Database } from "#platform/database/database.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import {
  type Connector,
  type CreatedIntent,
  type DisputeReport,
  type IntentReport,
  isKnown,
  type KnownAnswer,
  type ProcessorAccount,
  type ProcessorAnswer,
  type RefundReport,
} from "../connectors/connector.ts";
import type {
  CaptureOrder,
  EvidenceOrder,
  IntentOrder,
  IntentSearch,
  PaymentOrder,
  RefundOrder,
} from "../connectors/order.ts";
import { noteBegun } from "../connectors/processor-time.ts";
import { notProcessedCode } from "../rules/payment-transition.ts";
import { ownerOfIntent } from "../store/intent-owners.ts";
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

/** An operation, and the account that it is sent to. */
interface Command {
  readonly db: Database;
  readonly connector: Connector;
  readonly account: ProcessorAccount;
  readonly operation: Operation;
}

/** `never_made`: the processor provably has no such object and will make none. */
export type CommandResult<T> = ProcessorAnswer<T> | { readonly kind: "never_made"; readonly cause: unknown };

/** Results of a command that was not carried out. */
export type UnmadeAnswer = Extract<CommandResult<unknown>, { readonly kind: "declined" | "not_sent" | "never_made" }>;

const notSentCode = "not_sent";

/** The failure code and message of a command that was not carried out. */
export function failureOf(answer: UnmadeAnswer): { readonly failureCode: string; readonly failureMessage: string } {
  if (answer.kind === "declined") return { failureCode: answer.code, failureMessage: answer.message };
  return answer.kind === "not_sent"
    ? { failureCode: notSentCode, failureMessage: "the processor could not be reached" }
    : { failureCode: notProcessedCode, failureMessage: "the processor never made it" };
}

/** True for the failure code of a command that the processor did not get; the same request may retry it. */
export function isNeverMade(failureCode: string): boolean {
  return failureCode === notSentCode || failureCode === notProcessedCode;
}

export async function makeIntent(command: Command, order: IntentOrder): Promise<CommandResult<CreatedIntent>> {
  return await makeOnce(command, {
    find: () => findMade(command, order.surface),
    send: (key) => command.connector.createIntent(command.account, order, key),
  });
}

/** An intent that is paid at once. @param order undefined: no longer known, so the intent is only searched. */
export async function makePayment(
  command: Command,
  order: PaymentOrder | undefined,
): Promise<CommandResult<IntentReport>> {
  const { connector, account } = command;
  return await makeOnce(command, {
    find: async () => paymentIn(connector, reportOf(await findMade(command, account.surface))),
    send: order && ((key) => connector.payIntent(account, order, key)),
  });
}

/** Searches the intent of an operation and sends nothing. */
export async function searchIntent(command: Command, surface: string): Promise<CommandResult<CreatedIntent>> {
  return await searchProcessor(command, () => findMade(command, surface));
}

export async function makeRefund(
  command: Command,
  order: RefundOrder,
  find = () => command.connector.findRefund(command.account, order),
): Promise<CommandResult<RefundReport>> {
  return await makeOnce(command, {
    find,
    send: (key) => command.connector.createRefund(command.account, order, key),
  });
}

/** Captures an intent. @returns its report after the capture or the end of its authorization. */
export async function makeCapture(command: Command, order: CaptureOrder): Promise<CommandResult<IntentReport>> {
  const { connector, account } = command;
  return await makeOnce(command, {
    find: () => findCaptured(connector, account, order.intentRef),
    send: (key) => connector.captureIntent(account, order, key),
    isOnceByItself: true,
  });
}

/** Not found while its last attempt is authorized and uncaptured; the capture of an earlier one may be returned. */
export async function findCaptured(
  connector: Connector,
  account: ProcessorAccount,
  intentRef: string,
): Promise<ProcessorAnswer<IntentReport>> {
  const answer = await connector.retrieveIntent(account, intentRef);
  // A missing intent proves nothing about its capture.
  if (!isKnown(answer)) return { kind: "unknown", cause: "cause" in answer ? answer.cause : new Error(answer.kind) };
  const { facts } = answer.value;
  const last = facts.at(-1);
  if (last?.kind !== "attempt_succeeded" || facts.some((fact) => isCaptureOf(last.attempt.ref, fact))) return answer;
  return {
    kind: "not_found",
    at: connector.processorTime(),
    cause: new Error("the intent is authorized, not captured"),
  };
}

function isCaptureOf(attemptRef: string, fact: IntentReport["facts"][number]): boolean {
  return fact.kind === "attempt_succeeded" && fact.attempt.ref === attemptRef && fact.capturedAmount > 0n;
}

export async function makeEvidence(command: Command, order: EvidenceOrder): Promise<CommandResult<DisputeReport>> {
  const { connector, account } = command;
  return await makeOnce(command, {
    find: () => findEvidenceAt(connector, account, order),
    send: (key) => connector.submitEvidence(account, order, key),
  });
}

/** Searches our submission on the dispute. */
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
    cause: new Error("the dispute does not have this evidence"),
  };
}

function findMade(
  { db, connector, account, operation }: Command,
  surface: string,
): Promise<ProcessorAnswer<CreatedIntent>> {
  const { paymentId: reference, sentAfter: since, searchAfter: after } = operation;
  return findIntent(db, connector, account, { reference, renewal: renewalOf(operation), surface, since, after });
}

/** Searches a payment's intent by its reference. Others can edit it, so another payment's intent is not accepted. */
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
  const owner = await ownerOfIntent(db, { connector: connector.name, connectorRef, reference });
  if (owner?.paymentId === reference) return found;
  return {
    kind: "unknown",
    cause: new Error(`the intent with the reference ${reference} belongs to ${owner?.paymentId}`),
  };
}

function reportOf(found: ProcessorAnswer<CreatedIntent>): ProcessorAnswer<IntentReport> {
  return isKnown(found) ? { ...found, value: found.value.report } : found;
}

/** Nothing proves that a processor without lists has not taken a payment. */
function paymentIn<T>({ replaysAnswers }: Connector, found: ProcessorAnswer<T>): ProcessorAnswer<T> {
  return replaysAnswers && found.kind === "not_found" ? { kind: "unknown", cause: found.cause } : found;
}

interface Calls<T> {
  readonly find: () => Promise<ProcessorAnswer<T>>;
  /** undefined: it cannot be resent. */
  readonly send: ((key: string) => Promise<ProcessorAnswer<T>>) | undefined;
  /** The processor does it only once, even under another key: the object's state shows that it is done. */
  readonly isOnceByItself?: true;
}

// Leaves room for differing clocks: within this share of its life the processor certainly keeps a key.
const resendShare = 1 / 2;

async function makeOnce<T>(command: Command, { find, send, isOnceByItself }: Calls<T>): Promise<CommandResult<T>> {
  const { db, connector, operation } = command;
  const mayResend = operation.keyAgeSeconds < connector.keyLifeSeconds * resendShare;
  if (connector.replaysAnswers && send && mayResend) return await replayAnswer(command, send);
  if (operation.tried) {
    const found = await searchProcessor(command, find);
    if (found.kind !== "unknown" || !found.isEmpty || !mayResend || !send) return found;
    if (!(await recordResend(db, operation))) return found;
  }
  if (!send) return await searchProcessor(command, find);
  noteBegun();
  const sent = await send(processorKey(operation));
  if (isKnown(sent) || (!operation.tried && sent.kind !== "unknown")) return sent;
  // An earlier send whose answer was lost may have succeeded, and so caused this refusal.
  if (sent.kind === "declined") {
    const found = await searchProcessor(command, find);
    return found.kind === "unknown" && found.isEmpty ? sent : found;
  }
  await recordDoubt(db, operation.id, "cause" in sent ? String(sent.cause) : "no answer");
  crashPoint("make-at-processor.1-in-doubt");
  const found = await searchProcessor(command, find);
  // An error that the processor has stored under the key is repeated as long as it keeps the key.
  const isInVain = isOnceByItself && operation.tried && found.kind === "unknown" && found.isEmpty;
  if (isInVain) await takeNextKey(db, operation);
  return found;
}

/** Sends the command under its key, whose first answer comes again: it is the outcome, also if it is a refusal. */
async function replayAnswer<T>(
  { db, operation }: Command,
  send: NonNullable<Calls<T>["send"]>,
): Promise<CommandResult<T>> {
  // Another run has taken a new key.
  if (operation.tried && !(await recordResend(db, operation)))
    return unknownBy({ kind: "unknown", cause: "a new key" });
  noteBegun();
  const sent = await send(processorKey(operation));
  if (isKnown(sent) || sent.kind === "declined" || (!operation.tried && sent.kind !== "unknown")) return sent;
  await recordDoubt(db, operation.id, "cause" in sent ? String(sent.cause) : "no answer");
  crashPoint("make-at-processor.1-in-doubt");
  return unknownBy(sent);
}

/** Searches by our reference. `isEmpty`: one complete search found nothing, which is not proof yet. */
async function searchProcessor<T>(
  { db, connector: { keyLifeSeconds }, operation }: Command,
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
