// Reads each account's event list at the processor once a minute, which recovers lost webhooks within two. Events that
// a webhook delivered are skipped by id. Each read overlaps the one before, because entries can show up late.
import type { JobContext } from "#platform/process/job.ts";
import type { Connector, ProcessorAccount, ProcessorEvent } from "../connectors/connector.ts";
import { provenValue } from "../flows/accounts/ask-processor.ts";
import { applyProcessorEvent } from "../flows/receive-processor-event.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import type { Difference, FindingKind } from "../rules/statement.ts";
import { addNewCursors, claimCursors, countBehind, finishCursor } from "../store/processor/event-cursors.ts";
import { unknownEvents } from "../store/processor/processor-events.ts";
import { recordDifferences } from "../store/processor/statements.ts";

export interface PollDeps extends VerifyDeps {
  /** Pause between two reads of an account's list. */
  readonly eventPollSeconds: number;
}

const everyMs = 1_000;
// The maximum number of pages, each at its deadline.
const limitMs = 3_600_000;
const accountsMax = 20;
const eventsAtOnce = 5;
// Entries can appear after their own time; Stripe's within seconds.
const overlapMs = 300_000;
// 20,000 events a minute. More are a defect of ours or an attack.
const pagesMax = 200;
// An event that fails holds the list back for this long; then an alert calls a person.
const stuckMs = 86_400_000;
// Recheck for a connector without event list, since a later release may add one.
const withoutListSeconds = 3_600;
const leaseSeconds = 120;

/** Reads the lists that are due. @returns true: there may be more */
export async function pollEvents(deps: PollDeps): Promise<boolean> {
  await addNewCursors(deps.db, deps.accounts.takeUsed());
  const due = await claimCursors(deps.db, leaseSeconds, accountsMax);
  await Promise.all(due.map((cursor) => pollAccount(deps, cursor)));
  // Counts all accounts, because another replica may have read the others.
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
    deps.log.warn({ err: error, connector_account_id: accountId }, "event list not read; retrying");
    await finishCursor(deps.db, accountId, { readUntil, pauseSeconds, error: String(error) });
  }
}

/** @returns the processor's time up to which all events were applied */
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
    // The first read only finds the newest entry.
    if (after === "" || !since) break;
  }
  if (after !== "" && since) {
    const theirs = reached?.toISOString() ?? "";
    await raise(deps, account, { object: "account", ref: account.id, kind: "event_list_too_long", theirs });
  }
  return held && reached && held < reached ? held : reached;
}

/** @returns the time of the oldest event that must be read again */
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
        if (isStuck) {
          await raise(deps, account, { object: "event", ref: event.id, kind: "event_stuck", theirs: event.type });
        } else held = earlier(held, event.createdAt);
        deps.log.warn({ err: error, event_id: event.id, is_stuck: isStuck }, "listed event not applied");
      }
    }
  };
  await Promise.all(Array.from({ length: eventsAtOnce }, worker));
  return held;
}

async function raise(
  { db, metrics }: PollDeps,
  account: ProcessorAccount,
  found: Pick<Difference, "object" | "ref" | "theirs"> & { readonly kind: FindingKind },
): Promise<void> {
  metrics.moneyAlerts.inc({ kind: found.kind });
  await recordDifferences(db, account.id, [{ ...found, paymentId: "", ours: "" }]);
}

function earlier(a: Date | undefined, b: Date | undefined): Date | undefined {
  if (!a || !b) return a ?? b;
  return a < b ? a : b;
}
