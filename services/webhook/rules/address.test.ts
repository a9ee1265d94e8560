// Which addresses a delivery may connect to.
import assert from "node:assert/strict";
import fc from "fast-check";
import { parseCidr } from "#platform/values/address-range.ts";
import { suite } from "../../../test/harness/suite.ts";
import { isAllowedAddress, isAllowedPeer } from "./address.ts";

const test = suite("address");

const listed = (text: string) => text.trim().split(/\s+/);
const forbidden = listed(`
  0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254 168.63.129.16
  169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.19.255.255
  198.51.100.7 203.0.113.9 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255
  :: ::1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:7f00:1 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b::7f00:1
  64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1 2001:0:7f00:1:: 2001:2::1 2001:10::1 2001:20::1
  2001:db8::1 2002:7f00:1:: 2002:808:808::1 3fff::1 3fff:fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fe80::1%eth0
  febf::1 fec0::1 ff02::1 4000::1 1fff::1 e000::1 fe80::5efe:7f00:1 2620:4f:8000::1`);
const allowed = listed(`
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1 168.63.129.15
  168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0
  198.17.255.255 198.20.0.0 223.255.255.255
  2001:200::1 2001:4860:4860::8888 2003::1 2606:4700::1111 2a00:1450::1 3ffe::1`);

test("forbids special addresses in every embedding and allows public ones up to the bounds of each range", () => {
  assert.deepEqual(
    forbidden.filter((address) => isAllowedAddress(address, [])),
    [],
  );
  assert.deepEqual(
    allowed.filter((address) => !isAllowedAddress(address, [])),
    [],
  );
});

test("never allows text that is not one plain address", () => {
  const malformed = [
    "",
    "localhost",
    "127.1",
    "0x7f.1",
    "2130706433",
    "1.1.1.1.",
    "1.1.1.1/32",
    "[2606:4700::1]",
    "1.1.1.1 ",
  ];
  for (const text of malformed) assert.equal(isAllowedAddress(text, []), false, text);
  fc.assert(
    fc.property(fc.string(), (text) => !isAllowedAddress(text, [parseCidr("0.0.0.0/0")]) || /^[\d.]+$/.test(text)),
  );
});

test("an allowed range allows exactly its own addresses", () => {
  const loopback = [parseCidr("127.0.0.0/8"), parseCidr("::1/128")];
  assert(isAllowedAddress("127.9.9.9", loopback) && isAllowedAddress("::1", loopback));
  assert(!isAllowedAddress("10.0.0.1", loopback) && !isAllowedAddress("::2", loopback));
  assert(!isAllowedAddress("::ffff:127.0.0.1", loopback), "DNS has no reason to use a mapped address");
  const odd = [parseCidr("10.128.0.0/9")];
  assert(isAllowedAddress("10.128.0.1", odd) && !isAllowedAddress("10.127.255.255", odd));
});

test("judges a connected socket's IPv4 peer as IPv4 in either spelling", () => {
  assert(isAllowedPeer("::ffff:8.8.8.8", []) && isAllowedPeer("8.8.8.8", []));
  assert(!isAllowedPeer("::ffff:127.0.0.1", []) && !isAllowedPeer("::ffff:10.0.0.1", []) && !isAllowedPeer("", []));
});

test.run();
