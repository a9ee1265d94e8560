import assert from "node:assert/strict";
import fc from "fast-check";
import { neighbourhoodOf, networkAround } from "../../../gateway/auth/key-uses.ts";
import { suite } from "../../../test/harness/suite.ts";
import { isNetwork, isWithin } from "../../merchant/rules/key-network.ts";
import { callerBytes, cidrText, networkOf, parseCidr, plainRange, rangeContains, siteOf } from "./address-range.ts";

const test = suite("address range");

test("refuses a malformed range", () => {
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

test("every spelling of a range has one canonical text, which parses to the same range", () => {
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

test("a network has no bits after its prefix and contains exactly the addresses with that prefix", () => {
  const bytes = fc.uint8Array({ minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(bytes, bytes, fc.nat(32), (one, other, bits) => {
      const network = networkAround(one, bits);
      const first = (address: Uint8Array) =>
        [...address]
          .map((b) => b.toString(2).padStart(8, "0"))
          .join("")
          .slice(0, bits);
      assert.ok(isNetwork(network) && rangeContains(network, one));
      assert.equal(
        isNetwork({ bytes: one, bits }),
        first(one).padEnd(32, "0") ===
          first(one) +
            [...one]
              .map((b) => b.toString(2).padStart(8, "0"))
              .join("")
              .slice(bits),
      );
      assert.equal(rangeContains(network, other), first(one) === first(other));
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

test("normalises a caller's IPv4-mapped address and returns undefined for an invalid one", () => {
  assert.deepEqual(callerBytes("::ffff:203.0.113.7"), callerBytes("203.0.113.7"));
  assert.deepEqual(callerBytes("::FFFF:CB00:7107"), callerBytes("203.0.113.7"));
  assert.deepEqual(callerBytes("fe80::1%eth0"), callerBytes("fe80::1"));
  for (const text of ["", "unknown", "203.0.113", "203.0.113.7:80", "[::1]"])
    assert.equal(callerBytes(text), undefined);
});

test("an IPv4 address is one caller, also when written as IPv6", () => {
  assert.equal(networkOf("203.0.113.7"), "203.0.113.7");
  assert.equal(networkOf("::ffff:203.0.113.7"), "203.0.113.7");
  assert.equal(networkOf("::FFFF:203.0.113.7"), "203.0.113.7");
  for (const mapped of ["::ffff:cb00:7107", "0:0:0:0:0:ffff:203.0.113.7", "0:0:0:0:0:ffff:cb00:7107"]) {
    assert.deepEqual([networkOf(mapped), siteOf(mapped)], ["203.0.113.7", "203.0.113.7"], mapped);
  }
});

test("IPv6 addresses of one /64 are one caller in every spelling", () => {
  const same = ["2001:db8:0:5::1", "2001:0db8:0000:0005:ffff::", "2001:DB8:0:5:a:b:c:d", "2001:db8:0:5::1%eth0"];
  assert.deepEqual([...new Set(same.map(networkOf))], ["2001:db8:0:5"]);
  assert.notEqual(networkOf("2001:db8:0:6::1"), networkOf("2001:db8:0:5::1"));
  assert.equal(networkOf("2001:db8::1"), "2001:db8:0:0");
  assert.equal(networkOf("::1"), "0:0:0:0");
});

test("IPv6 addresses of one /48 are one site; an IPv4 address is its own", () => {
  const same = ["2001:db8:7:5::1", "2001:0db8:0007:ffff::", "2001:DB8:7::"];
  assert.deepEqual([...new Set(same.map(siteOf))], ["2001:db8:7"]);
  assert.notEqual(siteOf("2001:db8:8::1"), siteOf("2001:db8:7::1"));
  assert.equal(siteOf("::ffff:203.0.113.7"), "203.0.113.7");
});

test("returns the approximate network of an address", () => {
  assert.equal(neighbourhoodOf("203.0.113.7"), "203.0.113.0/24");
  assert.equal(neighbourhoodOf("::ffff:203.0.113.7"), "203.0.113.0/24");
  assert.equal(neighbourhoodOf("2001:DB8:7:5::1"), "2001:db8:7::/48");
  assert.equal(neighbourhoodOf("fe80::1%eth0"), "fe80::/48");
  for (const text of ["", "unknown", "203.0.113.7:80"]) assert.equal(neighbourhoodOf(text), undefined);
});

test.run();
