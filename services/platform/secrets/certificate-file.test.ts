import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError, readConfig } from "#platform/process/config.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { brokerSettings, serviceSettings } from "#platform/service/settings.ts";
import { makeAuthority, makeServerCertificate } from "../../../deploy/local/state/certificate.ts";
import { suite } from "../../../test/harness/suite.ts";
import { tempDir } from "../../../test/harness/temp-dir.ts";
import { keyManagementSettings } from "./open-keys.ts";

const test = suite("files of certificates");
const authority = await makeAuthority("today's", 1);
const valid = authority.cert;
// Valid since an hour ago, like all certificates made here.
const ended = (await makeAuthority("yesterday's", -0.01)).cert;

function problemOf(NATS_CA_FILE: string): string {
  try {
    readConfig({ NATS_CA_FILE: brokerSettings.NATS_CA_FILE }, { NATS_CA_FILE });
    return "";
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.message;
  }
}

async function fileOf(text: string): Promise<string> {
  const path = join(await tempDir("certificates"), "ca.crt");
  await writeFile(path, text);
  return path;
}

test("names a file that is missing, has no or half a certificate, or an expired one, with the problem", async () => {
  assert.equal(problemOf("/nowhere/ca.crt"), "NATS_CA_FILE names /nowhere/ca.crt, which cannot be read");
  const wrong: [string, RegExp][] = [
    ["", /, which has no certificate \(PEM\)$/],
    [valid.replace(/\n[^-]+\n/, "\nAAAA\n"), /, which has a certificate that cannot be read$/],
    [ended, /, whose certificate \(CN=yesterday's\) ended on \w+ +\d+ .* GMT$/],
  ];
  for (const [text, what] of wrong) {
    const path = await fileOf(text);
    const problem = problemOf(path);
    assert.ok(problem.startsWith(`NATS_CA_FILE names ${path}`), problem);
    assert.match(problem, what);
    assert.ok(!problem.includes("\n"), problem);
  }
});

test("accepts an expired CA certificate next to a valid one", async () => {
  assert.equal(problemOf(await fileOf(ended + valid)), "");
  assert.equal(problemOf(await fileOf(valid)), "");
});

test("checks the TLS files of a database URL and the KMS without repeating a password", async () => {
  const path = await fileOf(ended);
  for (const parameter of ["sslrootcert", "sslcert", "sslkey"]) {
    const file = parameter === "sslkey" ? "/nowhere/key.pem" : path;
    const DATABASE_URL = `postgres://role:sesame@db/one?sslmode=verify-full&${parameter}=${encodeURIComponent(file)}`;
    const read = () => readConfig({ DATABASE_URL: serviceSettings.DATABASE_URL }, { DATABASE_URL });
    assert.throws(read, (error: Error) => {
      assert.ok(error.message.startsWith(`DATABASE_URL names ${file}, `), error.message);
      return !error.message.includes("sesame");
    });
  }
  const { VAULT_CACERT } = keyManagementSettings;
  assert.throws(
    () => readConfig({ VAULT_CACERT }, { VAULT_CACERT: path }),
    /^ConfigError: VAULT_CACERT names .* ended on/,
  );
});

test("a certificate of the RPC port and its key belong together, and the error names setting, file and problem", async () => {
  const { RPC_TLS_CERT_FILE, RPC_TLS_KEY_FILE } = serviceSettings;
  const problems = (env: Record<string, string>) => {
    try {
      readProductionConfig({ RPC_TLS_CERT_FILE, RPC_TLS_KEY_FILE }, env);
      return "";
    } catch (error) {
      return error instanceof ConfigError ? error.message : String(error);
    }
  };
  const [own, other] = [
    await makeServerCertificate(authority, ["a"], 1),
    await makeServerCertificate(authority, ["a"], 1),
  ];
  const [cert, key, otherKey] = [await fileOf(own.cert), await fileOf(own.key), await fileOf(other.key)];
  assert.equal(problems({}), "");
  assert.equal(problems({ RPC_TLS_CERT_FILE: cert, RPC_TLS_KEY_FILE: key }), "");
  const together = "RPC_TLS_CERT_FILE and RPC_TLS_KEY_FILE belong together";
  assert.equal(problems({ RPC_TLS_CERT_FILE: cert }), `RPC_TLS_KEY_FILE is missing: ${together}`);
  assert.equal(problems({ RPC_TLS_KEY_FILE: key }), `RPC_TLS_CERT_FILE is missing: ${together}`);
  assert.equal(
    problems({ RPC_TLS_CERT_FILE: cert, RPC_TLS_KEY_FILE: otherKey }),
    `RPC_TLS_KEY_FILE names ${otherKey}, which is not the key of the certificate in ${cert}`,
  );
  assert.equal(
    problems({ RPC_TLS_CERT_FILE: cert, RPC_TLS_KEY_FILE: cert }),
    `RPC_TLS_KEY_FILE names ${cert}, which has no private key (PEM) without a passphrase`,
  );
  assert.match(
    problems({ RPC_TLS_CERT_FILE: await fileOf(ended), RPC_TLS_KEY_FILE: key }),
    /^RPC_TLS_CERT_FILE names .* ended on/,
  );
});

test.run();
