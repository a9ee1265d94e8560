// An API POST, once per idempotency key: the first answer, also a 500, is kept in the statement that does the work, and repeated
// for every further call with that key. Fault switches go off here, before or after the work.
import { createHash } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { ApiTarget } from "../rules/fault.ts";
import { findKey, forgetKey, saveKey } from "../store/idempotency-keys.ts";
import type { KeyRow, OperationRow } from "../store/intent-writes.ts";
import { brokenConstraint } from "../store/pool.ts";
import { ApiFailure, broken } from "./failure.ts";
import type { Processor } from "./processor.ts";

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** What leaves: also whether it is a repeat, and whether it must never arrive. */
export interface SentAnswer {
  readonly status: number;
  /** JSON. */
  readonly text: string;
  readonly isReplay: boolean;
  readonly hangs: boolean;
}

export interface ApiCall {
  readonly target: ApiTarget;
  readonly account: string;
  readonly key: string | null;
  readonly path: string;
  readonly body: unknown;
  /** References that the call is about; asked only when a fault switch looks at them. */
  readonly references: () => Promise<readonly string[]>;
}

/** Given to the work: what it must write in its own statement. */
export interface Stamp {
  /** The row that keeps this answer for the key; undefined for a call without one. */
  key(answer: Answer): KeyRow | undefined;
  operation(object: { id: string; reference: string | null; intent: string }): OperationRow;
}

/** `isWritten`: the work has written the key's row. */
export type Work = (stamp: Stamp) => Promise<{ answer: Answer; isWritten: boolean }>;

const inProgress = new Set<string>();
const brokenAnswer: Answer = { status: 500, body: broken().body };

export async function answerOnce(processor: Processor, call: ApiCall, work: Work): Promise<SentAnswer> {
  if (call.key === null) return answerNow(processor, call, work);
  const name = `${call.account} ${call.key}`;
  if (inProgress.has(name)) {
    const message = "A request with this idempotency key is in progress.";
    throw new ApiFailure(409, "idempotency_error", "idempotency_key_in_use", message);
  }
  inProgress.add(name);
  try {
    return await answerNow(processor, call, work);
  } catch (error) {
    if (brokenConstraint(error) !== "idempotency_keys_pkey") throw error;
    return await repeat(processor, call, call.key, work);
  } finally {
    inProgress.delete(name);
  }
}

/** Does the work. Where the key is taken, its statement fails as a whole. */
async function answerNow(processor: Processor, call: ApiCall, work: Work): Promise<SentAnswer> {
  const faults = await takeFaults(processor, call);
  const fails = { before: faults.has("error_before"), after: faults.has("error_after") };
  const stamp: Stamp = {
    key: (answer) => keyRow(call, fails.after ? brokenAnswer : answer),
    operation: (object) => operationRow(call, object),
  };
  const done = fails.before ? { answer: brokenAnswer, isWritten: false } : await work(stamp);
  const row = stamp.key(done.answer);
  if (!done.isWritten && row) await saveKey(processor.db, row);
  const answer = fails.after ? brokenAnswer : done.answer;
  return {
    status: answer.status,
    text: JSON.stringify(answer.body),
    isReplay: false,
    hangs: faults.has("hang_after"),
  };
}

async function repeat(processor: Processor, call: ApiCall, key: string, work: Work): Promise<SentAnswer> {
  const stored = await findKey(processor.db, call.account, key);
  if (!stored || stored.is_old) {
    await forgetKey(processor.db, call.account, key);
    return answerNow(processor, call, work);
  }
  if (stored.fingerprint !== fingerprint(call)) {
    const message = "This idempotency key was used with other parameters.";
    throw new ApiFailure(400, "idempotency_error", "idempotency_key_reused", message);
  }
  return { status: stored.status, text: stored.body, isReplay: true, hangs: false };
}

/** Waits out the delays. @returns the kinds of the other switches that fire */
export async function takeFaults(
  processor: Processor,
  call: Pick<ApiCall, "target" | "account" | "references">,
): Promise<Set<string>> {
  const { faults, stopping } = processor;
  const references = faults.needsReferences ? await call.references() : [];
  const firing = await faults.take({ target: call.target, account: call.account, references });
  for (const fault of firing)
    if (fault.kind === "delay") await pause(fault.ms, undefined, { signal: stopping }).catch(() => {});
  return new Set(firing.map((fault) => fault.kind));
}

function keyRow(call: ApiCall, answer: Answer): KeyRow | undefined {
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

/** The same whatever the order of the members; bodies here are flat. */
function fingerprint(call: ApiCall): string {
  const members = Object.entries(call.body ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(`${call.path}\n${JSON.stringify(members)}`)
    .digest("base64url");
}
