// Works that share a transaction: said together is one statement, and where one fails all are done again by themselves.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type SharedWork, shareTransaction, sharingRules } from "./shared-transaction.ts";
import { type BulkQuery, openTx, type Tx } from "./sql.ts";

const test = suite("shared transactions");

function openRecordingTx() {
  const statements: string[] = [];
  const tx = openTx(async (text) => {
    statements.push(text);
    return [];
  });
  return { tx, statements };
}

const bulkQuery =
  (name: string): BulkQuery<string, string> =>
  async (sql, items) => {
    await sql.rows(`${name} ${items.join("")}`);
    return items.map((item) => item.toUpperCase());
  };
const [lock, save] = [bulkQuery("lock"), bulkQuery("save")];

const work = (object: string, run: (tx: Tx) => Promise<unknown>): SharedWork => ({ object, work: run });

test("what works say in the same turn is one statement each, in the order of a work's own, and each has its own answer", async () => {
  const { tx, statements } = openRecordingTx();
  const each = (item: string) =>
    work(item, async (shared) => {
      const locked = await shared.together(lock, item);
      const [saved, single] = await Promise.all([shared.together(save, locked), shared.rows(`alone ${item}`)]);
      return [saved, single];
    });
  const answers = await shareTransaction(tx, [..."abc"].map(each));
  assert.deepEqual(
    answers,
    [..."ABC"].map((item) => [item, []]),
  );
  assert.deepEqual(statements.slice(1), ["lock abc", "alone a", "alone b", "alone c", "save ABC"]);
});

test("one work's failure is everybody's, and only once nobody says anything any more", async () => {
  const { tx, statements } = openRecordingTx();
  const works = [
    work("a", async () => Promise.reject(new Error("own"))),
    work("b", async (shared) => await shared.together(save, await shared.together(lock, "b"))),
  ];
  const failed = await shareTransaction(tx, works).catch((error: unknown) => error);
  assert.ok(sharingRules.isOfOne(failed));
  assert.deepEqual(statements.slice(1), ["lock b", "save B"]);
});

test("a statement that is refused fails all who said it", async () => {
  const refusing = openTx(async () => Promise.reject(new Error("refused")));
  const messages: unknown[] = [];
  const each = (item: string) =>
    work(item, async (shared) => await shared.together(lock, item).catch((error) => messages.push(error.message)));
  await shareTransaction(refusing, [each("a"), each("b")]);
  assert.deepEqual(messages, ["refused", "refused"]);
});

test("what the commit meets is known to be nobody's only where the server says that it did nothing", () => {
  assert.equal(sharingRules.isOfOne(Object.assign(new Error(), { code: "23514" })), true);
  assert.equal(sharingRules.isOfOne(Object.assign(new Error(), { code: "08006" })), false);
  assert.equal(sharingRules.isOfOne(new Error("Connection terminated")), false);
});

test.run();
