// Where the services are and with which token the operator calls: from the settings, or from the stack.json of a local stack.
import { resolve } from "node:path";
import type { Client } from "@connectrpc/connect";
import { ConfigError, optional, readConfig, text, url, withDefault } from "#platform/config.ts";
import { connectPeer, type Peer } from "#platform/rpc-client.ts";
import { type OwnToken, tokenFile } from "#platform/rpc-trust.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import {
  ApiKeyService,
  ApplicationService,
  ConnectorService,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { OperatorService } from "#proto/payments/v1/operator_pb.ts";
import { StatusService } from "#proto/status/v1/status_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { readObject } from "../local/private-file.ts";

export const serviceNames = ["checkout", "payments", "merchant", "webhook"] as const;
export type ServiceName = (typeof serviceNames)[number];

export interface OperatorPeers {
  readonly merchants: Client<typeof MerchantService>;
  readonly apiKeys: Client<typeof ApiKeyService>;
  readonly connectors: Client<typeof ConnectorService>;
  readonly applications: Client<typeof ApplicationService>;
  readonly audit: Client<typeof AuditService>;
  readonly operations: Client<typeof OperatorService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly status: Readonly<Record<ServiceName, Client<typeof StatusService>>>;
  close(): void;
}

/** Connects. @throws ConfigError that says what is missing and where it can come from. */
export async function connectOperator(env: NodeJS.ProcessEnv): Promise<OperatorPeers> {
  const { urls, token } = (await fromSettings(env)) ?? (await fromStack(env));
  const peers: Record<ServiceName, Peer> = {
    checkout: connectPeer({ url: urls.checkout, token }),
    payments: connectPeer({ url: urls.payments, token }),
    merchant: connectPeer({ url: urls.merchant, token }),
    webhook: connectPeer({ url: urls.webhook, token }),
  };
  return {
    merchants: peers.merchant.client(MerchantService),
    apiKeys: peers.merchant.client(ApiKeyService),
    connectors: peers.merchant.client(ConnectorService),
    applications: peers.merchant.client(ApplicationService),
    audit: peers.merchant.client(AuditService),
    operations: peers.payments.client(OperatorService),
    webhooks: peers.webhook.client(WebhookService),
    status: {
      checkout: peers.checkout.client(StatusService),
      payments: peers.payments.client(StatusService),
      merchant: peers.merchant.client(StatusService),
      webhook: peers.webhook.client(StatusService),
    },
    close: () => {
      for (const peer of Object.values(peers)) peer.close();
    },
  };
}

interface Place {
  readonly urls: Readonly<Record<ServiceName, string>>;
  readonly token: OwnToken;
}

async function fromSettings(env: NodeJS.ProcessEnv): Promise<Place | undefined> {
  if (!env.RPC_TOKEN_FILE) return undefined;
  const address = url("http", "https");
  const read = readConfig(
    {
      RPC_TOKEN_FILE: tokenFile,
      CHECKOUT_URL: address,
      PAYMENTS_URL: address,
      MERCHANT_URL: address,
      WEBHOOK_URL: address,
    },
    env,
  );
  const urls = {
    checkout: read.CHECKOUT_URL,
    payments: read.PAYMENTS_URL,
    merchant: read.MERCHANT_URL,
    webhook: read.WEBHOOK_URL,
  };
  return { urls, token: read.RPC_TOKEN_FILE };
}

async function fromStack(env: NodeJS.ProcessEnv): Promise<Place> {
  const { STATE_DIR } = readConfig({ STATE_DIR: withDefault(optional(text), ".local") }, env);
  const path = resolve(STATE_DIR ?? ".local", "stack.json");
  const stack = await readObject(path);
  const rpc: Record<string, unknown> = Object(stack?.rpc);
  const tokens: Record<string, unknown> = Object(Object(stack?.rpc_files).tokens);
  const at = (name: string) => {
    const value = rpc[name];
    if (typeof value !== "string") throw notFound(path);
    return value;
  };
  const urls = { checkout: at("checkout"), payments: at("payments"), merchant: at("merchant"), webhook: at("webhook") };
  if (typeof tokens.operator !== "string") throw notFound(path);
  return { urls, token: tokenFile.parse(tokens.operator) };
}

function notFound(path: string): ConfigError {
  return new ConfigError(
    `no stack runs here (${path}): set STATE_DIR to a running one's, or RPC_TOKEN_FILE, CHECKOUT_URL, PAYMENTS_URL, MERCHANT_URL and WEBHOOK_URL`,
  );
}
