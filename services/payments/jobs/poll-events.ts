// Reads each account's own event list once a minute, so that a webhook that was lost, or held back for ever, is made
// good within two. What a webhook brought is known by its id and passed over. The list is read by the processor's
// clock, a little further back than it was read before, since entries can show up late.

import type { JobContext } from "#platform/process/job.ts";
import type { Connector, ProcessorAccount, ProcessorEvent } from "../connectors/connector.ts";
import { provenValue } from "../flows/accounts/ask-processor.ts";
import { applyProcessorEvent, type ReceiveDeps } from "../flows/receive-processor-event.ts";
import { claimCursors, countBehind, finishCursor, takeUpCursors } from "../store/processor/event-cursors.ts";
import { unknownEvents } from "../store/processor/processor-events.ts";

export interface PollDeps extends ReceiveDeps {
  /** Pause between two looks at an account's list. */
  readonly eventPollSeconds: number;
}

const everyMs = 1_000;
// As many pages as a run reads of an account, each at its deadline.
const limitMs = 3_600_000;
const accountsMax = 20;
const eventsAtOnce = 5;
// Entries show up later than their time says; Stripe's within seconds.
const overlapMs = 300_000;
// 20,000 events of a minute; an account with more is a defect of ours or an attack.
const pagesMax = 200;
// An event that could not be taken in holds the list back no longer than this; then a person looks.
const stuckMs = 86_400_000;
// An account without a list is looked at again when a release may have taught its connector to read one.
const withoutListSeconds = 3_600;
const leaseSeconds = 120;

/** The lists that are due. @returns true when there may be more. */
export async function pollEvents(deps: PollDeps): Promise<boolean> {
  await takeUpCursors(deps.db, deps.accounts.takeUsed());
  const due = await claimCursors(deps.db, leaseSeconds, accountsMax);
  await Promise.all(due.map((cursor) => pollAccount(deps, cursor)));
  // Of all accounts, those included that are not due now or that another replica looked at.
  deps.metrics.eventListsBehind.set(await countBehind(deps.db));
  return due.length === accountsMax;
}

export function pollEventsJob(deps: PollDeps): JobContext {
  return { name: "poll-events", everyMs, limitMs, runOnce: () => pollEvents(deps) };
}

async function pollAccount(
  deps: PollDeps,
  { accountId, readUntil }: { accountId: string; readUntil: Date | undefined },
): Promise<void> {
  const pauseSeconds = deps.eventPollSeconds;
  try {
    const account = await deps.accounts.byId(accountId);
    const connector = deps.connectors.find(account.connector);
    if (!connector?.readEvents) {
      return await finishCursor(deps.db, accountId, { readUntil, pauseSeconds: withoutListSeconds, error: "" });
    }
    const reached = await readList(deps, connector, account, readUntil);
    await finishCursor(deps.db, accountId, { readUntil: reached, pauseSeconds, error: "" });
  } catch (error) {
    deps.log.warn({ err: error, connector_account_id: accountId }, "an event list could not be read; trying again");
    await finishCursor(deps.db, accountId, { readUntil, pauseSeconds, error: String(error) });
  }
}

/** @returns the processor's time up to which everything was taken in. */
async function readList(
  deps: PollDeps,
  connector: Connector,
  account: ProcessorAccount,
  readUntil: Date | undefined,
): Promise<Date | undefined> {
  const since = readUntil && new Date(readUntil.getTime() - overlapMs);
  let reached = readUntil;
  let held: Date | undefined;
  let after = "";
  for (let pages = 0; pages < pagesMax; pages++) {
    const answer = await connector.readEvents?.(account, since, after);
    if (!answer) break;
    const page = provenValue(answer);
    held = earlier(held, await applyPage(deps, account, page.events));
    for (const { createdAt } of page.events) reached = reached && reached > createdAt ? reached : createdAt;
    after = page.next;
    // The first look only learns where the list stands.
    if (after === "" || !since) break;
  }
  if (after !== "" && since) deps.metrics.moneyAlerts.inc({ kind: "event_list_too_long" });
  return held && reached && held < reached ? held : reached;
}

/** @returns the time of the oldest event that has to come again. */
async function applyPage(
  deps: PollDeps,
  account: ProcessorAccount,
  events: readonly ProcessorEvent[],
): Promise<Date | undefined> {
  const unknown = await unknownEvents(
    deps.db,
    account.connector,
    events.map(({ id }) => id),
  );
  const waiting = events.filter(({ id }) => unknown.has(id)).values();
  const newestMs = Math.max(0, ...events.map(({ createdAt }) => createdAt.getTime()));
  let held: Date | undefined;
  const worker = async () => {
    for (const event of waiting) {
      try {
        await applyProcessorEvent(deps, account, event);
      } catch (error) {
        const isStuck = newestMs - event.createdAt.getTime() > stuckMs;
        if (isStuck) deps.metrics.moneyAlerts.inc({ kind: "event_stuck" });
        else held = earlier(held, event.createdAt);
        deps.log.warn({ err: error, event_id: event.id, is_stuck: isStuck }, "a listed event could not be taken in");
      }
    }
  };
  await Promise.all(Array.from({ length: eventsAtOnce }, worker));
  return held;
}

function earlier(a: Date | undefined, b: Date | undefined): Date | undefined {
  if (!a || !b) return a ?? b;
  return a < b ? a : b;
}
