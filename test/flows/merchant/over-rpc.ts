// The merchant service over RPC on a fresh database, with direct access to the database and its events.
import assert from "node:assert/strict";
import type { Client } from "@connectrpc/connect";
import pg from "pg";
import { connectPeer } from "#platform/rpc/client.ts";
import {
  ApiKeyService,
  ApplicationService,
  ConnectorService,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { type AnnouncedEvents, listenTo, serviceConfig } from "../service-config.ts";

const simulator = { SIMULATOR_SECRET_KEY: "sim_sk_test", SIMULATOR_WEBHOOK_SECRET: "sim_whsec_test" };
export const profile = {
  name: "Acme",
  legalName: "Acme Ltd",
  email: "ops@acme.example",
  country: "DE",
  currency: "EUR",
};

interface MerchantOverRpc {
  /** Called as an operator. */
  readonly keys: Client<typeof ApiKeyService>;
  readonly merchants: Client<typeof MerchantService>;
  readonly connectors: Client<typeof ConnectorService>;
  readonly applications: Client<typeof ApplicationService>;
  readonly config: Awaited<ReturnType<typeof serviceConfig>>;
  readonly announced: AnnouncedEvents;
  /** With the service's rights. */
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
    merchants,
    connectors: peer.client(ConnectorService),
    applications: peer.client(ApplicationService),
    config,
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
