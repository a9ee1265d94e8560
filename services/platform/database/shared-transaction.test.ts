// Works that share a transaction: said together is one statement, and where one fails all are done again by themselves.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { type Shared, shareTransaction, sharing } from "./shared-transaction.ts";
import { openTx, type SayMany, type Tx } from "./sql.ts";

const test = suite("shared transactions");

function heard() {
  const said: string[] = [];
  const tx = openTx(async (text) => {
    said.push(text);
    return [];
  });
  return { tx, said };
}

const sayer =
  (name: string): SayMany<string, string> =>
  async (sql, items) => {
    await sql.rows(`${name} ${items.join("")}`);
    return items.map((item) => item.toUpperCase());
  };
const [lock, save] = [sayer("lock"), sayer("save")];

const work = (object: string, run: (tx: Tx) => Promise<unknown>): Shared => ({ object, work: run });

test("what works say in the same turn is one statement each, in the order of a work's own, and each has its own answer", async () => {
  const { tx, said } = heard();
  const each = (item: string) =>
    work(item, async (shared) => {
      const locked = await shared.together(lock, item);
      const [saved, saidAlone] = await Promise.all([shared.together(save, locked), shared.rows(`alone ${item}`)]);
      return [saved, saidAlone];
    });
  const answers = await shareTransaction(tx, [..."abc"].map(each));
  assert.deepEqual(
    answers,
    [..."ABC"].map((item) => [item, []]),
  );
  assert.deepEqual(said.slice(1), ["lock abc", "alone a", "alone b", "alone c", "save ABC"]);
});

test("one work's failure is everybody's, and only once nobody says anything any more", async () => {
  const { tx, said } = heard();
  const works = [
    work("a", async () => Promise.reject(new Error("own"))),
    work("b", async (shared) => await shared.together(save, await shared.together(lock, "b"))),
  ];
  const failed = await shareTransaction(tx, works).catch((error: unknown) => error);
  assert.ok(sharing.isOfOne(failed));
  assert.deepEqual(said.slice(1), ["lock b", "save B"]);
});

test("a statement that is refused fails all who said it", async () => {
  const refusing = openTx(async () => Promise.reject(new Error("refused")));
  const told: unknown[] = [];
  const each = (item: string) =>
    work(item, async (shared) => await shared.together(lock, item).catch((error) => told.push(error.message)));
  await shareTransaction(refusing, [each("a"), each("b")]);
  assert.deepEqual(told, ["refused", "refused"]);
});

test("what the commit meets is known to be nobody's only where the server says that it did nothing", () => {
  assert.equal(sharing.isOfOne(Object.assign(new Error(), { code: "23514" })), true);
  assert.equal(sharing.isOfOne(Object.assign(new Error(), { code: "08006" })), false);
  assert.equal(sharing.isOfOne(new Error("Connection terminated")), false);
});

test.run();
