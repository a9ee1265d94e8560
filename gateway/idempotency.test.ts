import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../test/harness/suite.ts";
import { requestFingerprint } from "./idempotency.ts";

const test = suite("fingerprint");
const hex = (method: string, path: string, body: unknown) =>
  Buffer.from(requestFingerprint(method, path, body)).toString("hex");

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inner]) => [name, shuffled(inner)]),
  );
}

test("depends on every value but not on the order of names", () => {
  fc.assert(
    fc.property(fc.object(), fc.object(), (a, b) => {
      const [left, right] = [JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b))];
      assert.equal(hex("POST", "/p", shuffled(left)), hex("POST", "/p", left));
      const same = JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
      assert.equal(hex("POST", "/p", left) === hex("POST", "/p", right), same);
    }),
  );
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner), "object"]);
}

test("separates method, path and body", () => {
  const all = [
    hex("POST", "/a", {}),
    hex("PATCH", "/a", {}),
    hex("POST", "/a/b", {}),
    hex("POST", "/a", { b: 1 }),
    hex("POST", "/a", { b: "1" }),
    hex("POST", "/a", { b: [1] }),
    hex("POST", "/a", { b: null }),
  ];
  assert.equal(new Set(all).size, all.length);
});

test("is equal for no body and an empty object, and for 1 and 1.0", () => {
  assert.equal(hex("POST", "/a", undefined), hex("POST", "/a", {}));
  assert.equal(hex("POST", "/a", JSON.parse('{"amount":1.0}')), hex("POST", "/a", JSON.parse('{"amount":1}')));
});

test.run();
