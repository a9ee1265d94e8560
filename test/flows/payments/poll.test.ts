// Polling an account's event list at the processor: where it starts and ends, and how far it counts as read. A scripted
// connector answers for the processor.
import assert from "node:assert/strict";
import { register } from "prom-client";
import { Outbox } from "#platform/events/outbox.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { newId } from "#platform/values/id.ts";
import type { ProcessorEvent } from "../../../services/payments/connectors/connector.ts";
import { type PollDeps, pollEvents } from "../../../services/payments/jobs/poll-events.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import { isKnownEvent } from "../../../services/payments/store/processor/processor-events.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("reading event lists", { timeoutMs: 20_000 });
const accountId = "mco_test";
const began = new Date("2026-01-01T12:00:00Z");
const at = (seconds: number) => new Date(began.getTime() + seconds * 1_000);

const db = fixture(test, async () => await openDatabase((await freshDatabase("payments")).url));

/** @param isOurs it names an intent, which the processor does not show */
function event(seconds: number, isOurs = false): ProcessorEvent {
  const id = `evt_${newId("event").slice(4)}`;
  return { id, type: "intent.updated", createdAt: at(seconds), report: undefined, intentRef: isOurs ? "pi_1" : "" };
}

/** The list cannot be read. */
const unreadable = "unreadable";

interface PollResult {
  /** Requests for the list. */
  readonly requests: readonly (readonly [since: Date | undefined, after: string])[];
  readonly readUntil: Date;
  readonly alerts: number;
}

/** Polls a list with these pages once. */
async function read(
  pages: readonly (readonly ProcessorEvent[])[] | typeof unreadable,
  readUntil: Date,
): Promise<PollResult> {
  await db.rows(
    `insert into event_cursors (connector_account_id, read_until) values ($1, $2)
     on conflict (connector_account_id) do update set read_until = excluded.read_until, due_at = now()`,
    [accountId, readUntil.toISOString()],
  );
  const requests: [Date | undefined, string][] = [];
  const connector = {
    name: "simulator",
    retrieveIntent: async () => ({ kind: "unknown", cause: new Error("no answer") }),
    readEvents: async (_account: unknown, since: Date | undefined, after: string) => {
      requests.push([since, after]);
      if (pages === unreadable) return { kind: "unknown", cause: new Error("no answer") };
      const page = Number(after || "0");
      const next = page + 1 < pages.length ? String(page + 1) : "";
      return { kind: "succeeded", value: { events: pages[page] ?? [], next } };
    },
  };
  const before = await stuckAlerts();
  await runJob(connector);
  const [row] = await db.rows<{ until: string }>("select read_until as until from event_cursors", []);
  return { requests, readUntil: new Date(row?.until ?? 0), alerts: (await stuckAlerts()) - before };
}

/** Runs the job once. @param connector of due accounts */
async function runJob(connector: object = {}): Promise<void> {
  const account = { id: accountId, connector: "simulator" };
  const deps = {
    db,
    outbox: new Outbox({ namespace: "test", source: "payments" }),
    reconcileAfterSeconds: 30,
    eventPollSeconds: 60,
    log: createLog("test", "silent"),
    metrics: paymentsMetrics(register),
    accounts: { takeUsed: () => [], byId: async () => account },
    connectors: { get: () => connector, find: () => connector },
  };
  assert.equal(await pollEvents(deps as unknown as PollDeps), false);
}

async function stuckAlerts(): Promise<number> {
  const { values } = await paymentsMetrics(register).moneyAlerts.get();
  return values.find(({ labels }) => labels.kind === "event_stuck")?.value ?? 0;
}

const areKnown = (events: readonly ProcessorEvent[]) =>
  Promise.all(events.map(({ id }) => isKnownEvent(db, "simulator", id)));

test("a list is read from five minutes before its position to its end, and every event is applied", async () => {
  const events = [event(10), event(20), event(30)];
  const [first, second, third] = events.map((one) => [one]);
  assert(first && second && third);
  const { requests, readUntil } = await read([first, second, third], began);
  assert.deepEqual(requests, [
    [at(-300), ""],
    [at(-300), "1"],
    [at(-300), "2"],
  ]);
  assert.deepEqual(await areKnown(events), [true, true, true]);
  assert.deepEqual(readUntil, at(30));
});

test("an event that cannot be applied holds the list's position, and later events are applied", async () => {
  const events = [event(10), event(20, true), event(30), event(40, true), event(50)];
  const { readUntil } = await read([events], began);
  assert.deepEqual(await areKnown(events), [true, false, true, false, true]);
  assert.deepEqual(readUntil, at(20));
});

test("an event that cannot be applied for a day no longer holds the position, and raises an alert", async () => {
  const stuck = event(10, true);
  const day = 86_400;
  const waiting = await read([[stuck, event(10 + day)]], began);
  assert.deepEqual([waiting.readUntil, waiting.alerts], [at(10), 0]);
  const over = await read([[stuck, event(11 + day)]], began);
  assert.deepEqual([over.readUntil, over.alerts], [at(11 + day), 1]);
});

test("an account counts as behind from a failed poll until a successful one", async () => {
  const behind = async () => {
    const metric = await register.getSingleMetric("tollbooth_event_lists_behind")?.get();
    return metric?.values.map(({ value }) => value);
  };
  await read(unreadable, began);
  assert.deepEqual(await behind(), [1]);
  await runJob();
  assert.deepEqual(await behind(), [1], "nothing was due");
  await read([[event(10)]], began);
  assert.deepEqual(await behind(), [0]);
  await db.rows("insert into movement_cursors (connector_account_id, last_error) values ('mco_other', 'no right')", []);
  await read([[event(10)]], began);
  assert.deepEqual(await behind(), [1], "an account whose movements cannot be read");
});

test.run();
