import assert from "node:assert/strict";
import { suite } from "../test/harness/suite.ts";
import { gatewaySettings } from "./settings.ts";

const test = suite("gateway settings");
const read = (raw: string) => gatewaySettings.TRUST_PROXY.parse(raw);

test("proxies are a number of them, or their addresses and networks", () => {
  assert.equal(read("1"), 1);
  assert.equal(read("9"), 9);
  for (const raw of ["10.0.0.1", "10.0.0.0/8", "fd00::/8, 10.0.0.1", "::1/128"]) assert.equal(read(raw), raw);
});

test("rejects numbers outside 1 to 9, malformed networks and networks that trust every address", () => {
  for (const raw of [
    "0",
    "10",
    "1,2",
    "dead",
    "0.0.0.0/0",
    "::/0",
    "10.0.0.0/33",
    "fd00::/129",
    "10.0.0.0/8/8",
    "::1%lo",
  ]) {
    assert.throws(() => read(raw), /must be a number of proxies from 1 to 9/, raw);
  }
});

test.run();
