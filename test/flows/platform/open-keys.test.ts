// Wrapped keys, opened by services and commands at start through a stand-in for Vault's transit engine over TLS
// (test/harness/servers/vault-stand-in.ts).
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError, readConfig } from "#platform/process/config.ts";
import { connectPeer } from "#platform/rpc/client.ts";
import { callerLine } from "#platform/secrets/callers.ts";
import { encryptionKeys, hashKeys } from "#platform/secrets/key-ring.ts";
import { keyManagementSettings, withOpenKeys } from "#platform/secrets/open-keys.ts";
import { randomToken } from "#platform/secrets/vault.ts";
import { MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { KeyWrapper } from "../../../deploy/cli/setup/encryption-keys.ts";
import { makeAuthority, makeServerCertificate } from "../../../deploy/local/state/certificate.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { startVaultStandIn } from "../../harness/servers/vault-stand-in.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";
import { serviceConfig } from "../service-config.ts";

const test = suite("keys opened by a key management service");
const root = join(import.meta.dirname, "../../..");
const key = () => randomBytes(32).toString("base64");
let folder: string;
let ca: string;

const authority = await makeAuthority("an authority", 1);
const vault = fixture(test, async () => startVaultStandIn(await makeServerCertificate(authority, ["127.0.0.1"], 1)));
test.before(async () => {
  folder = await tempDir("kms");
  ca = join(folder, "ca.pem");
  await writeFile(ca, authority.cert);
});
test.beforeEach(() => vault.calls.splice(0));

type Variables = Record<string, string>;

const byToken = (): Variables => ({
  KMS: "vault-transit",
  VAULT_ADDR: vault.url,
  VAULT_CACERT: ca,
  VAULT_TRANSIT_KEY: "tollbooth",
  VAULT_TOKEN: vault.token,
});

const settings = { ...keyManagementSettings, ENCRYPTION_KEYS: encryptionKeys, HASH_KEY: hashKeys } as const;
const open = async (env: Variables) => await withOpenKeys(readConfig(settings, env), 1);

async function wrapped(plain: string): Promise<string> {
  const management = new KeyWrapper(readConfig(keyManagementSettings, byToken()));
  try {
    return await management.wrap(Buffer.from(plain, "base64"));
  } finally {
    await management.close();
  }
}

/** Runs a script. @returns its output and exit code */
async function run(script: string, args: readonly string[], env: Variables) {
  return await new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      [join(root, script), ...args],
      { env: { PATH: process.env.PATH ?? "", ...env } },
      (error, out, err) => resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
  });
}

const wrapKeys = (args: readonly string[], env: Variables) =>
  run("deploy/cli/main.ts", ["encryption-keys", ...args], env);

test("wrapped keys are opened with one call each, among plain ones and in order", async () => {
  const [a, b, c] = [key(), key(), key()];
  const env = { ENCRYPTION_KEYS: `k2:${await wrapped(a)},k1:${b}`, HASH_KEY: await wrapped(c) };
  vault.calls.splice(0);
  const opened = await open({ ...byToken(), VAULT_NAMESPACE: "payments", ...env });
  const encoded = (ring: ReadonlyMap<string, Buffer>) => [...ring].map(([id, bytes]) => [id, bytes.toString("base64")]);
  assert.deepEqual(encoded(opened.ENCRYPTION_KEYS), [
    ["k2", a],
    ["k1", b],
  ]);
  assert.deepEqual(encoded(opened.HASH_KEY), [["", c]]);
  const call = { path: "/v1/transit/decrypt/tollbooth", namespace: "payments" };
  assert.deepEqual(vault.calls, [call, call]);
});

test("a pod logs in with its own token", async () => {
  const { VAULT_TOKEN: _, ...others } = byToken();
  const { role, jwt } = vault.kubernetes;
  const pod = { ...others, VAULT_KUBERNETES_ROLE: role, VAULT_KUBERNETES_JWT_FILE: join(folder, "jwt") };
  await writeFile(join(folder, "jwt"), `${jwt}\n`);
  const a = key();
  const env = { ENCRYPTION_KEYS: `k1:${await wrapped(a)}`, HASH_KEY: key() };
  const opened = await open({ ...pod, ...env });
  assert.equal(opened.ENCRYPTION_KEYS.get("k1")?.toString("base64"), a);
  await writeFile(join(folder, "jwt"), "another.pods.token");
  await assert.rejects(open({ ...pod, ...env }), /Vault at https:\S+ refused auth\/kubernetes with 403/);
});

test("a key that cannot be opened is reported in one line without key, token or answer", async () => {
  const ciphertext = await wrapped(key());
  const bent = `${ciphertext.slice(0, -6)}${ciphertext.endsWith("AAAA==") ? "BBBB" : "AAAA"}==`;
  const stranger = `hvs.${randomToken(24)}`;
  const env = { ...byToken(), ENCRYPTION_KEYS: `k1:${ciphertext}`, HASH_KEY: key() };
  for (const [change, wanted] of [
    [{ VAULT_TOKEN: stranger }, /refused transit\/decrypt with 403: the token is not accepted/],
    [
      { ENCRYPTION_KEYS: `k1:${bent}` },
      /refused transit\/decrypt with 400: the wrapped key is of another key, or was changed/,
    ],
    [{ VAULT_TRANSIT_KEY: "other" }, /refused transit\/decrypt with 400/],
    [{ VAULT_TRANSIT_MOUNT: "elsewhere" }, /refused elsewhere\/decrypt with 404/],
    [{ VAULT_CACERT: join(folder, "other.pem") }, /does not answer/],
  ] as const) {
    if ("VAULT_CACERT" in change) await writeFile(change.VAULT_CACERT, (await makeAuthority("another", 1)).cert);
    const refused = (error: unknown) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, /^ENCRYPTION_KEYS: key k1 cannot be opened: Vault at https:/);
      assert.match(error.message, wanted);
      for (const secret of [ciphertext, bent, vault.token, stranger]) assert.ok(!error.message.includes(secret));
      assert.ok(!/\n|invalid|denied|route/.test(error.message), "the answer is not repeated");
      return true;
    };
    await assert.rejects(open({ ...env, ...change }), refused);
  }
});

test("an unavailable server is retried five times, a refusal is final", async () => {
  const a = key();
  const env = { ...byToken(), ENCRYPTION_KEYS: `k1:${await wrapped(a)}`, HASH_KEY: key() };
  vault.calls.splice(0);
  vault.answerNext(2, 503, '{"errors":["Vault is sealed"]}');
  assert.equal((await open(env)).ENCRYPTION_KEYS.get("k1")?.toString("base64"), a);
  assert.equal(vault.calls.length, 3);
  vault.calls.splice(0);
  await assert.rejects(open({ ...env, VAULT_TOKEN: "hvs.junk" }), /403/);
  assert.equal(vault.calls.length, 1);
  vault.calls.splice(0);
  vault.seal(true);
  try {
    await assert.rejects(open(env), /with 503: it is sealed or in maintenance/);
  } finally {
    vault.seal(false);
  }
  assert.equal(vault.calls.length, 5);
});

test("an answer that is not a key is refused", async () => {
  const env = { ...byToken(), ENCRYPTION_KEYS: `k1:${await wrapped(key())}`, HASH_KEY: key() };
  const data = (plaintext: unknown) => JSON.stringify({ data: { plaintext } });
  for (const body of ["", "[]", "null", "{}", data("c2hvcnQ="), data(7), data(null), "x".repeat(1_000)]) {
    vault.answerNext(1, 200, body);
    await assert.rejects(
      open(env),
      /cannot be opened: Vault at \S+ decrypted something other than a 32-byte key/,
      body.slice(0, 20),
    );
  }
  vault.answerNext(5, 200, `{"data":"${"x".repeat(100_000)}"}`);
  await assert.rejects(open(env), /does not answer/);
  vault.answerNext(1, 307, "");
  await assert.rejects(open(env), /with 307/);
});

test("the command wraps plain keys, creates wrapped ones, and rewraps after a rotation", async () => {
  const [a, h] = [key(), key()];
  const env = byToken();
  const wrapResult = await wrapKeys(["wrap"], { ...env, ENCRYPTION_KEYS: `k1:${a}`, HASH_KEY: h });
  assert.equal(wrapResult.code, 0, wrapResult.err);
  const [encryption = "", hash = ""] = wrapResult.out
    .trim()
    .split("\n")
    .map((line) => line.replace(/^[A-Z_]+=/, ""));
  assert.match(encryption, /^k1:vault:v1:/);
  assert.match(hash, /^vault:v1:/);
  const more = await wrapKeys(["new", "k2"], { ...env, ENCRYPTION_KEYS: encryption });
  assert.match(more.out, /^ENCRYPTION_KEYS=k1:vault:v1:[^,:]+,k2:vault:v1:[^,:]+\n$/);
  const both = more.out.trim().replace("ENCRYPTION_KEYS=", "");
  const before = await open({ ...env, ENCRYPTION_KEYS: both, HASH_KEY: hash });
  vault.rotate();
  const rewrapped = await wrapKeys(["rewrap"], { ...env, ENCRYPTION_KEYS: both, HASH_KEY: hash });
  assert.match(rewrapped.out, /^ENCRYPTION_KEYS=k1:vault:v2:[^,:]+,k2:vault:v2:[^,:]+\nHASH_KEY=vault:v2:[^,:]+\n$/);
  vault.forgetBelow(2);
  await assert.rejects(open({ ...env, ENCRYPTION_KEYS: both, HASH_KEY: hash }), /400/);
  const [newEncryption = "", newHash = ""] = rewrapped.out
    .trim()
    .split("\n")
    .map((line) => line.replace(/^[A-Z_]+=/, ""));
  const after = await open({ ...env, ENCRYPTION_KEYS: newEncryption, HASH_KEY: newHash });
  assert.deepEqual([after.ENCRYPTION_KEYS, after.HASH_KEY], [before.ENCRYPTION_KEYS, before.HASH_KEY]);
  assert.equal(after.ENCRYPTION_KEYS.get("k1")?.toString("base64"), a);
  const repeated = await wrapKeys(["new", "k1"], { ...env, ENCRYPTION_KEYS: encryption });
  assert.deepEqual([repeated.code, repeated.out, repeated.err], [1, "", "there is a key k1\n"]);
  assert.equal((await wrapKeys(["sell"], env)).code, 2);
});

test("a running service does not need the key management service; a starting one exits with one line", async () => {
  const config = await serviceConfig("merchant");
  const [a, h] = [key(), key()];
  const own = await startVaultStandIn(); // plain HTTP, as trials may use
  const env = { ...byToken(), VAULT_ADDR: own.url, VAULT_TOKEN: own.token, HASH_KEY: h };
  const { out } = await wrapKeys(["wrap"], { ...env, ENCRYPTION_KEYS: `k1:${a}` });
  const ENCRYPTION_KEYS = /^ENCRYPTION_KEYS=(.+)$/m.exec(out)?.[1] ?? "";
  const opened = await open({ ...env, ENCRYPTION_KEYS });
  const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
  const service = await startMerchant({ ...config, ...simulator, ...opened });
  const peer = connectPeer({ url: `http://127.0.0.1:${service.port}`, token: config.RPC_TOKEN });
  try {
    await own.stop();
    const profile = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };
    assert.ok(
      (await peer.client(MerchantService).createMerchant(profile)).merchant,
      "it can still seal a sandbox account",
    );
  } finally {
    peer.close();
    await service.stop();
  }
  await writeFile(join(folder, "callers"), callerLine("gateway", randomToken(32)));
  const started = await run("services/merchant/main.ts", [], {
    ...env,
    ...simulator,
    ENCRYPTION_KEYS,
    PORT: "0",
    DATABASE_URL: config.DATABASE_URL,
    NATS_URL: config.NATS_URL,
    RPC_CALLERS_FILE: join(folder, "callers"),
  });
  assert.equal(started.code, 1);
  const expected = new RegExp(
    `^merchant: ENCRYPTION_KEYS: key k1 cannot be opened: Vault at ${own.url} does not answer \\(ECONNREFUSED\\)\n$`,
  );
  assert.match(started.err, expected);
  assert.equal(started.out, "");
});

test("conflicting settings are all named before any call", async () => {
  const wrappedOnly = { ENCRYPTION_KEYS: `k1:${await wrapped(key())}`, HASH_KEY: key() };
  vault.calls.splice(0);
  const named = async (env: Variables) =>
    await open(env).then(
      () => [],
      (error: unknown) =>
        error instanceof ConfigError ? error.message.split("\n").map((line) => line.split(" ")[0]) : [error],
    );
  assert.deepEqual(await named({ ...wrappedOnly, ...byToken(), VAULT_KUBERNETES_ROLE: "x" }), [
    "VAULT_TOKEN",
    "VAULT_KUBERNETES_JWT",
  ]);
  assert.deepEqual(await named({ ...wrappedOnly, ...byToken(), VAULT_TRANSIT_MOUNT: "a/../b", VAULT_TOKEN: "a b" }), [
    "VAULT_TOKEN",
    "VAULT_TRANSIT_MOUNT",
  ]);
  assert.deepEqual(vault.calls, []);
  const same = await wrapped(wrappedOnly.HASH_KEY);
  assert.deepEqual(await named({ ...byToken(), ENCRYPTION_KEYS: `k1:${same}`, HASH_KEY: wrappedOnly.HASH_KEY }), [
    "ENCRYPTION_KEYS",
  ]);
});

test("a service refuses to start with other keys than its database was sealed with", async () => {
  const config = await serviceConfig("merchant");
  const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
  const first = await startMerchant({ ...config, ...simulator });
  const peer = connectPeer({ url: `http://127.0.0.1:${first.port}`, token: config.RPC_TOKEN });
  const profile = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };
  await peer.client(MerchantService).createMerchant(profile);
  peer.close();
  await first.stop();
  const sealed = config.ENCRYPTION_KEYS.get("k1") ?? assert.fail();
  const other = randomBytes(32);
  for (const [keys, why] of [
    [[["k1", other]], /key k1 does not open .*connectors\.credentials.*a different key has its name/],
    [[["k2", other]], /sealed under k1, and none of the configured keys has that name/],
  ] as const) {
    const restart = startMerchant({ ...config, ...simulator, ENCRYPTION_KEYS: new Map(keys) });
    await assert.rejects(restart, (error) => error instanceof ConfigError && why.test(error.message));
  }
  const rotated = new Map([
    ["k2", other],
    ["k1", sealed],
  ]);
  await (await startMerchant({ ...config, ...simulator, ENCRYPTION_KEYS: rotated })).stop();
});

test.run();
