import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import {
  expiryAfterRoll,
  isKeyText,
  keyEntropyBytes,
  keyStatus,
  keySuffix,
  keyText,
  mayGive,
  mayLimit,
} from "./api-key.ts";

const test = suite("api keys");
const prefix = fc.constantFrom("sk_test_" as const, "sk_live_" as const);
const entropy = fc.uint8Array({ minLength: keyEntropyBytes, maxLength: keyEntropyBytes });

test("a key has its prefix, 40 base62 characters and a valid checksum", () => {
  fc.assert(
    fc.property(prefix, entropy, (p, bytes) => {
      const key = keyText(p, bytes);
      assert.match(key, /^sk_(test|live)_[0-9A-Za-z]{46}$/);
      assert(key.startsWith(p) && isKeyText(key));
      assert.equal(keySuffix(key), key.slice(-4));
    }),
  );
});

test("the same entropy always yields the same key, so issued keys stay valid", () => {
  const key = keyText("sk_test_", new Uint8Array(keyEntropyBytes).fill(7));
  assert.equal(key, "sk_test_4xplf0Ex8C5K4croijrQl5RZ20nrZE3pkSXuV76F1uIDyr");
});

test("a key with one changed character is invalid", () => {
  const alphabet = [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"];
  fc.assert(
    fc.property(prefix, entropy, fc.nat(45), fc.constantFrom(...alphabet), (p, bytes, at, character) => {
      const key = keyText(p, bytes);
      const index = p.length + at;
      const changed = key.slice(0, index) + character + key.slice(index + 1);
      assert.equal(isKeyText(changed), changed === key);
    }),
  );
});

test("a key with the other prefix and other text are invalid", () => {
  const key = keyText("sk_test_", randomBytes(keyEntropyBytes));
  const junk = ["", "sk_test_", "x".repeat(200), `${key}\n`, key.replace("sk_test_", "sk_live_")];
  for (const text of junk) assert.equal(isKeyText(text), false, JSON.stringify(text));
  fc.assert(fc.property(fc.string({ maxLength: 200 }), (text) => assert.equal(isKeyText(text), false)));
});

const now = new Date("2026-01-01T00:00:00Z");
const later = new Date(now.getTime() + 1);

test("a key is active until exactly its expiry, and revocation takes precedence", () => {
  assert.equal(keyStatus({ expiresAt: null, revokedAt: null }, now), "active");
  assert.equal(keyStatus({ expiresAt: later, revokedAt: null }, now), "active");
  assert.equal(keyStatus({ expiresAt: now, revokedAt: null }, now), "expired");
  assert.equal(keyStatus({ expiresAt: null, revokedAt: now }, now), "revoked");
  assert.equal(keyStatus({ expiresAt: now, revokedAt: now }, now), "revoked");
});

test("rolling a key never extends its life", () => {
  const key = { expiresAt: later, revokedAt: null };
  assert.deepEqual(expiryAfterRoll(key, 3_600, now), later);
  assert.deepEqual(expiryAfterRoll(key, 0, now), now);
  assert.deepEqual(expiryAfterRoll({ ...key, expiresAt: null }, 60, now), new Date(now.getTime() + 60_000));
});

test("a key grants only its own scopes, for no longer than its own life, and nothing once inactive", () => {
  const scopes = ["merchant:read", "merchant:write"];
  const giver = { scopes, allowedIps: [], expiresAt: later, revokedAt: null };
  const gives = (wanted: object, by: object = {}) => mayGive({ ...giver, ...by }, { ...giver, ...wanted }, now);
  assert.equal(gives({}), true);
  assert.equal(gives({ scopes: ["merchant:read"], expiresAt: now }), true);
  assert.equal(gives({ scopes: ["merchant:read", "payments:read"] }), false);
  assert.equal(gives({ expiresAt: new Date(later.getTime() + 1) }), false);
  assert.equal(gives({ expiresAt: null }), false);
  assert.equal(gives({ expiresAt: null }, { expiresAt: null }), true);
  assert.equal(gives({ expiresAt: now }, { expiresAt: now }), false);
  assert.equal(gives({}, { revokedAt: now }), false);
});

const here = ["203.0.113.0/24"];
const corner = ["203.0.113.7/32"];
const elsewhere = ["198.51.100.0/24"];

test("a key grants, and limits others to, only addresses that it may be used from, and never widens itself", () => {
  const key = { scopes: ["merchant:write"], allowedIps: here, expiresAt: null, revokedAt: null };
  for (const allowedIps of [here, corner]) assert.equal(mayGive(key, { ...key, allowedIps }, now), true);
  assert.equal(mayLimit(key, key, corner, now), true);
  for (const wider of [[], elsewhere, [...here, ...elsewhere], ["203.0.112.0/23"]]) {
    assert.equal(mayGive(key, { ...key, allowedIps: wider }, now), false, String(wider));
    assert.equal(mayLimit(key, key, wider, now), false, String(wider));
    assert.equal(mayLimit(key, { ...key, allowedIps: [] }, wider, now), false, String(wider));
  }
  assert.equal(mayLimit(key, { ...key, allowedIps: [] }, here, now), true);
  assert.equal(mayLimit({ ...key, revokedAt: now }, key, corner, now), false);
});

test("a key may narrow a stronger key's addresses but not widen them", () => {
  const weak = { scopes: ["merchant:write"], allowedIps: [], expiresAt: later, revokedAt: null };
  const strong = { scopes: ["merchant:write", "payments:write"], allowedIps: here, expiresAt: later };
  assert.equal(mayLimit(weak, strong, corner, now), true);
  for (const further of [[], elsewhere]) {
    assert.equal(mayLimit(weak, strong, further, now), false);
    assert.equal(mayLimit({ ...weak, expiresAt: now }, strong, further, now), false);
    assert.equal(mayLimit({ ...weak, scopes: strong.scopes }, strong, further, now), true);
    assert.equal(mayLimit({ ...weak, scopes: strong.scopes }, { ...strong, expiresAt: null }, further, now), false);
  }
});

test.run();
