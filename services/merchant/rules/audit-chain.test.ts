import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { membersOf } from "#platform/values/unchecked.ts";
import { suite } from "../../../test/harness/suite.ts";
import {
  advancePosition,
  type ChainedEntry,
  type ChainPosition,
  entryBytes,
  followChain,
  type Link,
  missingTail,
  origin,
} from "./audit-chain.ts";

const test = suite("audit chain");
const example: ChainedEntry = {
  id: "evt_1",
  occurredMicros: "1700000000000001",
  merchantId: "mer_1",
  environment: 2,
  actor: "ak_1",
  requestId: "req_1",
  action: "refund.requested",
  objectId: "re_1",
  status: "pending",
  details: { note: "é", amount: "400" },
};

const text = fc.string({ unit: "binary", maxLength: 6 }).map((each) => each.toWellFormed());
const entries = fc.record({
  id: text,
  occurredMicros: text,
  merchantId: text,
  environment: fc.integer({ min: 0, max: 2 }),
  actor: text,
  requestId: text,
  action: text,
  objectId: text,
  status: text,
  details: fc.dictionary(text, text, { maxKeys: 3 }),
});

function chained(list: readonly ChainedEntry[]): Link[] {
  let position: ChainPosition = origin;
  return list.map((entry, i) => {
    const bytes = entryBytes({ ...entry, merchantId: example.merchantId });
    position = advancePosition(position, bytes, i % 3 === 0);
    return { ...position, entryId: entry.id, isLate: i % 3 === 0, entry: bytes };
  });
}

const broken = (links: readonly Link[], heads: readonly ChainPosition[] = []) => {
  const { position, broken: found } = followChain(example.merchantId, origin, links, heads);
  return found ?? missingTail(position, heads);
};

test("computes the documented hash", () => {
  const field = (value: string) => {
    const bytes = Buffer.from(value);
    return `${bytes.length.toString(16).padStart(8, "0")}${bytes.toString("hex")}`;
  };
  const fields = ["evt_1", "1700000000000001", "mer_1", "2", "ak_1", "req_1", "refund.requested", "re_1", "pending"];
  const details = ["2", "amount", "400", "note", "é"];
  const expected = [...fields, ...details].map(field).join("");
  assert.equal(entryBytes(example).toString("hex"), expected);
  const hex = `0101${"ab".repeat(32)}0000000000000007${expected}`;
  const before = { seq: 6n, hash: Buffer.alloc(32, 0xab) };
  const after = advancePosition(before, entryBytes(example), true);
  assert.equal(after.seq, 7n);
  assert.deepEqual(after.hash, createHash("sha256").update(Buffer.from(hex, "hex")).digest());
});

test("entries that differ have different bytes, whatever the order of their details", () => {
  const plain = (entry: ChainedEntry) =>
    JSON.stringify({ ...entry, details: Object.entries(membersOf(entry.details)).sort() });
  fc.assert(
    fc.property(entries, entries, (one, other) => {
      assert.equal(plain(one) === plain(other), entryBytes(one).equals(entryBytes(other)));
    }),
  );
  // Texts that an encoding without lengths would confuse, and values that only a forger can have written.
  const seen = new Set<string>();
  const variants: Partial<ChainedEntry>[] = [
    {},
    { actor: "ak_1req_1", requestId: "" },
    { details: { amount: "400" } },
    { details: { amount: 400 } },
    { details: { amount400: "" } },
    { details: {} },
    { details: [] },
    { details: null },
    { details: "" },
    { occurredMicros: "1700000000000002" },
  ];
  for (const variant of variants) seen.add(entryBytes({ ...example, ...variant }).toString("hex"));
  // The three values that are no object have the same encoding.
  assert.equal(seen.size, variants.length - 2);
  assert.deepEqual(entryBytes(example), entryBytes({ ...example, details: { amount: "400", note: "é" } }));
});

test("an entry of another merchant breaks a chain with correct hashes", () => {
  const own = { ...example, id: "evt_0" };
  const bytes = entryBytes({ ...example, merchantId: "mer_2" });
  const [first] = chained([own]);
  assert(first);
  const foreign = { ...advancePosition(first, bytes), entryId: "evt_1", isLate: false, entry: bytes };
  assert.deepEqual(broken([first, foreign]), { what: "entry_of_another", seq: 2n, entryId: "evt_1" });
});

test("an intact chain holds in pages of any size, and a changed one breaks at the changed link", () => {
  fc.assert(
    fc.property(fc.array(entries, { minLength: 2, maxLength: 12 }), fc.nat(), fc.nat({ max: 4 }), (list, at, page) => {
      const links = chained(list);
      const end = links.at(-1);
      assert.ok(end);
      let position: ChainPosition = origin;
      for (let i = 0; i < links.length; i += page + 1) {
        const step = followChain(example.merchantId, position, links.slice(i, i + page + 1), [end]);
        assert.equal(step.broken, undefined);
        position = step.position;
      }
      assert.deepEqual([position.seq, missingTail(position, [end])], [end.seq, undefined]);
      const i = at % links.length;
      const [seq, entryId] = [BigInt(i + 1), links[i]?.entryId];
      const but = (change: Partial<Link>) => links.map((link, n) => (n === i ? { ...link, ...change } : link));
      assert.deepEqual(broken(but({ entry: Buffer.from("x") })), { what: "entry_changed", seq, entryId });
      assert.deepEqual(broken(but({ hash: Buffer.alloc(32) })), { what: "entry_changed", seq, entryId });
      assert.deepEqual(broken(but({ isLate: !links[i]?.isLate })), { what: "entry_changed", seq, entryId });
      assert.deepEqual(broken(but({ entry: undefined })), { what: "entry_missing", seq, entryId });
      assert.deepEqual(broken(links, [{ seq, hash: Buffer.alloc(32) }]), { what: "not_as_sealed", seq, entryId });
      const without = broken(links.toSpliced(i, 1), [end]);
      assert.deepEqual(without, { what: i === links.length - 1 ? "tail_missing" : "link_missing", seq, entryId: "" });
    }),
  );
});

test("a rewritten chain differs from an externally stored head", () => {
  const other = { ...example, id: "evt_2" };
  const head = chained([example, other]).at(-1);
  assert.ok(head);
  const forged = chained([{ ...example, actor: "ak_9" }, other]);
  assert.equal(broken(forged), undefined);
  assert.deepEqual(broken(forged, [head]), { what: "not_as_sealed", seq: 2n, entryId: "evt_2" });
  assert.deepEqual(broken(forged.slice(0, 1), [head]), { what: "tail_missing", seq: 2n, entryId: "" });
});

test.run();
