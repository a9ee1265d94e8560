// What stands in suspense about an intent is asked about again: reports overtake each other, and some never come. With
// a real PostgreSQL and a processor that answers as the test says.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { newId } from "#platform/values/id.ts";
import type { IntentReport, RefundReport } from "../../../services/payments/connectors/connector.ts";
import { type ReceiveDeps, takeInEvent } from "../../../services/payments/flows/receive-processor-event.ts";
import { lookAtSuspense } from "../../../services/payments/jobs/look-at-suspense.ts";
import {
  claimLooks,
  closeSuspense,
  type StoredSuspense,
  saveSuspense,
  suspenseAbout,
} from "../../../services/payments/store/suspense.ts";
import { freshDatabase } from "../../harness/database.ts";
import { suite } from "../../harness/suite.ts";
import { captured, noAnswer, owner, type Played, playedPayments, reportOf } from "./played.ts";

const test = suite("looks at what is set aside", { timeoutMs: 20_000 });
const at = new Date("2026-01-01T12:00:00Z");
let played: Played;
test.before(async () => {
  played = await playedPayments();
});
test.after(() => played.db.close());
test.beforeEach(() => played.db.rows("update suspense set next_look_at = null").then(() => {}));
test.afterEach(() => {
  Object.assign(played, { answers: {} });
  played.calls.length = 0;
});

const secondRef = (paymentId: string) => `pi_second_${paymentId}`;

function refundOf(paymentId: string, status: RefundReport["status"], amount = 1_000n): RefundReport {
  const text = { reference: "", reason: "", failureCode: "", failureMessage: "" };
  return { ...text, ref: `rf_${paymentId}`, amount, status, createdAt: at };
}

/** What the processor says of the second intent of a payment. */
function second(paymentId: string, ...refunds: readonly RefundReport[]): IntentReport {
  const paid = captured();
  const facts = [{ ...paid, attempt: { ...paid.attempt, ref: "at_2" } }];
  return reportOf(paymentId, { ref: secondRef(paymentId), facts, refunds });
}

const answer = (value: IntentReport) => ({ kind: "succeeded", value }) as const;

/** A payment that was paid twice: 1,000 are held. */
async function paidTwice(): Promise<string> {
  const id = await played.payment();
  await played.says(id, { facts: [captured()] });
  await played.says(id, second(id));
  return id;
}

async function itemAbout(ref: string): Promise<StoredSuspense> {
  return (await suspenseAbout(played.db, "simulator", ref))[0] ?? assert.fail(`no item about ${ref}`);
}

/** Of the item about an intent: where it stands, minor units that are held, minutes to its next look. */
async function stands(ref: string): Promise<readonly [is: string, held: number, minutes: number | undefined]> {
  const { id, state, resolution } = await itemAbout(ref);
  const [row] = await played.db.rows<{ held: string; minutes: number | null }>(
    `select round(extract(epoch from next_look_at - now()) / 60)::int as minutes,
       (select coalesce(sum(case kind when 'suspense_held' then amount else -amount end), 0) from journal
        where cause = s.id and kind in ('suspense_held', 'suspense_released')) as held
     from suspense s where id = $1`,
    [id],
  );
  return [`${state} ${resolution}`.trim(), Number(row?.held), row?.minutes ?? undefined];
}

/** Looks, as after the item's pause; one that needs no look gets none. @returns how often the processor was asked */
async function looked(ref: string): Promise<number> {
  const { id } = await itemAbout(ref);
  await played.db.rows("update suspense set next_look_at = now() where id = $1 and next_look_at is not null", [id]);
  const before = played.calls.length;
  assert.equal(await lookAtSuspense(played.deps), false);
  return played.calls.length - before;
}

/** Two events at once; the answer to the question of the first one is on its way until the second is taken in. */
async function overtaking(paymentId: string, older: RefundReport, newer: RefundReport): Promise<void> {
  const late = Promise.withResolvers<void>();
  const answers = [
    async () => late.promise.then(() => answer(second(paymentId, older))),
    async () => answer(second(paymentId, newer)),
  ];
  played.answers.retrieveIntent = async () => await answers.shift()?.();
  const deps: ReceiveDeps = played.deps;
  const account = await deps.accounts.byId("");
  const takeIn = async (name: string) =>
    await takeInEvent(deps, account, {
      id: `evt_${name}_${paymentId}`,
      createdAt: at,
      type: "refund.updated",
      report: undefined,
      intentRef: secondRef(paymentId),
      objectRef: older.ref,
    });
  const first = takeIn("first");
  await takeIn("second");
  late.resolve();
  await first;
}

for (const [older, newer, is, held] of [
  ["pending", "succeeded", "closed given_back", 0],
  ["succeeded", "failed", "open", 1_000],
] as const) {
  test(`of two webhooks the older answer settles last, ${older} after ${newer}: the next look mends it`, async () => {
    const id = await paidTwice();
    await overtaking(id, refundOf(id, older), refundOf(id, newer));
    played.answers.retrieveIntent = () => answer(second(id, refundOf(id, newer)));
    await looked(secondRef(id));
    assert.deepEqual((await stands(secondRef(id))).slice(0, 2), [is, held]);
  });
}

test("a refund that no event told of is taken in by the next look, and looked after once more", async () => {
  const id = await paidTwice();
  assert.deepEqual(await stands(secondRef(id)), ["open", 1_000, 1]);
  played.answers.retrieveIntent = (_account, ref) =>
    answer(ref === secondRef(id) ? second(id, refundOf(id, "succeeded")) : reportOf(id, { facts: [captured()] }));
  assert.equal(await looked(secondRef(id)), 1);
  assert.deepEqual(await stands(secondRef(id)), ["closed given_back", 0, 1]);
  assert.equal(await looked(secondRef(id)), 1);
  assert.deepEqual(await stands(secondRef(id)), ["closed given_back", 0, undefined], "it is over");
});

test("an open item of which a look finds nothing new is looked at again after a day", async () => {
  const id = await paidTwice();
  played.answers.retrieveIntent = () => answer(second(id));
  for (const _ of "twice") {
    assert.equal(await looked(secondRef(id)), 1);
    assert.deepEqual(await stands(secondRef(id)), ["open", 1_000, 1_440]);
  }
  await played.says(id, second(id, refundOf(id, "succeeded", 300n)));
  assert.deepEqual(await stands(secondRef(id)), ["open", 700, 1], "whoever changes it");
});

test("an item is looked at by one replica, also before its claim has committed", async () => {
  const id = await paidTwice();
  const [asked, told] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  played.answers.retrieveIntent = async () => {
    asked.resolve();
    await told.promise;
    return answer(second(id));
  };
  const one = looked(secondRef(id));
  await asked.promise;
  await lookAtSuspense(played.deps);
  assert.equal(played.calls.length, 1);
  told.resolve();
  await one;
  await played.db.rows("update suspense set next_look_at = now() where payment_id = $1", [id]);
  await played.db.transaction(async (tx) => {
    assert.equal((await claimLooks(tx, 5)).length, 1);
    assert.deepEqual(await claimLooks(played.db, 5), []);
  });
});

test("what changes beside a look is looked at after it, not a day later", async () => {
  const id = await paidTwice();
  played.answers.retrieveIntent = async () => {
    await played.says(id, second(id, refundOf(id, "succeeded", 300n)));
    return answer(second(id)); // from before the refund
  };
  assert.equal(await looked(secondRef(id)), 1);
  const [is, , minutes] = await stands(secondRef(id));
  assert.deepEqual([is, minutes], ["open", 1]);
});

test("what a person took with a release before is not looked at, also when it was taken during a look", async () => {
  const id = await played.payment();
  const report = reportOf(id, { amount: 900n, facts: [captured(900n)] });
  await played.says(id, report);
  const { id: suspenseId } = await itemAbout(report.ref);
  played.answers.retrieveIntent = async () => {
    played.answers.retrieveIntent = () => answer(report);
    const end = { resolution: "taken", operator: "ann", note: "" } as const;
    await played.db.transaction((tx) => closeSuspense(tx, suspenseId, end));
    return answer(report);
  };
  await looked(report.ref);
  const [is, , minutes] = await stands(report.ref);
  assert.deepEqual([is, minutes], ["closed taken", undefined]);
  assert.equal(await looked(report.ref), 0);
});

test("a processor that is away is asked again later, at last each hour, for as long as it takes, and nothing changes meanwhile", async () => {
  const id = await paidTwice();
  const away = async (...pauses: readonly number[]) => {
    played.answers.retrieveIntent = () => noAnswer;
    const [is, held] = await stands(secondRef(id));
    for (const minutes of pauses) {
      assert.equal(await looked(secondRef(id)), 1);
      assert.deepEqual(await stands(secondRef(id)), [is, held, minutes]);
    }
  };
  await away(1, 2, 4, 8, 16, 32, 60, 60);
  for (const _ of ["something new", "nothing new"]) {
    played.answers.retrieveIntent = () => answer(second(id, refundOf(id, "succeeded", 300n)));
    await looked(secondRef(id));
    await away(1, 2);
  }
});

test("an intent beside the payment's that its processor knows nothing of is asked about again like without an answer", async () => {
  const id = await paidTwice();
  played.answers.retrieveIntent = () => ({ kind: "not_found", at, cause: new Error("none") });
  for (const minutes of [1, 2]) {
    assert.equal(await looked(secondRef(id)), 1);
    assert.deepEqual(await stands(secondRef(id)), ["open", 1_000, minutes]);
  }
});

test("an intent that the processor still knows nothing of stays lost, and is looked for again after a day", async () => {
  const paymentId = await played.payment();
  const ref = `pi_lost_${paymentId}`;
  const where = { connector: "simulator", connectorAccountId: "mco_test", connectorRef: ref, currency: "EUR" };
  const nothing = { amount: 0n, returned: 0n, paidBy: "", kept: 0n, refundId: "" };
  const item = { ...owner, ...where, ...nothing, paymentId, id: newId("suspense"), kind: "lost_intent" } as const;
  await played.db.transaction((tx) => saveSuspense(tx, item));
  played.answers.retrieveIntent = () => ({ kind: "not_found", at, cause: new Error("none") });
  assert.equal(await looked(ref), 1);
  assert.deepEqual(await stands(ref), ["open", 0, 1_440]);
});

test("what stood in suspense before the migration is looked at within ten minutes, whatever it was but taken or a refund", async () => {
  const path = join(import.meta.dirname, "../../../services/payments/store/schema/0026-suspense-looks.sql");
  const client = new pg.Client((await freshDatabase("payments")).url);
  await client.connect();
  await client.query(
    `drop trigger suspense_is_looked_at_again on suspense; drop function schedule_suspense_look;
     alter table suspense drop column next_look_at, drop column unanswered_looks;
     set session_replication_role = replica;
     insert into suspense (id, kind, payment_id, merchant_id, environment, connector, connector_account_id, connector_ref,
       currency, amount, state, resolution, closed_at)
     select 'su_' || lpad(at::text, 26, '0'), kind, 'pay', 'mer', 1, 'simulator', 'mco', 'pi_' || at, 'EUR', 1,
       case resolution when '' then 'open' else 'closed' end, resolution, case when resolution <> '' then now() end
     from (values (1, 'second_charge', ''), (2, 'other_amount', 'given_back'), (3, 'other_amount', 'taken'), (4, 'second_refund', ''))
       as item (at, kind, resolution);
     set session_replication_role = default`,
  );
  await client.query(readFileSync(path, "utf8"));
  const { rows } = await client.query(
    `select connector_ref, next_look_at between now() and now() + interval '10 minutes' as soon from suspense order by id`,
  );
  await client.end();
  assert.deepEqual(
    rows.map(({ connector_ref, soon }) => [connector_ref, soon]),
    [
      ["pi_1", true],
      ["pi_2", true],
      ["pi_3", null],
      ["pi_4", null],
    ],
  );
});

test.run();
