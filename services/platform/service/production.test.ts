import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { ConfigError, oneOf, optionalSetting, text, urlSetting, withDefault } from "#platform/process/config.ts";
import { neighbourUrl } from "#platform/process/host.ts";
import { encryptionKeys, hashKeys } from "#platform/secrets/key-ring.ts";
import { keyManagementSettings } from "#platform/secrets/open-keys.ts";
import { suite } from "../../../test/harness/suite.ts";
import { readProductionConfig } from "./production.ts";

const test = suite("production mode");
const settings = {
  NATS_URL: urlSetting("nats", "tls"),
  NATS_NKEY_FILE: optionalSetting(text),
  HOST: withDefault(text, "0.0.0.0"),
  RPC_TLS_CERT_FILE: optionalSetting(text),
  PAYMENTS_URL: optionalSetting(urlSetting("http", "https")),
  EVENT_KEYS_FILE: optionalSetting(text),
  DATABASE_URL: urlSetting("postgres"),
  PAYMENTS_DATABASE_URL: optionalSetting(urlSetting("postgres")),
  CHECKOUT_ORIGIN: optionalSetting(urlSetting("https", "http")),
  CONSOLE_ORIGIN: optionalSetting(urlSetting("https", "http")),
  SIMULATOR_PUBLIC_URL: optionalSetting(urlSetting("https", "http")),
  ...keyManagementSettings,
  HASH_KEY: hashKeys,
  ENCRYPTION_KEYS: encryptionKeys,
  RATE_LIMIT: withDefault(oneOf("on", "off"), "on"),
  LOCAL_STACK: withDefault(oneOf("on", "off"), "off"),
} as const;
const key = () => randomBytes(32).toString("base64");
const [first, second, third] = [key(), key(), key()];
const good = {
  NODE_ENV: "production",
  NATS_URL: "tls://nats:4222",
  NATS_NKEY_FILE: "/run/secrets/nats/seed",
  EVENT_KEYS_FILE: "/run/secrets/event-keys/keys",
  RPC_TLS_CERT_FILE: "/run/secrets/rpc-tls/tls.crt",
  PAYMENTS_URL: "https://payments:8080",
  DATABASE_URL: "postgres://role:sesame@postgres/one?sslmode=verify-full&sslrootcert=/ca.pem",
  CHECKOUT_ORIGIN: "https://pay.example.com",
  HASH_KEY: first,
  ENCRYPTION_KEYS: `k2:${second},k1:${third}`,
};

/** Names in the error, in order. */
function refused(change: Record<string, string>): string[] {
  try {
    readProductionConfig(settings, { ...good, ...change });
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    for (const secret of ["sesame", first, second, third]) assert.ok(!error.message.includes(secret), error.message);
    return error.message.split("\n").map((line) => line.split(" ")[0] ?? "");
  }
}

const zero = Buffer.alloc(32).toString("base64");
const worst = {
  NODE_TLS_REJECT_UNAUTHORIZED: "0",
  RATE_LIMIT: "off",
  LOCAL_STACK: "on",
  NATS_URL: "nats://nats:4222",
  NATS_NKEY_FILE: "",
  EVENT_KEYS_FILE: "",
  RPC_TLS_CERT_FILE: "",
  PAYMENTS_URL: "http://payments:8080",
  DATABASE_URL: "postgres://role:sesame@postgres/one",
  CHECKOUT_ORIGIN: "http://127.0.0.1:8080",
  HASH_KEY: zero,
  ENCRYPTION_KEYS: `k1:${zero}`,
};

test("accepts safe settings, and names every unsafe and malformed one together", () => {
  assert.deepEqual(refused({}), []);
  const named = refused({ ...worst, SIMULATOR_PUBLIC_URL: "ftp://x" });
  assert.deepEqual([...new Set(named)].sort(), [...Object.keys(worst), "SIMULATOR_PUBLIC_URL"].sort());
});

test("accepts unsafe settings outside production", () => {
  for (const NODE_ENV of ["development", "test", ""]) assert.deepEqual(refused({ ...worst, NODE_ENV }), []);
});

for (const [what, change] of [
  ["a database without TLS", { DATABASE_URL: "postgres://postgres/one" }],
  ["one that does without when asked to", { DATABASE_URL: "postgres://postgres/one?sslmode=prefer" }],
  ["one whose server is not verified", { DATABASE_URL: "postgres://postgres/one?sslmode=no-verify" }],
  ["any database of several", { PAYMENTS_DATABASE_URL: "postgres://postgres/two" }],
  ["a loopback origin", { CHECKOUT_ORIGIN: "https://localhost:8443" }],
  ["a loopback origin of IPv6", { CHECKOUT_ORIGIN: "http://[::1]:8080" }],
  ["a console on its people's own machine", { CONSOLE_ORIGIN: "http://localhost:8083" }],
  ["card forms on the buyer's own machine", { SIMULATOR_PUBLIC_URL: "http://localhost:8081" }],
  ["a hash key of one repeated byte", { HASH_KEY: Buffer.alloc(32, 7).toString("base64") }],
  ["a hash key of a repeated word", { HASH_KEY: Buffer.from("password".repeat(4)).toString("base64") }],
  ["calls that others on the network can read", { PAYMENTS_URL: "http://payments:8080" }],
  ["an RPC port that others on the network can read", { RPC_TLS_CERT_FILE: "" }],
  ["a broker that does not know who this is", { NATS_NKEY_FILE: "" }],
  ["events that anybody could have written", { EVENT_KEYS_FILE: "" }],
  ["one key under two ids", { ENCRYPTION_KEYS: `k2:${second},k1:${second}` }],
  ["one hash key under two ids", { HASH_KEY: `h2:${first},${first}` }],
  ["a key management service without TLS", { VAULT_ADDR: "http://vault:8200" }],
  ["an offer to paste keys into /docs", { LOCAL_STACK: "on" }],
  ["one key for both purposes", { ENCRYPTION_KEYS: `k1:${first}` }],
] as const) {
  test(`production refuses ${what}`, () => assert.deepEqual(refused(change), Object.keys(change)));
}

test("accepts plain calls that stay within the process or the machine", () => {
  const plain = { RPC_TLS_CERT_FILE: "", HOST: "127.0.0.1" };
  assert.deepEqual(refused({ ...plain, PAYMENTS_URL: neighbourUrl("payments") }), []);
  assert.deepEqual(refused({ ...plain, HOST: "::1", PAYMENTS_URL: "http://127.0.0.1:8092" }), []);
});

test("requires the settings of a key management service in every mode", () => {
  const wanted = ["VAULT_ADDR", "VAULT_TRANSIT_KEY", "VAULT_TOKEN"];
  assert.deepEqual(refused({ KMS: "vault-transit", RATE_LIMIT: "off" }), [...wanted, "RATE_LIMIT"]);
  assert.deepEqual(refused({ KMS: "vault-transit", NODE_ENV: "test" }), wanted);
  assert.deepEqual(refused({ HASH_KEY: "vault:v1:c2Vj" }), ["HASH_KEY"]);
});

test("accepts what a mesh or private network replaces, by name only", () => {
  const excuses = {
    ALLOW_PLAIN_NATS: "behind-mesh",
    ALLOW_PLAIN_DATABASE: "private-network",
    ALLOW_PLAIN_RPC: "behind-mesh",
    ALLOW_LOOPBACK_ORIGIN: "for-trial",
  };
  const identityFiles = ["EVENT_KEYS_FILE", "NATS_NKEY_FILE"];
  const keys = ["HASH_KEY", "ENCRYPTION_KEYS", "ENCRYPTION_KEYS"];
  const left = ["NODE_TLS_REJECT_UNAUTHORIZED", "RATE_LIMIT", "LOCAL_STACK", ...identityFiles, ...keys];
  assert.deepEqual(refused({ ...worst, ...excuses }), left);
  for (const [name, setting] of [
    ["ALLOW_PLAIN_NATS", "NATS_URL"],
    ["ALLOW_PLAIN_DATABASE", "DATABASE_URL"],
    ["ALLOW_LOOPBACK_ORIGIN", "CHECKOUT_ORIGIN"],
    ["ALLOW_PLAIN_RPC", "PAYMENTS_URL"],
    ["ALLOW_PLAIN_RPC", "RPC_TLS_CERT_FILE"],
  ] as const) {
    const { [name]: _, ...others } = excuses;
    assert.ok(refused({ ...worst, ...others }).includes(setting), name);
  }
  assert.deepEqual(refused({ ALLOW_PLAIN_NATS: "yes" }), ["ALLOW_PLAIN_NATS"], "an excuse has a fixed value");
});

test.run();
