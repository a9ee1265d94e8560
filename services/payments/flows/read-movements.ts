// Reads what a processor did with an account's money. Phases, each safe to rerun: 1 read a page of movements · 2 insert
// it · 3 read a page of payouts · 4 save each with its event · 5 read the movements of a payout that left · 6 assign
// them · 7 store its sum. Reads overlap, since entries can appear after their own time.
import type { Database } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockNow } from "#platform/values/clock.ts";
import { newId } from "#platform/values/id.ts";
import type { BalanceReader, ListPage } from "../connectors/balance-reader.ts";
import type { ProcessorAccount, ProcessorAnswer } from "../connectors/connector.ts";
import type { ProcessorPayout } from "../rules/movement.ts";
import { nextPayoutStatus, payoutEvent } from "../rules/payout.ts";
import type { MovementCursor } from "../store/processor/movement-cursors.ts";
import { assignToPayout, insertMovements } from "../store/processor/movements.ts";
import {
  lockPayout,
  oldestOpenPayout,
  reconcilePayout,
  savePayout,
  unreconciledPayouts,
} from "../store/processor/payouts.ts";
import { provenValue } from "./accounts/ask-processor.ts";

export interface ReadDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly log: Log;
}

const overlapMs = 3_600_000;
// A payout whose movements do not all appear is reconciled with what is here.
const linesPatienceSeconds = 3 * 86_400;
const payoutsAtOnce = 50;

/** @throws Failure CONNECTOR_ERROR: a list could not be read; what was read is stored. */
export async function readMovements(
  deps: ReadDeps,
  reader: BalanceReader,
  account: ProcessorAccount,
  cursor: MovementCursor,
): Promise<MovementCursor> {
  const { movementsUntil, payoutsUntil } = cursor;
  let [lastMovement, lastPayout] = [movementsUntil, payoutsUntil];
  const since = overlapped(movementsUntil);
  await readPages(
    (after) => reader.readMovements(account, since, after),
    async (page) => {
      await deps.db.transaction((tx) => insertMovements(tx, account, page));
      for (const { occurredAt } of page) lastMovement = later(lastMovement, occurredAt);
    },
  );
  const oldestOpen = await oldestOpenPayout(deps.db, account.id);
  const payoutsSince = overlapped(earlier(oldestOpen, payoutsUntil));
  await readPages(
    (after) => reader.readPayouts(account, payoutsSince, after),
    async (page) => {
      for (const payout of page) {
        await recordPayout(deps, account, payout);
        lastPayout = later(lastPayout, payout.createdAt);
      }
    },
  );
  for (const payout of await unreconciledPayouts(deps.db, account.id, payoutsAtOnce)) {
    await reconcile(deps, reader, account, payout);
  }
  return { ...cursor, movementsUntil: lastMovement, payoutsUntil: lastPayout };
}

async function readPages<T>(
  read: (after: string) => Promise<ProcessorAnswer<ListPage<T>>>,
  store: (items: readonly T[]) => Promise<void>,
): Promise<void> {
  let after = "";
  do {
    const { items, next } = provenValue(await read(after));
    await store(items);
    after = next;
  } while (after !== "");
}

/** Saves a payout with the event of its change. */
async function recordPayout(
  { db, outbox }: ReadDeps,
  account: ProcessorAccount,
  reported: ProcessorPayout,
): Promise<void> {
  const { id: connectorAccountId, merchantId, environment } = account;
  const { arrivesAt, ...same } = reported;
  await db.transaction(async (tx) => {
    const known = await lockPayout(tx, connectorAccountId, reported.ref);
    const status = nextPayoutStatus(known?.status, reported.status);
    const id = known?.id ?? newId("payout");
    const arrivalDate = arrivesAt.toISOString().slice(0, 10);
    await savePayout(tx, { ...same, id, merchantId, environment, connectorAccountId, status, arrivalDate });
    const event = payoutEvent(known?.status, status);
    if (!event) return;
    const { amount, currency } = reported;
    const announced = { merchantId, environment, objectId: id, status, money: { amount, currency } };
    await outbox.append(tx, [{ ...announced, type: `payout.${event}`, at: clockNow() }]);
  });
}

/** Assigns a payout's movements once the processor has listed them. */
async function reconcile(
  { db, log }: ReadDeps,
  reader: BalanceReader,
  account: ProcessorAccount,
  { id, ref, ageSeconds }: { readonly id: string; readonly ref: string; readonly ageSeconds: number },
): Promise<void> {
  let isComplete = true;
  let after = "";
  do {
    const answer = await reader.readPayoutLines(account, ref, after);
    if (answer.kind === "pending") return;
    const { items, next } = provenValue(answer);
    const known = await assignToPayout(db, account.id, id, items);
    if (known < items.length) isComplete = false;
    after = next;
  } while (after !== "");
  if (!isComplete && ageSeconds < linesPatienceSeconds) return;
  const rest = await reconcilePayout(db, id);
  if (rest !== 0n) log.warn({ payout_id: id, unattributed: String(rest) }, "payout not explained by its movements");
}

function overlapped(time: Date | undefined): Date | undefined {
  return time && new Date(time.getTime() - overlapMs);
}

function later(a: Date | undefined, b: Date): Date {
  return a && a > b ? a : b;
}

function earlier(a: Date | undefined, b: Date | undefined): Date | undefined {
  if (!a || !b) return b;
  return a < b ? a : b;
}
