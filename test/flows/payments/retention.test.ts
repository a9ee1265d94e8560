// Fingerprints of cards end after their days, and nothing brings them back.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { endFingerprints } from "../../../services/payments/store/erasure.ts";
import { openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { merchantMoney } from "../../harness/payments/merchant-money.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";

const test = suite("retention of fingerprints", { timeoutMs: 30_000 });
const services = fixture(test, () => startMoneyServices({ ignoresEvents: true }));
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const money = fixture(test, () => merchantMoney(services, db));

const days = 396;

/** @returns the id of a paid payment that began this long ago */
async function paidAgo(ageDays: number): Promise<string> {
  const order = money.order();
  const paymentId = newId("payment", Date.now() - ageDays * 86_400_000);
  await services.payments.createIntent({ ...order, paymentId, sessionId: `cs_${paymentId.slice(4)}` });
  await money.pay(paymentId);
  await services.payments.verifyIntent({ paymentId });
  await db.rows("update payments set created_at = now() - make_interval(days => $2) where id = $1", [
    paymentId,
    ageDays,
  ]);
  return paymentId;
}

async function cardOf(paymentId: string): Promise<string[]> {
  const { card } = await money.record(paymentId);
  return [card?.brand ?? "", card?.last4 ?? "", card?.fingerprint ?? ""];
}

async function insertNotice(id: string, paymentId: string): Promise<void> {
  await db.rows(
    `insert into processor_notices (connector, environment, account, id, kind, ref, reference, happened_at, details)
     values ('adyen', 1, 'Shop', $1, 'payment', 'P1', $2, now(), '{"alias": "A1", "cardSummary": "1111"}')`,
    [id, paymentId],
  );
}

async function noticesWithAlias(): Promise<string[]> {
  const rows = await db.rows<{ id: string }>("select id from processor_notices where details ? 'alias' order by id");
  return rows.map(({ id }) => id);
}

test("the fingerprint of a card ends after its days; version, time of the last change, events and a younger payment stay", async () => {
  const [old, young] = [await paidAgo(397), await paidAgo(395)];
  await insertNotice("1", old);
  // Its payment was archived.
  await insertNotice("2", newId("payment", Date.now() - 398 * 86_400_000));
  await insertNotice("3", young);
  await insertNotice("4", "another reference");
  const read = async () => {
    const rows = await db.rows("select version, updated_at, status from payments where id in ($1, $2) order by id", [
      old,
      young,
    ]);
    const [events] = await db.rows<{ n: string }>("select count(*) as n from outbox");
    return { rows, events };
  };
  const [before, card] = [await read(), await cardOf(young)];
  assert.equal(card.includes(""), false);
  assert.deepEqual(await cardOf(old), card);
  await db.rows("update retention_cursor set after = ''");
  await eventually("the fingerprint to end", async () => {
    await endFingerprints(db, days);
    return (await cardOf(old))[2] === "";
  });
  assert.deepEqual(await cardOf(old), [...card.slice(0, 2), ""]);
  assert.deepEqual(await cardOf(young), card);
  assert.deepEqual(await read(), before);
  assert.deepEqual(await noticesWithAlias(), ["3", "4"]);
});

test("a late report of the processor does not bring back a fingerprint that has ended", async () => {
  const [old, young] = [await paidAgo(397), await paidAgo(395)];
  await db.rows("update retention_cursor set after = ''");
  await eventually("the fingerprint to end", async () => {
    await endFingerprints(db, days);
    return (await cardOf(old))[2] === "";
  });
  await db.rows("update payments set card_fingerprint = 'fp_new' where id in ($1, $2)", [old, young]);
  assert.deepEqual([(await cardOf(old))[2], (await cardOf(young))[2]], ["", "fp_new"]);
  await db.rows("delete from processor_notices");
  await insertNotice("1", old);
  await insertNotice("2", young);
  assert.deepEqual(await noticesWithAlias(), ["2"]);
});

test("a payment whose card is another has a new version, with the end of its fingerprint or without", async () => {
  const paymentId = await paidAgo(0);
  const version = async () => {
    const [row] = await db.rows<{ version: string }>("select version from payments where id = $1", [paymentId]);
    return Number(row?.version);
  };
  const before = await version();
  await db.rows("update payments set card_fingerprint = null, card_last4 = null where id = $1", [paymentId]);
  await db.rows("update payments set card_fingerprint = 'fp_new', card_last4 = '4444' where id = $1", [paymentId]);
  assert.equal(await version(), before + 2);
});

test.run();
