// A service's connections to its database: as many as its settings allow, whatever comes.
import assert from "node:assert/strict";
import { newId } from "#platform/values/id.ts";
import { suite } from "../../harness/suite.ts";
import { startWebhookTest, type WebhookTest } from "../webhook/service.ts";

const test = suite("database connections");
let webhook: WebhookTest;

test.before(async () => {
  webhook = await startWebhookTest({ DATABASE_CONNECTIONS: 4 });
});
test.after(() => webhook?.stop());

test("a service that is told four connections opens four and no more, however many calls come at once", async () => {
  const owner = { merchantId: newId("merchant"), environment: 1 as const };
  await Promise.all(Array.from({ length: 60 }, () => webhook.webhooks.listEndpoints(owner)));
  const [open] = await webhook.db.rows<{ count: string }>(
    `select count(*) from pg_stat_activity
     where application_name = 'tollbooth-webhook' and datname = current_database()`,
  );
  assert.equal(Number(open?.count), 4);
});

test.run();
