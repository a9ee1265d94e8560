import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callerLine } from "#platform/secrets/callers.ts";
import { eventKeyLine, newNkey } from "../../deploy/cli/setup/identities.ts";
import { suite } from "../../test/harness/suite.ts";
import { readPaymentsConfig } from "./settings.ts";

const test = suite("payments settings");
const dir = mkdtempSync(join(tmpdir(), "tollbooth-settings-"));
const token = "t".repeat(40);
const key = () => randomBytes(32).toString("base64");
const environment = {
  NODE_ENV: "production",
  PORT: "0",
  DATABASE_URL: "postgres://localhost/payments?sslmode=verify-full",
  NATS_URL: "tls://localhost",
  MERCHANT_URL: "http://localhost:1",
  SIMULATOR_URL: "http://localhost:2",
  ENCRYPTION_KEYS: `k1:${key()}`,
  HASH_KEY: key(),
  RPC_CALLERS_FILE: join(dir, "callers"),
  RPC_TOKEN_FILE: join(dir, "token"),
  NATS_NKEY_FILE: join(dir, "seed"),
  EVENT_KEYS_FILE: join(dir, "event-keys"),
};

test.before(() => {
  writeFileSync(environment.RPC_CALLERS_FILE, `${callerLine("checkout", token)}\n`);
  writeFileSync(environment.RPC_TOKEN_FILE, token);
  writeFileSync(environment.NATS_NKEY_FILE, newNkey().seed);
  writeFileSync(environment.EVENT_KEYS_FILE, eventKeyLine("payments", randomBytes(32)));
});
test.after(() => rmSync(dir, { recursive: true }));

test("refuses another Stripe URL in production, since it receives merchants' secret keys", () => {
  assert.equal(readPaymentsConfig(environment).STRIPE_API_URL, "https://api.stripe.com");
  const elsewhere = { ...environment, STRIPE_API_URL: "http://localhost:3" };
  assert.throws(() => readPaymentsConfig(elsewhere), /STRIPE_API_URL must not be set/);
  assert.equal(readPaymentsConfig({ ...elsewhere, NODE_ENV: "test" }).STRIPE_API_URL, "http://localhost:3");
  const other = { ...environment, ADYEN_API_URL: "http://localhost:3" };
  assert.throws(() => readPaymentsConfig(other), /ADYEN_API_URL must not be set/);
});

test("accepts production settings without a simulator", () => {
  const { SIMULATOR_URL: _, ...without } = environment;
  assert.equal(readPaymentsConfig(without).SIMULATOR_URL, undefined);
});

test.run();
