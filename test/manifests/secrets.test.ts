// The store form of `tollbooth secrets manifests` has all that production's pods and database roles read.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSecrets, type Secrets } from "../../deploy/cli/setup/secret-formats.ts";
import type { KubeObject } from "../harness/files/kube-schema.ts";
import { ofKind, renderOverlay, testRendered, workloads } from "../harness/files/overlays.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const test = suite("secrets of the manifests", { timeoutMs: 120_000 });
const root = join(import.meta.dirname, "../..");

/** Made by operators of the cluster, not by us: PostgreSQL's authority, and the key of its backups' bucket. */
const ofOthers = ["postgres-ca", "postgres-backups"];

function storeLines(): { text: string; secrets: Secrets } {
  const at = "@postgres-rw:5432/tollbooth_{service}?sslmode=verify-full";
  const urls = [`postgres://{service}_service:{password}${at}`, `postgres://{service}:{password}${at}`];
  const args = ["deploy/cli/main.ts", "secrets", "manifests", ...urls, "--store"];
  const text = execFileSync(process.execPath, args, {
    cwd: root,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  return { text, secrets: readSecrets(text) };
}

/** `Secret key` of everything that pods read: mounted files that a setting or a configuration names, and variables. */
function keysRead(objects: readonly KubeObject[]): Set<string> {
  const found = new Set<string>();
  const dataOf = (name: string) =>
    objects.find((each) => each.kind === "ConfigMap" && each.metadata.name === name)?.data;
  for (const workload of workloads(objects)) {
    const { containers, volumes = [] } = workload.spec.template.spec;
    for (const container of containers) {
      const sources = container.envFrom ?? [];
      const maps = [...sources, ...volumes].flatMap(({ configMapRef, configMap }) => configMapRef ?? configMap ?? []);
      const texts = JSON.stringify([container, ...maps.map(({ name }: { name: string }) => dataOf(name))]);
      for (const { name, mountPath } of container.volumeMounts ?? []) {
        const { secret } = volumes.find((each: { name: string }) => each.name === name) ?? {};
        if (!secret) continue;
        const named = [...texts.matchAll(new RegExp(`${mountPath}/([\\w.-]+)`, "g"))].map(([, key]) => key);
        const items = (secret.items ?? []).map(({ key }: { key: string }) => key);
        assert.ok(named.length + items.length > 0, `${workload.metadata.name} reads no key of ${secret.secretName}`);
        for (const key of [...named, ...items]) found.add(`${secret.secretName} ${key}`);
      }
      for (const { secretRef } of sources) {
        if (!secretRef) continue;
        for (const [, key] of texts.matchAll(/\$([A-Z][A-Z_]+_NKEY(?:_PREVIOUS)?)\b/g))
          found.add(`${secretRef.name} ${key}`);
      }
    }
  }
  for (const cluster of ofKind(objects, "Cluster")) {
    for (const { passwordSecret } of cluster.spec.managed.roles)
      for (const key of ["username", "password"]) found.add(`${passwordSecret.name} ${key}`);
  }
  return found;
}

testRendered(
  test,
  "every Secret and key that production reads is in the store form, under the name that it is read by",
  () => {
    const objects = renderOverlay("production");
    const { secrets } = storeLines();
    const read = [...keysRead(objects)].filter((each) => !ofOthers.includes(each.split(" ")[0] ?? ""));
    assert.ok(read.length > 60, `${read.length} keys`);
    const missing = read.filter((each) => {
      const [name = "", key = ""] = each.split(" ");
      return !secrets[name]?.[key];
    });
    assert.deepEqual(missing, []);
    const stored = ofKind(objects, "ExternalSecret").filter(({ metadata }) => !ofOthers.includes(metadata.name));
    for (const { metadata, spec } of stored) {
      assert.deepEqual(spec.dataFrom, [{ extract: { key: `tollbooth/${metadata.name}` } }]);
      assert.equal(spec.target.name, metadata.name);
      assert.ok(secrets[metadata.name], `${metadata.name} is in the store form`);
    }
    const names = new Set(read.map((each) => each.split(" ")[0]));
    assert.deepEqual(
      [...names].filter((name) => !stored.some(({ metadata }) => metadata.name === name)),
      [],
    );
  },
);

test("docs/production.md's loop hands each Secret's JSON to the store's command under its name", async () => {
  const page = readFileSync(join(root, "docs/production.md"), "utf8");
  const [, loop = ""] = /^ +(while read .* \| vault kv put .*) < secrets\.txt$/m.exec(page) ?? assert.fail("no loop");
  const folder = await tempDir("store");
  // Vault's form: the entry's path and `-`, for JSON on standard input.
  const vault = `#!/bin/sh\nvalue=$(cat)\nfor path; do [ "$path" = - ] || last=$path; done\nprintf '%s %s\\n' "$last" "$value"\n`;
  writeFileSync(join(folder, "vault"), vault, { mode: 0o755 });
  const { text, secrets } = storeLines();
  const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
  const put = execFileSync("sh", ["-c", loop], { input: text, encoding: "utf8", env });
  rmSync(folder, { recursive: true });
  assert.deepEqual(
    readSecrets(put),
    Object.fromEntries(Object.entries(secrets).map(([name, values]) => [`tollbooth/${name}`, values])),
  );
});

test.run();
