// Encryptions are counted before they happen and end at 2^32, on a real PostgreSQL with the rights of a service; and
// what a scrape of a service's metrics tells of that and of everything else around it.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { EncryptionCount, encryptionStates, encryptionsMax } from "#platform/operate/encryption-count.ts";
import { reencryptColumn } from "#platform/operate/reencrypt.ts";
import type { KeyRing } from "#platform/secrets/key-ring.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { asFailure } from "#platform/values/failure.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { serviceConfig } from "../service-config.ts";

const test = suite("encryptions of a key");
const block = 4_096;
const ring = (id: string): KeyRing => new Map([[id, randomBytes(32)]]);
let db: Database;

test.before(async () => {
  const { serviceUrl: url } = await freshDatabase("merchant");
  db = await Database.open({ url, name: "test", log: createLog("test", "error") });
});
test.after(() => db?.close());

const counted = async (id: string) => (await encryptionStates(db)).get(id)?.encryptions ?? 0;

/** Encrypts so often, as a service does whose job comes by. */
async function encrypt(vault: Vault, count: EncryptionCount, times: number): Promise<void> {
  for (let done = 0; done < times; done++) {
    if (done % 1_000 === 0) await count.job.runOnce();
    vault.encrypt("x", "c");
  }
}

const refusal = (vault: Vault) => {
  try {
    vault.encrypt("x", "c");
    return undefined;
  } catch (error) {
    const failure = asFailure(error);
    return `${failure.reason}: ${failure.cause instanceof Error ? failure.cause.message : ""}`;
  }
};

test("the count is never below what was encrypted, by however many processes, and however they end", async () => {
  const keys = ring("k1");
  let done = 0;
  for (let start = 1; start <= 3; start++) {
    // Each round's processes are left as they are, as if killed.
    const counts = await Promise.all([EncryptionCount.begin(db, keys), EncryptionCount.begin(db, keys)]);
    await Promise.all(counts.map((count) => encrypt(new Vault(keys, count), count, 6_000)));
    done += counts.length * 6_000;
    const known = await counted("k1");
    assert.ok(known >= done, `${known} counted, ${done} done`);
    assert.ok(known <= done + start * counts.length * block, `${known} counted, ${done} done`);
  }
});

test("at 2^32 a key encrypts no more, whoever asks at once; it still opens what it sealed, and another key encrypts", async () => {
  const keys = ring("worn");
  const first = await EncryptionCount.begin(db, keys);
  const sealed = new Vault(keys, first).encrypt("secret", "c");
  // Room for three blocks and a bit.
  await db.rows("update encryption_counts set encryptions = $1 where key_id = 'worn'", [
    encryptionsMax - 3 * block - 10,
  ]);
  const counts = await Promise.all(Array.from({ length: 8 }, () => EncryptionCount.begin(db, keys)));
  const vaults = counts.map((count) => new Vault(keys, count));
  let done = 0;
  const refusals: string[] = [];
  for (const [i, vault] of vaults.entries()) {
    let why: string | undefined;
    for (; why === undefined; why = refusal(vault)) {
      await counts[i]?.reserve(1);
      done++;
    }
    refusals.push(why);
    done--;
  }
  assert.equal(done, 3 * block);
  assert.equal(await counted("worn"), encryptionsMax - 10);
  assert.deepEqual(
    new Set(refusals),
    new Set(["INTERNAL_ERROR: encryption key worn has encrypted 2^32 times: put a new key first in ENCRYPTION_KEYS"]),
  );
  const [worn] = vaults;
  assert.equal(worn?.decrypt(sealed, "c").toString(), "secret");
  const both: KeyRing = new Map([...ring("fresh"), ...keys]);
  const rotated = new Vault(both, await EncryptionCount.begin(db, both));
  assert.equal(refusal(rotated), undefined);
  assert.equal(rotated.decrypt(sealed, "c").toString(), "secret");
  await assert.rejects(
    db.rows("update encryption_counts set encryptions = encryptions + 11 where key_id = 'worn'"),
    /check constraint/,
  );
});

test("while the database counts nothing, a process encrypts what it has taken and not once more", async () => {
  const keys = ring("k2");
  let isAway = false;
  const sometimes = {
    rows: async <Row>(text: string, params?: readonly unknown[]) => {
      if (isAway) throw new Error("away");
      return await db.rows<Row>(text, params);
    },
  };
  const count = await EncryptionCount.begin(sometimes, keys);
  const vault = new Vault(keys, count);
  isAway = true;
  for (let i = 0; i < block; i++) assert.equal(refusal(vault), undefined);
  await assert.rejects(count.job.runOnce(), /away/);
  assert.match(refusal(vault) ?? "", /^SERVICE_UNAVAILABLE: /);
  assert.equal(await counted("k2"), block);
  isAway = false;
  await count.job.runOnce();
  assert.equal(refusal(vault), undefined);
});

test("sealing a table again counts each value", async () => {
  const { url } = await freshDatabase("payments");
  const own = await Database.open({ url, name: "test", log: createLog("test", "error") });
  try {
    const [old, fresh] = [ring("old"), ring("new")];
    const sealed = new Vault(old).encrypt("x", "c");
    await own.rows("create table sealed (value bytea)");
    await own.rows("insert into sealed select $1 from generate_series(1, 10000)", [sealed]);
    const keys: KeyRing = new Map([...fresh, ...old]);
    const vault = new Vault(keys, await EncryptionCount.begin(own, keys));
    assert.equal(await reencryptColumn(own, vault, { table: "sealed", column: "value", context: "'c'" }), 10_000);
    const known = (await encryptionStates(own)).get("new")?.encryptions ?? 0;
    assert.ok(known >= 10_000 && known <= 10_000 + block, String(known));
  } finally {
    await own.close();
  }
});

test("the first scrape of a service has a value for every gauge that alerts are made of", async () => {
  const config = await serviceConfig("merchant");
  const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
  const service = await startMerchant({ ...config, ...simulator });
  try {
    await eventually("the service to be ready", () => service.ready());
    const told = await register.metrics();
    const key = /^tollbooth_encryption_key_(\w+)\{service="merchant",key="k1"\} (\S+)$/gm;
    const values = Object.fromEntries([...told.matchAll(key)].map(([, name = "", value]) => [name, Number(value)]));
    assert.deepEqual({ ...values, age_seconds: 0 }, { uses: block, uses_max: encryptionsMax, age_seconds: 0 });
    assert.ok((values.age_seconds ?? -1) >= 0);
    for (const name of ["outbox_waiting", "outbox_oldest_seconds"]) {
      assert.ok(new RegExp(`^tollbooth_${name}\\{service="merchant"\\} \\d`, "m").test(told), name);
    }
    for (const name of [
      "stream_messages",
      "stream_bytes",
      "stream_copies",
      "consumer_pending",
      "consumer_unacknowledged",
      "consumer_redelivered",
    ]) {
      assert.ok(new RegExp(`^tollbooth_${name}\\{stream="[^"]*-merchant".*\\} \\d`, "m").test(told), name);
    }
  } finally {
    await service.stop();
  }
});

test.run();
