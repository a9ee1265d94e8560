// Which networks of a key are stored and which are reported.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { furtherNetworks, isKeyNetwork, networksMax } from "./key-network.ts";

const test = suite("networks of a key");
const networks = Array.from({ length: networksMax + 2 }, (_, i) => `10.0.${i}.0/24`);

test("reports every network of a key except the first", () => {
  const [a = "", b = "", c = ""] = networks;
  assert.deepEqual(furtherNetworks(0, [a]), { kept: [a], reported: [] });
  assert.deepEqual(furtherNetworks(0, [a, b, c]), { kept: [a, b, c], reported: [b, c] });
  assert.deepEqual(furtherNetworks(1, [b, c]), { kept: [b, c], reported: [b, c] });
});

test("stores and reports no network beyond the limit", () => {
  assert.equal(furtherNetworks(0, networks).kept.length, networksMax);
  assert.deepEqual(furtherNetworks(networksMax - 1, networks).reported, networks.slice(0, 1));
  for (const known of [networksMax, networksMax + 1]) {
    assert.deepEqual(furtherNetworks(known, networks), { kept: [], reported: [] });
  }
});

test("accepts only a /24 or /48 in canonical form", () => {
  for (const text of ["203.0.113.0/24", "2001:db8:7::/48"]) assert.ok(isKeyNetwork(text), text);
  const wrong = ["203.0.113.7/24", "203.0.113.0/25", "203.0.113.7/32", "2001:db8::/32", "2001:db8:7:0::/48", "", "x"];
  for (const text of [...wrong, "0.0.0.0/0", "203.0.113.0", "2001:DB8:7::/48"]) assert.ok(!isKeyNetwork(text), text);
});

test.run();
