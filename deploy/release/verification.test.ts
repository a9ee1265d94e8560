// `tollbooth release verify` on small folders: each difference from the built release is refused, and openssl reads the
// signature.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "#platform/process/config.ts";
import { suite } from "../../test/harness/suite.ts";
import { tempDir } from "../../test/harness/temp-dir.ts";
import { runCommandLine } from "../cli/run-command-line.ts";
import { digestsOf, formatSums, parseSums } from "./checksums.ts";
import { makeStatement } from "./provenance.ts";
import { readSigningKey, signText } from "./signature.ts";

const root = join(import.meta.dirname, "../..");
const test = suite("release verification");
const keys = {
  ecdsa: generateKeyPairSync("ec", { namedCurve: "prime256v1" }),
  ed25519: generateKeyPairSync("ed25519"),
  rsa: generateKeyPairSync("rsa", { modulusLength: 2048 }),
};
let place = "";
let count = 0;

test.before(async () => {
  place = await tempDir("release");
  mkdirSync(join(place, "made/chart"), { recursive: true });
  writeFileSync(join(place, "made/chart/values.yaml"), "image: one\n");
  writeFileSync(join(place, "made/manifests.yaml"), "kind: Namespace\n");
  await seal(join(place, "made"));
  for (const [name, { privateKey, publicKey }] of Object.entries(keys)) {
    writeFileSync(join(place, `${name}.pub`), publicKey.export({ type: "spki", format: "pem" }));
    writeFileSync(join(place, `${name}.key`), privateKey.export({ type: "pkcs8", format: "pem" }));
  }
});
test.after(() => rmSync(place, { recursive: true }));

async function seal(folder: string): Promise<void> {
  const source = { commit: "0".repeat(40), isClean: true, seconds: 0 };
  const statement = await makeStatement(root, "0.2.0", source, undefined, await digestsOf(folder, []));
  writeFileSync(join(folder, "provenance.intoto.json"), statement);
  writeFileSync(join(folder, "SHA256SUMS"), formatSums(await digestsOf(folder, [])));
}

/** A copy of the release, changed. */
function copyWith(change: (folder: string) => void, key?: KeyObject): string {
  const folder = join(place, `copy-${++count}`);
  cpSync(join(place, "made"), folder, { recursive: true });
  if (key) writeFileSync(join(folder, "SHA256SUMS.sig"), signText(readFileSync(join(folder, "SHA256SUMS")), key));
  change(folder);
  return folder;
}

/** @returns the exit code, and each file with its problem */
async function verify(folder: string, ...words: string[]): Promise<[number, Record<string, string[]>]> {
  let printed = "";
  const log = console.log;
  console.log = (text: string) => void (printed += text);
  try {
    const code = await runCommandLine(["release", "verify", folder, ...words, "--json"], { log, error: console.error });
    const rows: { file: string; problem: string }[] = JSON.parse(printed);
    const grouped = Map.groupBy(rows, ({ file }) => file);
    return [code, Object.fromEntries([...grouped].map(([file, found]) => [file, found.map(({ problem }) => problem)]))];
  } finally {
    console.log = log;
  }
}

test("an unchanged release is accepted, without and with its signature", async () => {
  assert.deepEqual(await verify(copyWith(() => {})), [0, {}]);
  for (const kind of ["ecdsa", "ed25519"] as const) {
    const folder = copyWith(() => {}, keys[kind].privateKey);
    assert.deepEqual(await verify(folder, "--key", join(place, `${kind}.pub`)), [0, {}], kind);
  }
});

test("a changed, missing, additional or linked file is refused by its name, with exit code 1", async () => {
  const values = "chart/values.yaml";
  const bySums = "SHA256SUMS";
  const byBoth = (problem: string) => [`${problem} ${bySums}`, `${problem} provenance.intoto.json`];
  const changed = copyWith((folder) => writeFileSync(join(folder, values), "image: two\n"));
  assert.deepEqual(await verify(changed), [1, { [values]: byBoth("differs from") }]);
  const missing = copyWith((folder) => rmSync(join(folder, values)));
  assert.deepEqual(await verify(missing), [1, { [values]: ["is missing", "is missing"] }]);
  const additional = copyWith((folder) => writeFileSync(join(folder, "chart/more.yaml"), ""));
  assert.deepEqual(await verify(additional), [1, { "chart/more.yaml": byBoth("is not in") }]);
  const linked = copyWith((folder) => {
    rmSync(join(folder, values));
    symlinkSync(join(place, "made", values), join(folder, values));
  });
  assert.deepEqual(await verify(linked), [1, { [values]: byBoth("differs from") }]);
});

test("sums that were changed with a file contradict the provenance, and provenance changed too the signature", async () => {
  const change = async (folder: string) => {
    writeFileSync(join(folder, "manifests.yaml"), "kind: Secret\n");
    const digests = await digestsOf(folder, ["SHA256SUMS", "SHA256SUMS.sig"]);
    writeFileSync(join(folder, "SHA256SUMS"), formatSums(digests));
  };
  const half = copyWith(() => {}, keys.ecdsa.privateKey);
  await change(half);
  assert.deepEqual(await verify(half), [1, { "manifests.yaml": ["differs from provenance.intoto.json"] }]);
  rmSync(join(half, "SHA256SUMS"));
  const signature = readFileSync(join(half, "SHA256SUMS.sig"));
  rmSync(join(half, "SHA256SUMS.sig"));
  rmSync(join(half, "provenance.intoto.json"));
  await seal(half);
  writeFileSync(join(half, "SHA256SUMS.sig"), signature);
  assert.deepEqual(await verify(half), [0, {}], "without a key sums alone cannot show it");
  const refused = { SHA256SUMS: ["was changed, or signed with another key"] };
  assert.deepEqual(await verify(half, "--key", join(place, "ecdsa.pub")), [1, refused]);
});

test("a missing, damaged or foreign signature, damaged sums and a foreign statement are refused", async () => {
  const byKey = ["--key", join(place, "ecdsa.pub")];
  const unsigned = { "SHA256SUMS.sig": ["is missing: the release is not signed"] };
  assert.deepEqual(
    await verify(
      copyWith(() => {}),
      ...byKey,
    ),
    [1, unsigned],
  );
  const foreign = { SHA256SUMS: ["was changed, or signed with another key"] };
  const other = copyWith(() => {}, keys.ed25519.privateKey);
  assert.deepEqual(await verify(other, ...byKey), [1, foreign]);
  const damaged = copyWith((folder) => writeFileSync(join(folder, "SHA256SUMS.sig"), "x"), keys.ecdsa.privateKey);
  assert.deepEqual(await verify(damaged, ...byKey), [1, foreign]);
  const cut = copyWith((folder) => appendFileSync(join(folder, "SHA256SUMS"), "0"));
  assert.deepEqual(await verify(cut), [1, { SHA256SUMS: ["is damaged"] }]);
  const [, found] = await verify(copyWith((folder) => writeFileSync(join(folder, "provenance.intoto.json"), "{}")));
  assert.ok(found["provenance.intoto.json"]?.includes("is no provenance statement"));
  assert.deepEqual(await verify(copyWith((folder) => rmSync(join(folder, "SHA256SUMS")))), [
    1,
    { SHA256SUMS: ["is missing"] },
  ]);
});

test("openssl and sha256sum check a release as its page shows", () => {
  const folder = copyWith(() => {}, keys.ecdsa.privateKey);
  const run = (program: string, ...words: string[]) =>
    execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: "pipe" });
  const words = ["-verify", join(place, "ecdsa.pub"), "-signature", "SHA256SUMS.sig", "SHA256SUMS"];
  assert.equal(run("openssl", "dgst", "-sha256", ...words), "Verified OK\n");
  assert.match(run("sha256sum", "-c", "SHA256SUMS"), /^chart\/values\.yaml: OK$/m);
  appendFileSync(join(folder, "SHA256SUMS"), "\n");
  assert.throws(() => run("openssl", "dgst", "-sha256", ...words), /Verification failure|failed/);
});

test("a key of another kind, or no key, is refused without its content", () => {
  writeFileSync(join(place, "words.key"), "-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n");
  for (const name of ["rsa.key", "words.key", "missing.key"])
    assert.throws(
      () => readSigningKey(join(place, name)),
      (error) => error instanceof ConfigError && error.message.includes(name) && !error.message.includes("c2VjcmV0"),
    );
});

test("sums with a line of another form, or a file twice, are damaged", () => {
  const line = `${"0".repeat(64)}  a\n`;
  assert.deepEqual(parseSums(line), new Map([["a", "0".repeat(64)]]));
  for (const text of [`${line}${line}`, `${line}x\n`, line.trimEnd()]) assert.equal(parseSums(text), undefined);
});

test.run();
