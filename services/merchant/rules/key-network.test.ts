// Which networks of a key are remembered, and which are news.
import assert from "node:assert/strict";
import { suite } from "../../../test/harness/suite.ts";
import { furtherNetworks, isKeyNetwork, networksMax } from "./key-network.ts";

const test = suite("networks of a key");
const networks = Array.from({ length: networksMax + 2 }, (_, i) => `10.0.${i}.0/24`);

test("the first network of a key is no news, every further one is", () => {
  assert.deepEqual(furtherNetworks(0, networks.slice(0, 1)), { kept: networks.slice(0, 1), reported: [] });
  assert.deepEqual(furtherNetworks(0, networks.slice(0, 3)), {
    kept: networks.slice(0, 3),
    reported: networks.slice(1, 3),
  });
  assert.deepEqual(furtherNetworks(1, networks.slice(0, 2)), {
    kept: networks.slice(0, 2),
    reported: networks.slice(0, 2),
  });
});

test("a key that is used from everywhere fills no table and rings no further", () => {
  assert.equal(furtherNetworks(0, networks).kept.length, networksMax);
  assert.deepEqual(furtherNetworks(networksMax - 1, networks).reported, networks.slice(0, 1));
  for (const known of [networksMax, networksMax + 1]) {
    assert.deepEqual(furtherNetworks(known, networks), { kept: [], reported: [] });
  }
});

test("only a /24 or a /48 in its one form is a network that gateways report", () => {
  for (const text of ["203.0.113.0/24", "2001:db8:7::/48"]) assert.ok(isKeyNetwork(text), text);
  const wrong = ["203.0.113.7/24", "203.0.113.0/25", "203.0.113.7/32", "2001:db8::/32", "2001:db8:7:0::/48", "", "x"];
  for (const text of [...wrong, "0.0.0.0/0", "203.0.113.0", "2001:DB8:7::/48"]) assert.ok(!isKeyNetwork(text), text);
});

test.run();
