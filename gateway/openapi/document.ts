// Builds the OpenAPI document without a running gateway, for the generators.
import Fastify from "fastify";
import { Registry } from "prom-client";
import { readConfig } from "#platform/process/config.ts";
import { fixedToken } from "#platform/secrets/callers.ts";
import { releaseVersion } from "#platform/values/release.ts";
import type { GatewayContext } from "../auth/auth.ts";
import { AddressLimits } from "../limits/address-limits.ts";
import { RateLimits } from "../limits/rate-limits.ts";
import { gatewayMetrics } from "../metrics.ts";
import { connectPeers } from "../peers.ts";
import { Principals } from "../principal.ts";
import { addOperations } from "../routes/operations.ts";
import { gatewaySettings } from "../settings.ts";
import { openApi } from "./openapi.ts";
import type { JsonObject } from "./schema.ts";

// The settings require URLs, but nothing is sent.
const nowhere = "http://127.0.0.1:9";

export function buildDocument(): JsonObject {
  const { RPC_TOKEN_FILE: _, ...settings } = gatewaySettings;
  const config = readConfig(settings, {
    PORT: "0",
    NATS_URL: "nats://127.0.0.1:9",
    CHECKOUT_URL: nowhere,
    PAYMENTS_URL: nowhere,
    MERCHANT_URL: nowhere,
    WEBHOOK_URL: nowhere,
  });
  const peers = connectPeers({ ...config, RPC_TOKEN_FILE: fixedToken("none") }, {});
  const limits = new RateLimits(config);
  const context: GatewayContext = {
    app: Fastify(),
    metrics: gatewayMetrics(new Registry()),
    operations: [],
    principals: new Principals(peers.apiKeys, () => false),
    limits,
    addresses: new AddressLimits(limits, config),
    recordKeyUse: () => undefined,
  };
  addOperations(context, peers);
  peers.close();
  return openApi(context.operations, releaseVersion());
}
