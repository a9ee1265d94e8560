import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { suite } from "../../../test/harness/suite.ts";
import { encryptionKeys, hashKeys } from "./key-ring.ts";

const test = suite("keys in settings");
const [a, b] = [randomBytes(32), randomBytes(32)];
const text = (key: Buffer) => key.toString("base64");

test("a single hash key without a name stays valid", () => {
  assert.deepEqual([...hashKeys.parse(text(a))], [["", a]]);
  assert.deepEqual(
    [...hashKeys.parse(`h2:${text(b)}, ${text(a)}`)],
    [
      ["h2", b],
      ["", a],
    ],
  );
});

test("allows at most four hash keys, which bounds a lookup", () => {
  const ring = (count: number) => Array.from({ length: count }, (_, i) => `h${i}:${text(randomBytes(32))}`).join();
  assert.equal(hashKeys.parse(ring(4)).size, 4);
  assert.throws(() => hashKeys.parse(ring(5)), /at most 4/);
  assert.equal(encryptionKeys.parse(ring(5)).size, 5);
});

test("refuses an invalid key, a repeated id, two keys without a name and an unnamed encryption key without printing them", () => {
  for (const [setting, raw] of [
    [hashKeys, `h1:${text(a)},h1:${text(b)}`],
    [hashKeys, `${text(a)},${text(b)}`],
    [hashKeys, `:${text(a)}`],
    [hashKeys, `H1:${text(a)}`],
    [hashKeys, "sesame"],
    [hashKeys, `${text(a)},`],
    [encryptionKeys, text(a)],
    [encryptionKeys, `k1:${text(a)},`],
    [encryptionKeys, "k1:sesame"],
  ] as const) {
    assert.throws(
      () => setting.parse(raw),
      (error: Error) =>
        /^must be /.test(error.message) && !/sesame/.test(error.message) && !error.message.includes(text(a)),
    );
  }
});

test("refuses two keys with a missing comma", () => {
  for (const raw of [
    `h1:${text(a)}\nh2:${text(b)}`,
    `h1:${text(a)} h2:${text(b)}`,
    `h1:${text(a)};h2:${text(b)}`,
    `h1:${text(a)}h2:${text(b)}`,
    `${text(a)}\n${text(b)}`,
    `"${text(a)}"`,
    `h1:${text(a)}=`,
    `h1:${text(a).slice(0, -1)}`,
    `h1:${text(a)},h2:${text(a)}`,
  ]) {
    for (const setting of [hashKeys, encryptionKeys]) {
      assert.throws(
        () => setting.parse(raw),
        (error: Error) => /^must be /.test(error.message) && !error.message.includes(text(a)),
        raw.replaceAll(text(a), "A").replaceAll(text(b), "B"),
      );
    }
  }
});

test("accepts a wrapped key in place of a key, and no other text", () => {
  const wrapped = "vault:v12:c2Vj+/Jl";
  assert.deepEqual(
    [...encryptionKeys.parse(`k2:${wrapped},k1:${text(a)}`)],
    [
      ["k2", wrapped],
      ["k1", a],
    ],
  );
  assert.deepEqual([...hashKeys.parse(wrapped)], [["", wrapped]]);
  for (const raw of [wrapped, "k1:vault:v1:", "k1:vault:vx:c2Vj", "k1:vault:v1:a b", `k1:${wrapped}:x`]) {
    assert.throws(() => encryptionKeys.parse(raw), /^Error: must be /, raw);
  }
});

test.run();
