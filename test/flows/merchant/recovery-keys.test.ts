// The merchant service on a restored database: keys that were ended after the backup are ended again before the first
// call.
import assert from "node:assert/strict";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { Right } from "#proto/access/v1/access_pb.ts";
import { TeamService } from "#proto/access/v1/teams_pb.ts";
import { ApiKeyService, Environment, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { RecoveryService } from "#proto/status/v1/recovery_pb.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { eventually } from "../../harness/eventually.ts";
import { announcedBy, copyOf } from "../../harness/servers/backup.ts";
import { suite } from "../../harness/suite.ts";
import { isRefusal, serviceConfig } from "../service-config.ts";

const test = suite("recovery: keys of merchants on a backup");
const environment = Environment.LIVE;
const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
const scopes = ["payments:read"];
const rpcOf = (peer: Peer) => ({
  keys: peer.client(ApiKeyService),
  merchants: peer.client(MerchantService),
  recovery: peer.client(RecoveryService),
  teams: peer.client(TeamService),
});
type Rpc = ReturnType<typeof rpcOf>;

test("a key that was revoked, rolled or limited after the backup is so again from the first call on, and an ended team is gone; others work", async () => {
  const config = { ...(await serviceConfig("merchant")), ...simulator };
  const run = async <T>(databaseUrl: string, work: (rpc: Rpc) => Promise<T>): Promise<T> => {
    const service = await startMerchant({ ...config, DATABASE_URL: databaseUrl });
    const peer = connectPeer({ url: `http://127.0.0.1:${service.port}`, token: config.RPC_TOKEN });
    try {
      return await work(rpcOf(peer));
    } finally {
      peer.close();
      await service.stop();
    }
  };
  const served = config.DATABASE_URL;
  const made = await run(served, async ({ keys, merchants, teams }) => {
    const profile = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };
    const merchantId = (await merchants.createMerchant(profile)).merchant?.id ?? "";
    const key = async (name: string) => {
      const { apiKey, secret } = await keys.createApiKey({ merchantId, environment, name, scopes });
      assert(apiKey);
      return { id: apiKey.id, secret };
    };
    const named = { revoked: await key("a"), rolled: await key("b"), limited: await key("c"), kept: await key("d") };
    for (const name of ["kept", "removed", "rotated"]) {
      await teams.createTeam({ team: { name, rights: [Right.FEES_READ], rate: 1 } });
    }
    await announcedBy(served, named.kept.id);
    await announcedBy(served, "team:rotated");
    return { merchantId, ...named };
  });
  const { merchantId, revoked, rolled, limited, kept } = made;
  const of = (key: { id: string }) => ({ merchantId, environment, apiKeyId: key.id });
  const backup = await copyOf(served);
  await run(served, async ({ keys, teams }) => {
    await teams.removeTeam({ name: "removed" });
    await teams.rotateTeam({ name: "rotated", overlapSeconds: 60 });
    await keys.revokeApiKey(of(revoked));
    await keys.rollApiKey({ ...of(rolled), overlapSeconds: 0 });
    await keys.limitApiKey({ ...of(limited), allowedIps: { ranges: ["192.0.2.1"] } });
    for (const { id } of [revoked, rolled, limited]) await announcedBy(served, id);
    for (const name of ["removed", "rotated"]) await announcedBy(served, `team:${name}`);
  });
  await run(backup, async ({ keys, recovery, teams }) => {
    assert.deepEqual(
      (await teams.listTeams({})).teams.map(({ name }) => name),
      ["kept"],
    );
    await assert.rejects(keys.authenticateKey({ apiKey: revoked.secret }), isRefusal("UNAUTHORIZED"));
    await assert.rejects(keys.authenticateKey({ apiKey: rolled.secret }), isRefusal("UNAUTHORIZED"));
    const { apiKey } = await keys.authenticateKey({ apiKey: limited.secret });
    assert.deepEqual(apiKey?.allowedIps, ["192.0.2.1/32"]);
    assert.equal((await keys.authenticateKey({ apiKey: kept.secret })).apiKey?.id, kept.id);
    const { events } = await recovery.listLostEvents({ after: 0n });
    // The chain's head may have been sealed meanwhile.
    const ends = events.filter(({ event }) => /^api_key\.(?!created$)/.test(event?.type ?? ""));
    assert.deepEqual(
      ends.map(({ event, doneAgain, takenBack }) => [event?.type, event?.objectId, doneAgain, takenBack]),
      [
        ["api_key.revoked", revoked.id, true, false],
        ["api_key.rolled", rolled.id, true, false],
        ["api_key.limited", limited.id, true, false],
      ],
    );
    await keys.limitApiKey({ ...of(limited), allowedIps: { ranges: ["192.0.2.2"] } });
  });
  await run(backup, async ({ keys }) => {
    await eventually("the service to have checked", async () => {
      const { apiKey } = await keys.authenticateKey({ apiKey: limited.secret });
      assert.deepEqual(apiKey?.allowedIps, ["192.0.2.2/32"], "later changes stay");
      return true;
    });
  });
});

test.run();
