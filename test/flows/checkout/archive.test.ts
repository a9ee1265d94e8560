// Sessions that leave the database, by the RPCs and the job that operators use. All services are real.
import assert from "node:assert/strict";
import { rm } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { connectPeer } from "#platform/rpc/client.ts";
import { asFailure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { ArchiveService } from "#proto/status/v1/archive_pb.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";
import { startCheckoutServices } from "./services.ts";

const test = suite("archive of sessions", { timeoutMs: 90_000 });

const fixtures = fixture(test, async () => {
  const path = await tempDir("archive");
  const services = await startCheckoutServices(undefined, undefined, { archive: pathToFileURL(`${path}/`) });
  const peer = connectPeer({ url: services.url, token: services.money.settings.RPC_TOKEN });
  return {
    services,
    archives: peer.client(ArchiveService),
    stop: async () => {
      peer.close();
      await services.stop();
      await rm(path, { recursive: true });
    },
  };
});

/** Waits until the month has reached its goal. @returns number of its archived rows */
async function reached(month: string): Promise<bigint> {
  return await eventually(`the goal of ${month} is reached`, async () => {
    const { months } = await fixtures.archives.listMonths({});
    const found = months.find((each) => each.month === month);
    return found && !found.nextTryAt && found.problem === "" && { documents: found.documents };
  }).then(({ documents }) => documents);
}

const restOf =
  "to_jsonb(t) - array['receipt_url', 'customer_email', 'description', 'metadata', 'line_items', 'secret_hash', 'secret_hash_key_id']";

test("an ended session is archived, read and expired by id, and restored; an open one stays", async () => {
  const { services, archives } = fixtures;
  const { db, money, checkout } = services;
  const owner = { merchantId: money.merchantId, environment: money.environment };
  const [paid, open] = [
    await services.create({ customerEmail: "dora@example.com", orderReference: "a-1" }),
    await services.create({}),
  ];
  await paid.pay();
  await paid.confirm();
  const [old, live] = [newId("session", Date.UTC(2022, 2, 3)), newId("session", Date.UTC(2022, 2, 4))];
  await db.rows("update sessions set id = $2 where id = $1", [paid.id, old]);
  await db.rows("update sessions set id = $2 where id = $1", [open.id, live]);
  const before = await services.get(old);
  const rows = await db.rows(`select ${restOf} from sessions t where id = $1`, [old]);
  await archives.archiveMonth({ month: "2022-03" });
  assert.equal(await reached("2022-03"), 1n);
  assert.deepEqual(await db.rows("select id from sessions where id in ($1, $2)", [old, live]), [{ id: live }]);
  const after = await services.get(old);
  assert.deepEqual(after, { ...before, customerEmail: "", receiptUrl: "", archived: true });
  assert.deepEqual((await checkout.expireSession({ ...owner, sessionId: old })).session, after);
  const list = await checkout.listSessions({ ...owner, limit: 10, orderReference: "a-1" });
  assert.deepEqual([list.total, list.archivedBefore?.seconds], [0n, BigInt(Date.UTC(2022, 3, 1) / 1_000)]);
  const secret = { sessionId: old, sessionSecret: paid.secret };
  await assert.rejects(checkout.resolveSession(secret), /NOT_FOUND/);
  await archives.restoreMonth({ month: "2022-03" });
  assert.equal(await reached("2022-03"), 0n);
  assert.deepEqual(await db.rows(`select ${restOf} from sessions t where id = $1`, [old]), rows);
  await assert.rejects(checkout.resolveSession(secret), /NOT_FOUND|UNAUTHORIZED/, "the secret is not archived");
});

test("a month that ended less than six months ago is not archived", async () => {
  const month = new Date(Date.now() - 100 * 86_400_000).toISOString().slice(0, 7);
  const refusal = await fixtures.archives.archiveMonth({ month }).catch(asFailure);
  assert.match(JSON.stringify(refusal), /must have ended 6 months ago/);
});

test.run();
