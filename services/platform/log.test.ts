// Logs: secrets do not pass, wherever in a text they stand.
import assert from "node:assert/strict";
import { suite } from "../../test/harness/suite.ts";
import { masked } from "./log.ts";

const test = suite("log masking");

test("every secret of the system is masked inside any text", () => {
  const secrets = [
    "sk_test_abcDEF0123456789",
    "sk_live_abcDEF0123456789",
    "cs_secret_01jabc_AbC-_9",
    "whsec_AbC-_9",
    "sim_sk_abc",
    "pi_01abc_secret_xyz",
  ];
  for (const secret of secrets) {
    const line = masked(`GET /x?secret=${secret}&y=1 "${secret}"`);
    assert.ok(!line.includes(secret), line);
  }
  assert.equal(masked("postgres://user:hunter2@host/db"), "postgres://user:…@host/db");
  assert.equal(masked("pay_01abc is fine"), "pay_01abc is fine");
});

test.run();
