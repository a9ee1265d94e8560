// How ranges of addresses are read, written and compared.
import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../../../test/harness/suite.ts";
import {
  callerBytes,
  cidrText,
  contains,
  isNetwork,
  isWithin,
  networkAround,
  parseCidr,
  plainRange,
} from "./address-range.ts";

const test = suite("address range");

test("a malformed range is refused", () => {
  for (const text of [
    "",
    "10.0.0.0",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0/8",
    "::/129",
    "10.0.0.0/8/8",
    "fe80::1%1/64",
    "a/8",
  ]) {
    assert.throws(() => parseCidr(text), /must be address ranges/, text);
  }
});

test("however a range is spelt, it is written in one form, which reads back as the same range", () => {
  assert.equal(cidrText(parseCidr("2001:0DB8:0000:0:0:0:0:0/32")), "2001:db8::/32");
  assert.equal(cidrText(plainRange(parseCidr("::ffff:203.0.113.0/120"))), "203.0.113.0/24");
  const bytes = fc.oneof(...[4, 16].map((length) => fc.uint8Array({ minLength: length, maxLength: length })));
  fc.assert(
    fc.property(bytes, fc.nat(128), (address, anyBits) => {
      const range = { bytes: address, bits: Math.min(anyBits, address.length * 8) };
      assert.deepEqual(parseCidr(cidrText(range)), range);
    }),
  );
});

test("a network has no bits after its prefix, holds the addresses that begin like it, and no others", () => {
  const bytes = fc.uint8Array({ minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(bytes, bytes, fc.nat(32), (one, other, bits) => {
      const network = networkAround(one, bits);
      const first = (address: Uint8Array) =>
        [...address]
          .map((b) => b.toString(2).padStart(8, "0"))
          .join("")
          .slice(0, bits);
      assert.ok(isNetwork(network) && contains(network, one));
      assert.equal(
        isNetwork({ bytes: one, bits }),
        first(one).padEnd(32, "0") ===
          first(one) +
            [...one]
              .map((b) => b.toString(2).padStart(8, "0"))
              .join("")
              .slice(bits),
      );
      assert.equal(contains(network, other), first(one) === first(other));
    }),
  );
});

test("a range is within another when all of its addresses are", () => {
  const within = (inner: string, outer: string) => isWithin(parseCidr(inner), parseCidr(outer));
  assert.ok(within("10.1.0.0/16", "10.0.0.0/8") && within("10.0.0.0/8", "10.0.0.0/8"));
  assert.ok(!within("10.0.0.0/8", "10.1.0.0/16") && !within("11.0.0.0/16", "10.0.0.0/8"));
  assert.ok(!within("10.0.0.0/8", "10.0.0.0/16"), "a wider one that begins with the same address");
  assert.ok(!within("10.0.0.0/8", "::/0") && !within("::/128", "0.0.0.0/0"));
});

test("a caller's IPv4 address is IPv4 in either spelling, and what is no address is none", () => {
  assert.deepEqual(callerBytes("::ffff:203.0.113.7"), callerBytes("203.0.113.7"));
  assert.deepEqual(callerBytes("::FFFF:CB00:7107"), callerBytes("203.0.113.7"));
  assert.deepEqual(callerBytes("fe80::1%eth0"), callerBytes("fe80::1"));
  for (const text of ["", "unknown", "203.0.113", "203.0.113.7:80", "[::1]"])
    assert.equal(callerBytes(text), undefined);
});

test.run();
