import assert from "node:assert/strict";
import { test } from "uvu";
import { withoutPorts } from "./caller-address.ts";

test("strips the port from addresses in X-Forwarded-For and changes nothing else", () => {
  for (const [written, meant] of [
    ["203.0.113.7:51234", "203.0.113.7"],
    ["[2001:db8::1]:443", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["2001:db8::1", "2001:db8::1"],
    ["::ffff:203.0.113.7", "::ffff:203.0.113.7"],
    ["203.0.113.7", "203.0.113.7"],
    ["10.0.0.1:1, 203.0.113.7:2,[fd00::1]:3", "10.0.0.1, 203.0.113.7, fd00::1"],
    ["unknown, <b>:1", "unknown, <b>:1"],
    ["", ""],
  ] as const) {
    assert.equal(withoutPorts(written), meant);
  }
});

test.run();
