import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { suite } from "../../../test/harness/suite.ts";
import { sameSecret, Vault } from "./vault.ts";

const test = suite("secrets");
const [a, b] = [randomBytes(32), randomBytes(32)];

test("a ring decrypts values of all its keys, also after rotation", () => {
  const sealed = new Vault(new Map([["a", a]])).encrypt("whsec_1", "endpoint:whk_1");
  const rotated = new Vault(
    new Map([
      ["b", b],
      ["a", a],
    ]),
  );
  assert.equal(rotated.decrypt(sealed, "endpoint:whk_1").toString(), "whsec_1");
  assert.equal(rotated.encrypt("x", "c").toString("utf8", 1, 2), "b");
});

test("a ciphertext does not decrypt in another row, under another key, or after a change of one bit", () => {
  const vault = new Vault(new Map([["a", a]]));
  const sealed = vault.encrypt("whsec_1", "endpoint:whk_1");
  assert.throws(() => vault.decrypt(sealed, "endpoint:whk_2"));
  assert.throws(() => new Vault(new Map([["a", b]])).decrypt(sealed, "endpoint:whk_1"));
  assert.throws(() => new Vault(new Map([["b", b]])).decrypt(sealed, "endpoint:whk_1"), /no such encryption key/);
  for (const at of [0, 3, 20, sealed.length - 1]) {
    const bent = Buffer.from(sealed);
    bent[at] = (bent[at] ?? 0) ^ 1;
    assert.throws(() => vault.decrypt(bent, "endpoint:whk_1"));
  }
});

test("the same secret encrypts to different bytes each time", () => {
  const vault = new Vault(new Map([["a", a]]));
  assert.notDeepEqual(vault.encrypt("x", "c"), vault.encrypt("x", "c"));
});

test("compares secrets of any length", () => {
  assert.equal(sameSecret("abc", "abc"), true);
  assert.equal(sameSecret("abc", "abd"), false);
  assert.equal(sameSecret("abc", "ab"), false);
  assert.equal(sameSecret("", ""), true);
});

test.run();
