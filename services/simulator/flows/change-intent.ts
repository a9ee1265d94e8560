// Changes an intent: 1. read it, 2. let a rule decide, 3. write the change with its money and events at once, if the
// version is still the one that was read. A rerun from 1 is safe. Callers of one intent are queued.
import { ApiFailure, notFound, outageFailure } from "../failure.ts";
import { newId } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import { presentIntent } from "../routes/intent-json.ts";
import type { Change, DelayedFact, EventType, Intent, Refusal } from "../rules/intent.ts";
import { type Movement, movementsBetween } from "../rules/movement.ts";
import { type Along, type NewDelayedFact, type NewEvent, updateIntent } from "../store/intent-writes.ts";
import { findIntent } from "../store/intents.ts";
import type { NewMovement } from "../store/movements.ts";

/** Refused or without effect (`change` null): nothing was written. */
type ChangeResult =
  | { readonly intent: Intent; readonly refusal: null; readonly change: Change | null }
  | { readonly intent: Intent; readonly refusal: Refusal; readonly change: null };

interface ChangeOptions {
  readonly along?: (next: Intent) => Pick<Along, "key" | "operation" | "doneFactId">;
  /** The intent if the caller has just read it. */
  readonly known?: Intent;
}

const triesMax = 10; // each retry needs a concurrent change by another process

/**
 * @param decide the rule; null: nothing to do
 * @throws ApiFailure 404: no such intent; 503: the processor is "down" for it
 */
export async function changeIntent(
  processor: Processor,
  id: string,
  decide: (intent: Intent) => Change | Refusal | null,
  { along, known }: ChangeOptions = {},
): Promise<ChangeResult> {
  return inTurn(id, async () => {
    for (let tries = 0; tries < triesMax; tries++) {
      const before = tries === 0 && known ? known : await findIntent(processor.db, id);
      if (!before) throw notFound("intent");
      assertNoOutage(before.outage_until);
      const change = decide(before);
      if (change === null) return { intent: before, refusal: null, change };
      if ("refused" in change) return { intent: before, refusal: change, change: null };
      const written = { ...along?.(change.intent), ...consequencesOf(processor, before, change) };
      if (await updateIntent(processor.db, before, change.intent, written)) {
        wakeFor(processor, change);
        return { intent: change.intent, refusal: null, change };
      }
    }
    throw new ApiFailure(429, "rate_limit", "lock_timeout", "Too many changes of this object at once.");
  });
}

/** Rows that are written with a change. @param before the intent that it changes */
export function consequencesOf(
  processor: Processor,
  before: Intent,
  change: Change,
): Required<Pick<Along, "movements" | "events" | "delayed">> {
  const moved = movementsBetween(before, change.intent);
  return {
    movements: moved.map((movement) => newMovement(movement, processor.settlementSeconds)),
    events: change.events.map((type) => newEvent(change.intent, type, processor.publicUrl)),
    delayed: (change.delayed ?? []).map((fact) => newDelayedFact(fact, processor.delayMs)),
  };
}

export function wakeFor(processor: Processor, change: Change): void {
  if (change.events.length > 0) processor.wakeSender();
  // A fact with its own time is days away, which polling covers.
  for (const fact of change.delayed ?? []) if (!fact.at) processor.wakeClock(fact.delays * processor.delayMs);
}

/** The outage card makes the processor "down" for one intent. */
export function assertNoOutage(until: string | null): void {
  if (until !== null && Date.parse(until) > Date.now()) throw outageFailure();
}

function newEvent(intent: Intent, type: EventType, publicUrl: string): NewEvent {
  const id = newId("evt");
  const created_at = new Date().toISOString();
  const data = { intent: presentIntent(intent, publicUrl) };
  return { id, type, created_at, body: JSON.stringify({ id, type, account: intent.account, created_at, data }) };
}

/** Only a capture waits until it can be paid out. */
function newMovement(movement: Movement, settlementSeconds: number): NewMovement {
  const now = Date.now();
  const waitMs = movement.type === "capture" ? settlementSeconds * 1_000 : 0;
  const times = { created_at: new Date(now).toISOString(), available_at: new Date(now + waitMs).toISOString() };
  return { ...movement, ...times, id: newId("txn") };
}

function newDelayedFact(fact: DelayedFact, delayMs: number): NewDelayedFact {
  const due_at = fact.at ?? new Date(Date.now() + fact.delays * delayMs).toISOString();
  return { id: newId("fact"), kind: fact.kind, object_id: fact.object_id, due_at };
}

const turns = new Map<string, Promise<unknown>>();

/** Runs callers with the same name in sequence, which saves retries of the versioned update. */
async function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  const turn = (turns.get(name) ?? Promise.resolve()).then(work, work);
  turns.set(name, turn);
  try {
    return await turn;
  } finally {
    if (turns.get(name) === turn) turns.delete(name);
  }
}
