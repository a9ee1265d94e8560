// Which address ranges a key may be limited to, and when one list is within another.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { isLimitedBy, isSameList, readRange } from "./allowed-ips.ts";

const test = suite("allowed addresses");
const read = (text: string) => Object.values(readRange(text))[0];

test("writes addresses and networks in canonical form", () => {
  assert.equal(read("203.0.113.7"), "203.0.113.7/32");
  assert.equal(read("203.0.113.0/24"), "203.0.113.0/24");
  assert.equal(read("2001:0DB8:0:0::/32"), "2001:db8::/32");
  assert.equal(read("2001:db8::1"), "2001:db8::1/128");
  assert.equal(read("::ffff:203.0.113.7"), "203.0.113.7/32");
  assert.equal(read("::ffff:203.0.113.0/120"), "203.0.113.0/24");
});

test("refuses bits after the prefix, too wide ranges and invalid addresses, each with a hint", () => {
  for (const text of ["203.0.113.7/24", "2001:db8::1/32", "::ffff:203.0.113.7/120"]) {
    assert.match(read(text) ?? "", /must be zero after its prefix, as 203\.0\.113\.0\/24/, text);
  }
  for (const text of ["0.0.0.0/0", "::/0", "128.0.0.0/1", "8.0.0.0/7", "2000::/15", "::ffff:0:0/96"]) {
    assert.match(read(text) ?? "", /must not be wider .*leave allowed_ips out/, text);
  }
  const malformed = [
    "",
    "x",
    "203.0.113",
    "203.0.113.0/33",
    "203.0.113.0/",
    "1.2.3.4/08/8",
    "fe80::1%eth0",
    "010.0.0.1",
  ];
  for (const text of malformed) assert.match(read(text) ?? "", /must be an IP address/, text);
  assert.equal(read("10.0.0.0/8"), "10.0.0.0/8");
  assert.equal(read("2000::/16"), "2000::/16");
});

test("a list is within another if each of its ranges is, and an empty limit contains every list", () => {
  const limit = ["203.0.113.0/24", "2001:db8::/32"];
  assert.ok(isLimitedBy(["203.0.113.128/25", "2001:db8:7::/48"], limit));
  assert.ok(isLimitedBy(limit, limit) && isLimitedBy(limit, []) && isLimitedBy([], []));
  assert.ok(!isLimitedBy(["203.0.113.128/25", "198.51.100.0/24"], limit));
  assert.ok(
    !isLimitedBy(["203.0.112.0/23"], limit) && !isLimitedBy(["2001:db8::/31"], limit) && !isLimitedBy([], limit),
  );
});

test("compares lists without regard to order", () => {
  assert.ok(isSameList(["10.0.0.0/8", "11.0.0.0/8"], ["11.0.0.0/8", "10.0.0.0/8"]) && isSameList([], []));
  assert.ok(!isSameList(["10.0.0.0/8"], []) && !isSameList([], ["10.0.0.0/8"]));
});

test.run();
