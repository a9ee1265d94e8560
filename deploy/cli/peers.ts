// Service addresses and the operator's token, from the settings or from the stack.json of a local stack.
import { lookup } from "node:dns/promises";
import { resolve } from "node:path";
import type { Client } from "@connectrpc/connect";
import { ConfigError, optionalSetting, readConfig, text, urlSetting, withDefault } from "#platform/process/config.ts";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { type OwnToken, tokenFile } from "#platform/secrets/callers.ts";
import { callerSettings } from "#platform/service/settings.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { TeamService } from "#proto/access/v1/teams_pb.ts";
import { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import { SessionRecoveryService } from "#proto/checkout/v1/recovery_pb.ts";
import { ReplayService } from "#proto/events/v1/replay_pb.ts";
import { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import {
  ApiKeyService,
  ApplicationService,
  ConnectorService,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { PeopleService } from "#proto/merchant/v1/people_pb.ts";
import { LedgerService } from "#proto/payments/v1/ledger_pb.ts";
import { OperatorService } from "#proto/payments/v1/operator_pb.ts";
import { ConnectorAccountService } from "#proto/payments/v1/payments_pb.ts";
import { PaymentRecoveryService } from "#proto/payments/v1/recovery_pb.ts";
import { StatementService } from "#proto/payments/v1/statement_pb.ts";
import { ArchiveService } from "#proto/status/v1/archive_pb.ts";
import { RecoveryService } from "#proto/status/v1/recovery_pb.ts";
import { StatusService } from "#proto/status/v1/status_pb.ts";
import { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import { perSource, type Source } from "../../services/services.ts";
import { readObject } from "../local/state/private-file.ts";

export interface OperatorPeers {
  readonly merchants: Client<typeof MerchantService>;
  readonly apiKeys: Client<typeof ApiKeyService>;
  readonly teams: Client<typeof TeamService>;
  readonly connectors: Client<typeof ConnectorService>;
  readonly accounts: Client<typeof ConnectorAccountService>;
  readonly applications: Client<typeof ApplicationService>;
  readonly people: Client<typeof PeopleService>;
  readonly audit: Client<typeof AuditService>;
  readonly operations: Client<typeof OperatorService>;
  readonly ledger: Client<typeof LedgerService>;
  readonly statements: Client<typeof StatementService>;
  readonly sessions: Client<typeof CheckoutService>;
  readonly lostPayments: Client<typeof PaymentRecoveryService>;
  readonly sessionsOfLost: Client<typeof SessionRecoveryService>;
  readonly webhooks: Client<typeof WebhookService>;
  readonly status: Readonly<Record<Source, Client<typeof StatusService>>>;
  /** A client for each replica behind a headless service's name; otherwise only the one of `status`. */
  statusOfEach(service: Source): Promise<readonly Client<typeof StatusService>[]>;
  readonly replay: Readonly<Record<Source, Client<typeof ReplayService>>>;
  readonly recovery: Readonly<Record<Source, Client<typeof RecoveryService>>>;
  readonly archives: Readonly<Record<"checkout" | "payments", Client<typeof ArchiveService>>>;
  close(): void;
}

/** @throws ConfigError that names what is missing and where it comes from */
export async function connectOperator(env: NodeJS.ProcessEnv): Promise<OperatorPeers> {
  const { urls, ...caller } = (await fromSettings(env)) ?? (await fromStack(env));
  const peers = perSource((service) => connectPeer({ url: urls[service], ...caller }));
  const replicas: Peer[] = [];
  return {
    merchants: peers.merchant.client(MerchantService),
    apiKeys: peers.merchant.client(ApiKeyService),
    teams: peers.merchant.client(TeamService),
    connectors: peers.merchant.client(ConnectorService),
    accounts: peers.payments.client(ConnectorAccountService),
    applications: peers.merchant.client(ApplicationService),
    people: peers.merchant.client(PeopleService),
    audit: peers.merchant.client(AuditService),
    operations: peers.payments.client(OperatorService),
    ledger: peers.payments.client(LedgerService),
    statements: peers.payments.client(StatementService),
    sessions: peers.checkout.client(CheckoutService),
    lostPayments: peers.payments.client(PaymentRecoveryService),
    sessionsOfLost: peers.checkout.client(SessionRecoveryService),
    webhooks: peers.webhook.client(WebhookService),
    status: perSource((service) => peers[service].client(StatusService)),
    statusOfEach: async (service) => {
      const found = (await addressesOf(urls[service])).map((url) => connectPeer({ url, ...caller }));
      replicas.push(...found);
      return found.map((peer) => peer.client(StatusService));
    },
    replay: perSource((service) => peers[service].client(ReplayService)),
    recovery: perSource((service) => peers[service].client(RecoveryService)),
    archives: { checkout: peers.checkout.client(ArchiveService), payments: peers.payments.client(ArchiveService) },
    close: () => {
      for (const peer of [...Object.values(peers), ...replicas]) peer.close();
    },
  };
}

/** The URL once per IP address of its host name. An https URL stays as it is, since the certificate has the name. */
async function addressesOf(url: string): Promise<string[]> {
  const { protocol, hostname } = new URL(url);
  // IPv4 only: in a dual-stack cluster a pod has one address of each kind.
  const found = protocol === "http:" ? await lookup(hostname, { all: true, family: 4 }).catch(() => []) : [];
  if (found.length < 2) return [url];
  return found.map(({ address }) => Object.assign(new URL(url), { hostname: address }).origin);
}

interface PeerAddresses {
  readonly urls: Readonly<Record<Source, string>>;
  readonly token: OwnToken;
  readonly caFile?: string | undefined;
}

const address = urlSetting("http", "https");
/** Settings for use without a local stack. */
export const operatorSettings = {
  ...callerSettings,
  CHECKOUT_URL: address,
  PAYMENTS_URL: address,
  MERCHANT_URL: address,
  WEBHOOK_URL: address,
} as const;

async function fromSettings(env: NodeJS.ProcessEnv): Promise<PeerAddresses | undefined> {
  if (!env.RPC_TOKEN_FILE) return undefined;
  const read = readConfig(operatorSettings, env);
  const urls = {
    checkout: read.CHECKOUT_URL,
    payments: read.PAYMENTS_URL,
    merchant: read.MERCHANT_URL,
    webhook: read.WEBHOOK_URL,
  };
  return { urls, token: read.RPC_TOKEN_FILE, caFile: read.RPC_CA_FILE };
}

async function fromStack(env: NodeJS.ProcessEnv): Promise<PeerAddresses> {
  const { STATE_DIR } = readConfig({ STATE_DIR: withDefault(optionalSetting(text), ".local") }, env);
  const path = resolve(STATE_DIR ?? ".local", "stack.json");
  const stack = await readObject(path);
  const rpc = membersOf(stack?.rpc);
  const tokens = membersOf(membersOf(stack?.rpc_files).tokens);
  const at = (name: string) => {
    const value = rpc[name];
    if (typeof value !== "string") throw notFound(path);
    return value;
  };
  if (typeof tokens.operator !== "string") throw notFound(path);
  return { urls: perSource(at), token: tokenFile.parse(tokens.operator) };
}

function notFound(path: string): ConfigError {
  return new ConfigError(
    `no local stack is running (${path}): set STATE_DIR to its folder, or set RPC_TOKEN_FILE, CHECKOUT_URL, PAYMENTS_URL, MERCHANT_URL and WEBHOOK_URL`,
  );
}
