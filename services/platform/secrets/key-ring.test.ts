// Keys from settings: old forms stay what they were, a list has distinct ids, and nothing of a key is in a refusal.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { suite } from "../../../test/harness/suite.ts";
import { encryptionKeys, hashKeys } from "./key-ring.ts";

const test = suite("keys in settings");
const [a, b] = [randomBytes(32), randomBytes(32)];
const text = (key: Buffer) => key.toString("base64");

test("a hash key as it was before there were several is the one without a name", () => {
  assert.deepEqual([...hashKeys.parse(text(a))], [["", a]]);
  assert.deepEqual(
    [...hashKeys.parse(`h2:${text(b)}, ${text(a)}`)],
    [
      ["h2", b],
      ["", a],
    ],
  );
});

test("at most four hash keys recognise, so that a look-up stays bounded", () => {
  const ring = (count: number) => Array.from({ length: count }, (_, i) => `h${i}:${text(randomBytes(32))}`).join();
  assert.equal(hashKeys.parse(ring(4)).size, 4);
  assert.throws(() => hashKeys.parse(ring(5)), /at most 4/);
  assert.equal(encryptionKeys.parse(ring(5)).size, 5);
});

test("a key that is no key, an id twice, two keys without a name and a nameless encryption key are refused without being told", () => {
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

test("a comma that was forgotten loses no key: what is not exactly one key is refused", () => {
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

test("a wrapped key stands where a key does, with a name or as the hash key without one, and nothing else passes for it", () => {
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
