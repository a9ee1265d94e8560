// Executes an API POST once per idempotency key, and answers a GET. The statement of the work stores the first answer,
// even a 500, and further calls with the key get it again. Fault switches fire here, before, during and after the work.
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { ApiFailure, internalFailure, notFound } from "../failure.ts";
import type { Processor } from "../processor.ts";
import { type ApiFaultKind, type ApiTarget, type CallKind, callFaultKinds } from "../rules/fault.ts";
import { findKey, forgetKey, saveKey } from "../store/idempotency-keys.ts";
import type { KeyRow, OperationRow } from "../store/intent-writes.ts";
import { brokenConstraint } from "../store/pool.ts";

export interface ApiCall extends FaultyCall {
  readonly key: string | null;
  readonly path: string;
  readonly body: unknown;
}

/** Rows that the work writes in its own statement. */
interface Stamp {
  /** Stores the answer for the key; undefined: the answer is not stored. */
  key(answer: PlannedAnswer): KeyRow | undefined;
  operation(object: { id: string; reference: string | null; intent: string }): OperationRow;
}

/** `isWritten`: the work has written the key's row. */
export type Work = (stamp: Stamp) => Promise<{ answer: PlannedAnswer; isWritten: boolean }>;

export async function answerOnce(processor: Processor, call: ApiCall, work: Work): Promise<SentAnswer> {
  const release = holdKey(processor, call);
  let isHeldOn = false;
  try {
    const firing = await takeFaults(processor, call, "change");
    if (firing.has("edge_error")) return edgeAnswer(503);
    assertLetIn(firing);
    const earlyMs = firing.get("answer_early");
    if (earlyMs === undefined) return await answerKey(processor, call, work, firing);
    isHeldOn = true; // the key stays in use until the work is done
    processor.later.start(earlyMs, () => answerKey(processor, call, work, new Map()).finally(release));
    return edgeAnswer(502);
  } finally {
    if (!isHeldOn) release();
  }
}

/** Allows one call at a time per key. @returns the release @throws ApiFailure 409 */
function holdKey({ keysInUse }: Processor, call: ApiCall): () => void {
  if (call.key === null) return () => {};
  const name = `${call.account} ${call.key}`;
  if (keysInUse.has(name)) {
    const message = "A request with this idempotency key is in progress.";
    throw new ApiFailure(409, "idempotency_error", "idempotency_key_in_use", message);
  }
  keysInUse.add(name);
  return () => void keysInUse.delete(name);
}

async function answerKey(processor: Processor, call: ApiCall, work: Work, firing: Firing): Promise<SentAnswer> {
  try {
    return await answerNow(processor, call, work, firing);
  } catch (error) {
    if (call.key === null || brokenConstraint(error) !== "idempotency_keys_pkey") throw error;
    return await repeatAnswer(processor, call, call.key, work, firing);
  }
}

async function answerNow(processor: Processor, call: ApiCall, work: Work, firing: Firing): Promise<SentAnswer> {
  const duringMs = firing.get("error_during");
  const isBroken = firing.has("error_after");
  const stamp: Stamp = {
    key: (answer) => keyRow(call, isBroken ? brokenAnswer : answer),
    operation: (object) => operationRow(call, object),
  };
  const isBrokenFirst = firing.has("error_before") || duringMs !== undefined;
  const done = isBrokenFirst ? { answer: brokenAnswer, isWritten: false } : await work(stamp);
  const row = stamp.key(done.answer);
  if (!done.isWritten && row) await saveKey(processor.db, row);
  // The key keeps its 500, so the delayed work stores no answer.
  if (duringMs !== undefined) processor.later.start(duringMs, () => work({ ...stamp, key: () => undefined }));
  return sentAnswer(isBroken ? brokenAnswer : done.answer, firing);
}

async function repeatAnswer(
  processor: Processor,
  call: ApiCall,
  key: string,
  work: Work,
  firing: Firing,
): Promise<SentAnswer> {
  const stored = await findKey(processor.db, call.account, key, processor.keySeconds);
  if (!stored || stored.is_old) {
    await forgetKey(processor.db, call.account, key);
    return answerNow(processor, call, work, firing);
  }
  if (stored.fingerprint !== fingerprint(call)) {
    const message = "This idempotency key was used with other parameters.";
    throw new ApiFailure(400, "idempotency_error", "idempotency_key_reused", message);
  }
  return replayedAnswer(stored);
}

function keyRow(call: ApiCall, answer: PlannedAnswer): KeyRow | undefined {
  if (call.key === null) return undefined;
  return {
    account: call.account,
    key: call.key,
    fingerprint: fingerprint(call),
    status: answer.status,
    body: JSON.stringify(answer.body),
    created_at: new Date().toISOString(),
  };
}

function operationRow(call: ApiCall, object: { id: string; reference: string | null; intent: string }): OperationRow {
  return {
    account: call.account,
    kind: call.target.slice("api.".length),
    idempotency_key: call.key,
    reference: object.reference,
    object_id: object.id,
    intent_id: object.intent,
    created_at: new Date().toISOString(),
  };
}

/** Independent of the order of members; bodies are flat. */
function fingerprint(call: ApiCall): string {
  const members = Object.entries(call.body ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(`${call.path}\n${JSON.stringify(members)}`)
    .digest("base64url");
}

export interface ReadCall extends FaultyCall {
  readonly does: "look" | "list";
}

/** @param read for a list: `shownUntil` hides younger objects */
export async function answerRead(
  processor: Processor,
  call: ReadCall,
  read: (shownUntil: Date | undefined) => Promise<unknown>,
): Promise<SentAnswer> {
  const firing = await takeFaults(processor, call, call.does);
  if (firing.has("edge_error")) return edgeAnswer(503);
  assertLetIn(firing);
  if (firing.has("error_before")) return sentAnswer(brokenAnswer, firing);
  if (firing.has("missing")) throw notFound("object");
  const staleMs = firing.get("stale_list");
  const body = await read(staleMs === undefined ? undefined : new Date(Date.now() - staleMs));
  return sentAnswer(firing.has("error_after") ? brokenAnswer : { status: 200, body }, firing);
}

interface PlannedAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface SentAnswer {
  readonly status: number;
  readonly text: string;
  readonly type: "application/json; charset=utf-8" | "text/html";
  readonly isReplay: boolean;
  /** `never`: the caller waits until its timeout. `cut`: the connection breaks after the first bytes. */
  readonly arrives: "whole" | "never" | "cut";
}

const brokenAnswer: PlannedAnswer = { status: 500, body: internalFailure().body };

function sentAnswer(answer: PlannedAnswer, firing: Firing): SentAnswer {
  const arrives = firing.has("hang_after") ? "never" : firing.has("cut") ? "cut" : "whole";
  return jsonAnswer(answer.status, JSON.stringify(answer.body), { isReplay: false, arrives });
}

function replayedAnswer(stored: { readonly status: number; readonly body: string }): SentAnswer {
  return jsonAnswer(stored.status, stored.body, { isReplay: true, arrives: "whole" });
}

const edgeReasons = { 502: "Bad Gateway", 503: "Service Temporarily Unavailable" } as const;

/** The answer of a proxy in front of the processor, independent of the work. */
function edgeAnswer(status: keyof typeof edgeReasons): SentAnswer {
  const title = `${status} ${edgeReasons[status]}`;
  const text = `<html>\n<head><title>${title}</title></head>\n<body><center><h1>${title}</h1></center></body>\n</html>\n`;
  return { status, text, type: "text/html", isReplay: false, arrives: "whole" };
}

function jsonAnswer(status: number, text: string, rest: Pick<SentAnswer, "isReplay" | "arrives">): SentAnswer {
  return { status, text, type: "application/json; charset=utf-8", ...rest };
}

interface FaultyCall {
  readonly target: ApiTarget;
  readonly account: string;
  /** References of the call; read only if a fault switch filters by them. */
  readonly references: () => Promise<readonly string[]>;
}

/** Firing kinds with their milliseconds. */
type Firing = ReadonlyMap<string, number>;

async function takeFaults(processor: Processor, call: FaultyCall, does: CallKind): Promise<Firing> {
  const { faults, stopping } = processor;
  const references = faults.needsReferences ? await call.references() : [];
  const kinds: readonly ApiFaultKind[] = callFaultKinds[does];
  const firing = await faults.take({ target: call.target, account: call.account, references, kinds });
  for (const fault of firing)
    if (fault.kind === "delay") await pause(fault.ms, undefined, { signal: stopping }).catch(() => {});
  return new Map(firing.map((fault) => [fault.kind, fault.ms]));
}

/** @throws ApiFailure for a call that is rejected before any work and not stored */
function assertLetIn(firing: Firing): void {
  if (firing.has("too_many")) throw new ApiFailure(429, "rate_limit", "rate_limited", "Too many requests.");
  if (firing.has("conflict"))
    throw new ApiFailure(409, "invalid_request", "conflict", "Another request works on this object. Try again.");
}
