// What a scrape of a service's metrics reports about its surroundings, on a real PostgreSQL and broker.
import assert from "node:assert/strict";
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { readKeyAges, recordKey } from "#platform/service/encryption-keys.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { freshDatabase } from "../../harness/database.ts";
import { eventually } from "../../harness/eventually.ts";
import { suite } from "../../harness/suite.ts";
import { serviceConfig } from "../service-config.ts";

const test = suite("a scrape of a service");

test("the age of a key runs from its first use, under the rights of a service", async () => {
  const { serviceUrl: url } = await freshDatabase("merchant");
  const db = await Database.open({ url, name: "test", log: createLog("test", "error") });
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

test("the first scrape of a service has a value for every gauge that alerts are made of", async () => {
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
