// `npm run release` twice: equal files, a verified result, and one changed byte refused.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { releaseVersion } from "#platform/values/release.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const root = join(import.meta.dirname, "../..");
const version = releaseVersion();
const run = promisify(execFile);
const test = suite("release", { timeoutMs: 120_000, hookTimeoutMs: 600_000 });
let place = "";
let printed = "";

test.before(async () => {
  place = await tempDir("releases");
  execFileSync("openssl", ["ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", join(place, "release.key")]);
  const toPublic = ["ec", "-in", join(place, "release.key"), "-pubout", "-out", join(place, "release.pub")];
  execFileSync("openssl", toPublic, { stdio: "ignore" });
  // The second has another zone, language and mode of new files.
  [printed = ""] = await Promise.all([
    build("one", "022", {}),
    build("two", "077", { TZ: "Pacific/Auckland", LANG: "tr_TR.UTF-8" }),
  ]);
});
test.after(() => rmSync(place, { recursive: true }));

async function build(name: string, umask: string, env: Record<string, string>): Promise<string> {
  const words = ["--without-image", "--key", join(place, "release.key"), "--out", join(place, name)];
  const command = ["-c", 'umask "$0" && exec "$@"', umask, process.execPath, "deploy/release/release.ts", ...words];
  const { stdout } = await run("sh", command, {
    cwd: root,
    env: { ...process.env, ...env },
  });
  return stdout;
}

const sumsOf = (name: string) => readFileSync(join(place, name, "SHA256SUMS"), "utf8");

async function verify(name: string): Promise<{ code: number; out: string }> {
  const words = ["deploy/cli/main.ts", "release", "verify", join(place, name), "--key", join(place, "release.pub")];
  return await run(process.execPath, words, { cwd: root }).then(
    ({ stdout }) => ({ code: 0, out: stdout }),
    (error: { code: number; stdout: string }) => ({ code: error.code, out: error.stdout }),
  );
}

test("two builds of one commit have equal digests", () => {
  assert.equal(sumsOf("one"), sumsOf("two"));
});

test("a release has libraries, bills of materials, compose files and provenance, and with kubectl manifests and a chart", () => {
  const files = sumsOf("one")
    .trim()
    .split("\n")
    .map((line) => line.slice(66));
  const rendered = /^(manifests-|chart\/|tollbooth-\d+\.\d+\.\d+\.tgz$)/;
  assert.deepEqual(
    files.filter((file) => !rendered.test(file)),
    [
      "deploy/image/compose-nats.conf",
      "deploy/image/compose-small.yaml",
      "deploy/image/compose.yaml",
      "deploy/kubernetes/components/nats/authorization.conf",
      "deploy/kubernetes/components/postgres/databases.sql",
      "deploy/kubernetes/components/postgres/pg_hba.conf",
      `libraries/tollbooth-${version}-py3-none-any.whl`,
      `libraries/tollbooth-checkout-js-${version}.tgz`,
      `libraries/tollbooth-node-${version}.tgz`,
      `libraries/tollbooth-rpc-${version}.tgz`,
      "provenance.intoto.json",
      "sbom.cyclonedx.json",
      "sbom.spdx.json",
    ],
  );
  const hasChart = existsSync(join(place, "one/chart/Chart.yaml"));
  assert.equal(/missing: manifests and Helm chart/.test(printed), !hasChart);
  if (hasChart) {
    const listed = execFileSync("tar", ["-tzf", join(place, `one/tollbooth-${version}.tgz`)], { encoding: "utf8" });
    const inChart = files.filter((file) => file.startsWith("chart/")).map((file) => file.replace("chart", "tollbooth"));
    assert.deepEqual(listed.trim().split("\n"), inChart);
  }
  assert.match(printed, /^missing: images: left out by --without-image$/m);
});

test("a release is verified with its key, and refused with one changed byte, by the file's name", async () => {
  const accepted = await verify("one");
  assert.equal(accepted.code, 0, accepted.out);
  assert.match(accepted.out, /every file is as released; signed with this key/);
  const file = join(place, `two/libraries/tollbooth-node-${version}.tgz`);
  const bytes = readFileSync(file);
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const refused = await verify("two");
  assert.equal(refused.code, 1);
  assert.match(refused.out, /^libraries\/tollbooth-node-[\d.]+\.tgz +differs from SHA256SUMS$/m);
});

test("the bills of materials name every package that runs, and no other", () => {
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const installed = Object.entries<{ dev?: boolean; devOptional?: boolean; version: string }>(packages)
    .filter(([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional)
    .map(([path, { version }]) => `${path.split("node_modules/").at(-1)} ${version}`);
  const spdx = JSON.parse(readFileSync(join(place, "one/sbom.spdx.json"), "utf8"));
  const cyclone = JSON.parse(readFileSync(join(place, "one/sbom.cyclonedx.json"), "utf8"));
  const inSpdx = new Set(
    spdx.packages.map(({ name, versionInfo }: Record<string, string>) => `${name} ${versionInfo}`),
  );
  const inCyclone = new Set(
    cyclone.components.map(({ group, name, version }: Record<string, string>) =>
      group ? `${group}/${name} ${version}` : `${name} ${version}`,
    ),
  );
  assert.ok(installed.length > 50);
  assert.equal(cyclone.metadata.component.name, "tollbooth", "not the clone's folder");
  const own = `tollbooth ${version}`;
  assert.deepEqual([...inCyclone].sort(), [...new Set(installed)].sort());
  assert.deepEqual([...inSpdx].sort(), [...new Set([...installed, own])].sort());
});

test("refuses a folder with other files", async () => {
  writeFileSync(join(place, "release.txt"), "");
  await assert.rejects(
    run(process.execPath, ["deploy/release/release.ts", "--out", place], { cwd: root }),
    (error: { code: number; stderr: string }) => error.code === 2 && /is no release/.test(error.stderr),
  );
  assert.ok(existsSync(join(place, "release.key")));
});

test.run();
