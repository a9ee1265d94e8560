import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { neighbourhoodOf, networkOf, siteOf } from "./address-network.ts";

const test = suite("network of an address");

test("an IPv4 address stands for itself, also when it is written as IPv6", () => {
  assert.equal(networkOf("203.0.113.7"), "203.0.113.7");
  assert.equal(networkOf("::ffff:203.0.113.7"), "203.0.113.7");
  assert.equal(networkOf("::FFFF:203.0.113.7"), "203.0.113.7");
  for (const mapped of ["::ffff:cb00:7107", "0:0:0:0:0:ffff:203.0.113.7", "0:0:0:0:0:ffff:cb00:7107"]) {
    assert.deepEqual([networkOf(mapped), siteOf(mapped)], ["203.0.113.7", "203.0.113.7"], mapped);
  }
});

test("IPv6 addresses of one /64 are one caller, however they are written; those of two are two", () => {
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

test("an address tells its neighbourhood and no more", () => {
  assert.equal(neighbourhoodOf("203.0.113.7"), "203.0.113.0/24");
  assert.equal(neighbourhoodOf("::ffff:203.0.113.7"), "203.0.113.0/24");
  assert.equal(neighbourhoodOf("2001:DB8:7:5::1"), "2001:db8:7::/48");
  assert.equal(neighbourhoodOf("fe80::1%eth0"), "fe80::/48");
  for (const text of ["", "unknown", "203.0.113.7:80"]) assert.equal(neighbourhoodOf(text), undefined);
});

test.run();
