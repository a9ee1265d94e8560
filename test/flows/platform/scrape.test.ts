// Metrics of a service about its keys, outbox and streams, on a real PostgreSQL and broker.
import assert from "node:assert/strict";
import { register } from "prom-client";
import { readKeyAges, recordKey } from "#platform/service/encryption-keys.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { freshDatabase, openDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { serviceConfig } from "../service-config.ts";

const test = suite("a scrape of a service");

test("a key's age counts from its first use", async () => {
  const { serviceUrl: url } = await freshDatabase("merchant");
  const db = await openDatabase(url);
  try {
    await recordKey(db, "k1");
    await db.rows("update encryption_counts set first_used_at = first_used_at - interval '1 hour'");
    await recordKey(db, "k1");
    await recordKey(db, "k2");
    const ages = await readKeyAges(db);
    const hours = [...ages].map(([id, { seconds }]) => [id, Math.floor(seconds / 3_600)]);
    assert.deepEqual(hours, [
      ["k1", 1],
      ["k2", 0],
    ]);
  } finally {
    await db.close();
  }
});

test("the first scrape has a value for every gauge that alerts use", async () => {
  const config = await serviceConfig("merchant");
  const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
  const service = await startMerchant({ ...config, ...simulator });
  try {
    await eventually("the service to be ready", () => service.ready());
    const metrics = await register.metrics();
    const [, age] = /^tollbooth_encryption_key_age_seconds\{service="merchant",key="k1"\} (\S+)$/m.exec(metrics) ?? [];
    assert.ok(Number(age) >= 0, age);
    for (const name of ["outbox_waiting", "outbox_oldest_seconds"]) {
      assert.ok(new RegExp(`^tollbooth_${name}\\{service="merchant"\\} \\d`, "m").test(metrics), name);
    }
    for (const name of [
      "stream_messages",
      "stream_bytes",
      "stream_copies",
      "consumer_pending",
      "consumer_unacknowledged",
      "consumer_redelivered",
    ]) {
      assert.ok(new RegExp(`^tollbooth_${name}\\{stream="[^"]*-merchant".*\\} \\d`, "m").test(metrics), name);
    }
  } finally {
    await service.stop();
  }
});

test.run();
