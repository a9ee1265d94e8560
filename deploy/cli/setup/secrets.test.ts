// `tollbooth secrets manifests` prints Secrets that cannot overwrite those in use.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { suite } from "../../../test/harness/suite.ts";

const test = suite("secrets manifests", { timeoutMs: 60_000 });
const main = join(import.meta.dirname, "../main.ts");
const databases = "postgres://{service}_service:{password}@postgres-rw:5432/tollbooth_{service}?sslmode=verify-full";

interface SecretManifest {
  readonly metadata: { readonly name: string };
  readonly immutable: boolean;
  readonly stringData: Readonly<Record<string, string>>;
}

function run(...options: string[]): { code: number | null; items: SecretManifest[]; errors: string } {
  const args = [main, "secrets", "manifests", databases, ...options];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { code: status, items: status === 0 ? JSON.parse(stdout).items : [], errors: stderr };
}

test("prints keys and passwords as immutable Secrets, with the advice to keep a copy first", () => {
  const { items, errors } = run();
  const locking = items.filter(({ stringData }) => stringData.ENCRYPTION_KEYS ?? stringData.password);
  assert.ok(locking.length >= 8);
  for (const { metadata, immutable } of locking) assert.equal(immutable, true, metadata.name);
  const callers = items.find(({ metadata }) => metadata.name === "rpc-callers");
  assert.equal(callers?.immutable, false, "a rotation adds lines to it");
  assert.match(errors, /store a copy/);
  assert.match(errors, /kubectl create/);
});

test("--only prints the named Secret and those that share its keys", () => {
  const token = run("--only", "rpc-token-webhook");
  assert.deepEqual(
    token.items.map(({ metadata }) => metadata.name),
    ["rpc-token-webhook"],
  );
  assert.match(token.errors, /Add this line to the Secret rpc-callers: webhook /);
  assert.ok(!token.errors.includes(token.items[0]?.stringData.token ?? ""), "the line has only the token's digest");
  const keys = run("--only", "event-keys-webhook").items.map(({ metadata }) => metadata.name);
  assert.ok(keys.length > 1 && keys.every((name) => name.startsWith("event-keys-")), keys.join(" "));
});

test("--only refuses an unknown name and lists the known ones", () => {
  const { code, errors } = run("--only", "tollbooth-chekout");
  assert.equal(code, 2);
  assert.match(errors, /tollbooth-chekout.*tollbooth-checkout/s);
});

test.run();
