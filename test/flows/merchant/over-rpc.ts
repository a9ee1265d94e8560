// The merchant service over RPC, on a fresh database that the test looks into, with what it announces.
import assert from "node:assert/strict";
import type { Client } from "@connectrpc/connect";
import pg from "pg";
import { connectPeer } from "#platform/rpc/client.ts";
import { ApiKeyService, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { type AnnouncedEvents, listenTo, serviceConfig } from "../service-config.ts";

const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
const profile = { name: "Acme", legalName: "", email: "ops@acme.example", country: "DE", currency: "EUR" };

export interface MerchantOverRpc {
  /** Called as an operator. */
  readonly keys: Client<typeof ApiKeyService>;
  readonly announced: AnnouncedEvents;
  /** As the tables' owner. */
  readonly database: pg.Client;
  /** @returns its id */
  newMerchant(): Promise<string>;
  stop(): Promise<void>;
}

export async function startMerchantOverRpc(): Promise<MerchantOverRpc> {
  const config = await serviceConfig("merchant");
  const announced = await listenTo(config, "merchant");
  const service = await startMerchant({ ...config, ...simulator });
  const peer = connectPeer({ url: `http://127.0.0.1:${service.port}`, token: config.RPC_TOKEN });
  const database = new pg.Client(config.DATABASE_URL);
  await database.connect();
  const merchants = peer.client(MerchantService);
  return {
    keys: peer.client(ApiKeyService),
    announced,
    database,
    newMerchant: async () => (await merchants.createMerchant(profile)).merchant?.id ?? assert.fail("no merchant"),
    async stop() {
      await database.end();
      peer.close();
      await announced.stop();
      await service.stop();
    },
  };
}
