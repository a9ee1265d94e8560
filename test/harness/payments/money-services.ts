// Merchant, payments and the simulator in this process on databases of their own: for tests that need the money flows
// and their faults, but not the gateway.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { callerNames, fixedToken, type TrustedCallers } from "#platform/secrets/callers.ts";
import { ConnectorService, Environment, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { DisputeService } from "#proto/payments/v1/disputes_pb.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { ensureStreams } from "../../../deploy/cli/setup/ensure-streams.ts";
import { freePort } from "../../../deploy/local/free-port.ts";
import type { ArchiveConfig } from "../../../services/archive/settings.ts";
import { startMerchant } from "../../../services/merchant/service.ts";
import { startPayments } from "../../../services/payments/service.ts";
import { startSimulator } from "../../../services/simulator/service.ts";
import { freshDatabase, testPool } from "../database.ts";
import { sharedInfra } from "../infra.ts";

const key = () => randomBytes(32);

/** The run's broker, which lets anybody do anything; broker-identities.test.ts proves what one with logins refuses. */
export function brokerOfTests(url: string) {
  const anonymous = { NATS_NKEY_FILE: undefined, NATS_CA_FILE: undefined, EVENT_KEYS_FILE: undefined };
  return { NATS_URL: url, NATS_REPLICAS: 1, NATS_STREAM_GIB: 4, EVENT_ACK_WAIT_SECONDS: 10, ...anonymous };
}

/** Accepts one token for every caller. */
export function trustingOnly(token: string): TrustedCallers {
  return { of: (presented) => (presented === token ? callerNames : []), problem: undefined };
}

/** Settings of services that accept one token for all callers. */
export function oneToken(token: string) {
  return { RPC_TOKEN: token, RPC_TOKEN_FILE: fixedToken(token), RPC_CALLERS_FILE: trustingOnly(token) };
}

const plainRpc = { RPC_TLS_CERT_FILE: undefined, RPC_TLS_KEY_FILE: undefined, RPC_CA_FILE: undefined };

/** Settings that a test's services share: a namespace of its own on the run's NATS, new keys and a token. */
export async function commonSettings() {
  const { natsUrl } = await sharedInfra();
  const namespace = `t${randomBytes(6).toString("hex")}`;
  await ensureStreams({ broker: { url: natsUrl }, namespace });
  return {
    PORT: 0 as const,
    HOST: "127.0.0.1",
    LOG_LEVEL: "error" as const,
    ...brokerOfTests(natsUrl),
    NATS_NAMESPACE: namespace,
    ...plainRpc,
    DATABASE_CONNECTIONS: 4,
    ...oneToken(key().toString("hex")),
    ENCRYPTION_KEYS: new Map([["k1", key()]]),
    HASH_KEY: new Map([["", key()]]),
    ...noArchive,
  };
}
export type CommonSettings = Awaited<ReturnType<typeof commonSettings>>;

export interface MoneyOptions {
  readonly circuitWindowCalls?: number;
  readonly stripeUrl?: string;
  readonly knowsSimulator?: boolean;
  readonly reconcileAfterSeconds?: number;
  readonly absenceAfterSeconds?: number;
  readonly eventPollSeconds?: number;
  readonly ignoresEvents?: boolean;
  readonly pageSeconds?: number;
  /** Where the merchant service sends mail; absent: it sends none. */
  readonly smtpUrl?: string;
  readonly receiptsPerHour?: number;
  /** Place of archived months; absent: nothing is archived. */
  readonly archive?: URL;
}

/**
 * @param options `circuitWindowCalls`: by default so large that a test file's faults never open a circuit; `stripeUrl`:
 * address of a fake Stripe; `knowsSimulator` false: payments has no address for it; `ignoresEvents`: the processor's
 * event list is never read; `pageSeconds`: lifetime of the simulator's pages, by default unlimited; waits of payments,
 * by default as in production. Seconds.
 */
export async function startMoneyServices(options: MoneyOptions = {}) {
  const common = { ...(await commonSettings()), ...(options.archive && { ARCHIVE_URL: options.archive }) };
  const { RPC_TOKEN: token } = common;
  const [merchantDb, paymentsDb, simulatorDb, nowhere] = await Promise.all([
    freshDatabase("merchant"),
    freshDatabase("payments"),
    freshDatabase(),
    freePort(),
  ]);
  const secretKey = `sim_sk_${key().toString("hex")}`;
  const webhookSecret = key().toString("hex");
  const simulator = await startSimulator({
    port: 0,
    databaseUrl: simulatorDb.url,
    secretKey,
    webhookSecret,
    webhookUrl: `http://127.0.0.1:${nowhere}/{account}`,
    logLevel: "fatal",
    pageSeconds: options.pageSeconds ?? 0,
  });
  const merchant = await startMerchant({
    ...common,
    DATABASE_URL: merchantDb.serviceUrl,
    SIMULATOR_SECRET_KEY: secretKey,
    SIMULATOR_WEBHOOK_SECRET: webhookSecret,
    ...(options.smtpUrl !== undefined && { SMTP_URL: options.smtpUrl, MAIL_FROM: "Tollbooth <mail@pay.example>" }),
    ...(options.receiptsPerHour !== undefined && { RECEIPTS_PER_HOUR: options.receiptsPerHour }),
  });
  const merchantUrl = `http://127.0.0.1:${merchant.port}`;
  const paymentsSettings = {
    ...common,
    DATABASE_URL: paymentsDb.serviceUrl,
    MERCHANT_URL: merchantUrl,
    ...processorSettings(simulator.url, options),
  };
  let payments = await startPayments(paymentsSettings);
  const paymentsUrl = `http://127.0.0.1:${payments.port}`;
  const peers = [connectPeer({ url: merchantUrl, token }), connectPeer({ url: paymentsUrl, token })];
  const [merchantPeer, paymentsPeer] = peers as [Peer, Peer];
  const { merchantId, connectorId, account } = await newMerchant(merchantPeer);
  if (options.ignoresEvents) await neverReadEvents(paymentsDb.url, connectorId);
  return {
    payments: paymentsPeer.client(PaymentsService),
    disputes: paymentsPeer.client(DisputeService),
    merchantId,
    environment: Environment.SANDBOX as Environment,
    /** Superuser URLs. */
    paymentsDatabaseUrl: paymentsDb.url,
    merchantDatabaseUrl: merchantDb.url,
    /** Login of the payments service. */
    paymentsServiceUrl: paymentsDb.serviceUrl,
    /** The outside company's, for what it does not offer over HTTP: forgetting. */
    simulatorDatabaseUrl: simulatorDb.url,
    /** RPC addresses. */
    urls: { merchant: merchantUrl, payments: paymentsUrl },
    settings: common,
    /** The simulator's origin, and the merchant's account there. */
    processorUrl: simulator.url,
    account,
    /** Secrets for any account at the simulator. */
    processorSecrets: { account: "acct_added", secret_key: secretKey, webhook_secret: webhookSecret },
    /** The simulator's API as the merchant's account. */
    processor: askingProcessor(simulator.url, secretKey, account),
    /** Stops payments, and starts it at the same address on the database that `meanwhile` answers. */
    restartPayments: async (meanwhile: () => Promise<string>) => {
      const PORT = payments.port;
      await payments.stop();
      payments = await startPayments({ ...paymentsSettings, PORT, DATABASE_URL: await meanwhile() });
    },
    stop: async () => {
      for (const peer of peers) peer.close();
      await payments.stop();
      await merchant.stop();
      await simulator.stop();
    },
  };
}

export type MoneyServices = Awaited<ReturnType<typeof startMoneyServices>>;

export const noArchive: ArchiveConfig = {
  ARCHIVE_URL: undefined,
  ARCHIVE_KEY: undefined,
  ARCHIVE_AFTER_MONTHS: undefined,
};

/** Where the processors are, and the waits for them. */
function processorSettings(simulatorUrl: string, options: MoneyOptions) {
  return {
    SIMULATOR_URL: options.knowsSimulator === false ? undefined : simulatorUrl,
    SIMULATOR_PUBLIC_URL: undefined,
    IDEMPOTENCY_LEASE_SECONDS: 90,
    RECONCILE_AFTER_SECONDS: options.reconcileAfterSeconds ?? 30,
    PROCESSOR_TIMEOUT_SECONDS: 8,
    ABSENCE_AFTER_SECONDS: options.absenceAfterSeconds ?? 86_400,
    EVENT_POLL_SECONDS: options.eventPollSeconds ?? 60,
    CIRCUIT_WINDOW_CALLS: options.circuitWindowCalls ?? 1_000,
    CIRCUIT_OPEN_MAX_SECONDS: 1,
    STRIPE_API_URL: options.stripeUrl ?? "http://127.0.0.1:9",
    ADYEN_API_URL: "http://127.0.0.1:9",
    ERASURE_CARD_DIGITS: "keep" as const,
    // Tests call the job with their own days.
    RETENTION_CARD_FINGERPRINT_DAYS: 3_650,
  };
}

/** Calls the simulator's API as one of its accounts. */
function askingProcessor(url: string, secretKey: string, account: string) {
  const headers = {
    authorization: `Bearer ${secretKey}`,
    "processor-account": account,
    "content-type": "application/json",
  };
  return async (method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${url}${path}`, { method, headers, ...json });
    const text = await answer.text();
    return { status: answer.status, body: text ? JSON.parse(text) : undefined };
  };
}

/** Keeps the event list unread; webhooks do not arrive either (`webhookUrl`), which leaves polling alone. */
async function neverReadEvents(databaseUrl: string, connectorId: string): Promise<void> {
  const pool = testPool(databaseUrl, 1);
  await pool.query("insert into event_cursors (connector_account_id, due_at) values ($1, 'infinity')", [connectorId]);
  await pool.end();
}

async function newMerchant(peer: Peer): Promise<{ merchantId: string; connectorId: string; account: string }> {
  const { merchant } = await peer.client(MerchantService).createMerchant({
    name: "Test shop",
    email: "shop@example.com",
    country: "DE",
    currency: "EUR",
  });
  const merchantId = merchant?.id ?? "";
  const { connectors } = await peer
    .client(ConnectorService)
    .listConnectors({ merchantId, environment: Environment.SANDBOX });
  const [connector] = connectors;
  assert(connector, "a new merchant has a connector");
  return { merchantId, connectorId: connector.id, account: connector.externalAccountId };
}
