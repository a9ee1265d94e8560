// One buyer among many is erased: the address is in no table, event or log, journal and audit log are
// as before, and the books agree.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { checkJournal } from "../../services/payments/jobs/check-journal.ts";
import { makePurchase } from "../console/purchases.ts";
import { inDatabase, openDatabase } from "../harness/database.ts";
import { eventually } from "../harness/eventually.ts";
import { findText } from "../harness/files/find-text.ts";
import { freshMerchant, type TestMerchant } from "../harness/merchant.ts";
import { startReceiver } from "../harness/receiver.ts";
import { startTestStack } from "../harness/stack.ts";
import { suite } from "../harness/suite.ts";

const test = suite("one buyer of many", { timeoutMs: 200_000 });
const [orders, everyNth, buyersAtOnce] = [400, 40, 8];
const person = newId("note").slice("note_".length);
let running: RunningStack;
let merchant: TestMerchant;

test.before(async () => {
  running = await startTestStack();
  merchant = await freshMerchant(running.stack);
});
test.after(() => running.stop());

/** A digest of all rows, in the order of their ids. */
async function digestOf(service: string, table: string, until: string): Promise<string> {
  const [row] = await inDatabase<{ digest: string }>(
    `${running.stack.database}_${service}`,
    `select md5(string_agg(t::text, ',' order by id)) as digest from ${table} t where id <= '${until}'`,
  );
  return row?.digest ?? "";
}

async function lastOf(service: string, table: string): Promise<string> {
  const statement = `select id::text from ${table} order by id desc limit 1`;
  const [row] = await inDatabase<{ id: string }>(`${running.stack.database}_${service}`, statement);
  return row?.id ?? "";
}

test("an erased buyer is nowhere, and journal, audit log and the other buyers are as before", async () => {
  const receiver = await startReceiver(running.stack.tls);
  const hook = { url: receiver.url, payload: "object", event_types: ["payment.succeeded"] };
  (await merchant.api.post("/v1/merchants/me/webhooks", hook)).expect(201);
  let next = 0;
  const buy = async () => {
    for (let i = next++; i < orders; i = next++) {
      const name = i % everyNth === 0 ? person : `buyer${i}`;
      const own = { customer_email: `${name}@example.com`, metadata: { name }, description: `Tree of ${name}` };
      await makePurchase(running.stack, merchant, own);
    }
  };
  await Promise.all(Array.from({ length: buyersAtOnce }, buy));
  await eventually("every delivery", () => receiver.received.length >= orders, { limitMs: 60_000 });
  const [entry, act] = [await lastOf("payments", "journal"), await lastOf("merchant", "audit_entries")];
  const digests = () =>
    Promise.all([digestOf("payments", "journal", entry), digestOf("merchant", "audit_entries", act)]);
  const before = await digests();
  assert.ok((await findText(running.stack, person)).length > 3);
  const withMerchant = await findText(running.stack, merchant.id);
  assert.ok(
    withMerchant.some((name) => name.startsWith("nats/")),
    "the search reads the streams",
  );

  const body = { customer_email: `${person.toUpperCase()}@example.com` };
  const erased = (await merchant.api.post("/v1/privacy/erasures", body)).expect(201);
  const counts = ["status", "payments", "sessions"].map((name) => erased.at(name));
  assert.deepEqual(counts, ["finished", orders / everyNth, orders / everyNth]);
  await eventually("no trace", async () => (await findText(running.stack, person)).length === 0, { limitMs: 30_000 });
  assert.deepEqual(await digests(), before);
  const [other] = await inDatabase<{ n: number }>(
    `${running.stack.database}_payments`,
    "select count(*)::int as n from payments where customer_email like 'buyer%' and metadata ->> 'name' like 'buyer%'",
  );
  assert.equal(other?.n, orders - orders / everyNth);
  const again = (await merchant.api.post("/v1/privacy/erasures", body)).expect(201);
  assert.deepEqual([again.at("status"), again.at("payments")], ["finished", 0]);
  const db = await openDatabase(`${running.stack.database}_payments`);
  const found: unknown[] = [];
  await checkJournal(db, (one) => found.push(one));
  assert.deepEqual(found, []);
  await db.close();
  await receiver.close();
});

test.run();
