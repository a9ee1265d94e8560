// The processes of a stack: their programs, ports and environments. All except the simulator can be parts of one
// process.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { processPrograms } from "../bundle/programs.ts";
import type { StackDatabases } from "./databases.ts";
import { freePort } from "./free-port.ts";
import type { StackSettings } from "./settings.ts";
import type { BrokerFiles } from "./state/broker-files.ts";
import type { RpcFiles } from "./state/rpc-files.ts";
import type { Secrets } from "./state/secrets.ts";
import type { TlsFiles } from "./state/tls.ts";

/** In the order of use: each calls processes before it. */
export const processNames = ["simulator", "merchant", "payments", "checkout", "webhook", "gateway"] as const;
export type ProcessName = (typeof processNames)[number];
export const consoleNames = ["console", "operators-console"] as const;
export type ConsoleName = (typeof consoleNames)[number];
/** All except the simulator, an outside company. */
export type OwnProcessName = Exclude<ProcessName, "simulator">;
export const ownProcessNames = processNames.filter((name): name is OwnProcessName => name !== "simulator");

/** Stopped stage by stage, so no request in flight loses a process that it needs. */
export const stopStages: string[][] = [
  ["gateway", "one", "shop", "console", "operators-console", "mailbox"],
  ["checkout", "webhook", "simulator"],
  ["payments"],
  ["merchant"],
  ["nats", "postgres"],
];

export interface StackEnvironment {
  settings: StackSettings;
  secrets: Secrets;
  databases: StackDatabases;
  natsUrl: string;
  /** Broker identities; absent: the broker needs no login. */
  nkeys?: BrokerFiles["nkeys"];
  /** Keys that authenticate events; absent: events are accepted without a MAC. */
  eventKeys?: BrokerFiles["eventKeys"];
  tls: TlsFiles;
  rpcFiles: RpcFiles;
  ports: Record<ProcessName, number>;
  adminPorts: Record<OwnProcessName, number>;
  /** Addresses of the consoles and the mailbox, whether they run or not. */
  people: PeopleAddresses;
}

export interface PeopleAddresses {
  /** Origins of the consoles. */
  readonly console: string;
  readonly operators: string;
  /** The mailbox's SMTP port. */
  readonly smtpPort: number;
}

const root = join(import.meta.dirname, "../..");
/** A local stack may deliver webhooks to this machine, which delivery otherwise refuses (docs/contract.md §9). */
const loopback = "127.0.0.0/8,::1/128";

/**
 * Space for new objects. Node's default is twice as large, costs each process 15 to 50 MB at rest and serves no more
 * requests (docs/performance.md).
 */
export const youngHeap = "--max-semi-space-size=8";

/**
 * Twice what delivery holds at full load. Without a limit Node lets garbage grow with the machine's memory: 300 to
 * 400 MB resident at full load.
 */
export const webhookHeap = `--max-old-space-size=160 ${youngHeap}`;

/** The program of a stack in one process. */
export const oneScript = join(root, processPrograms.one);

/** The main file of a process. @param from root of a release; default: this one's */
export function scriptOf(name: ProcessName, from: string = root): string {
  return join(from, processPrograms[name]);
}

/** The demo shop is one of the samples. */
export const shopScript = join(root, "gateway/docs/samples/shop/server.mjs");

/** A port per process for the stack's life. @param kept ports that outlive it */
export async function choosePorts(
  kept: Readonly<Record<"gateway" | "simulator", number>>,
): Promise<Record<ProcessName, number>> {
  return {
    simulator: kept.simulator,
    merchant: await freePort(),
    payments: await freePort(),
    checkout: await freePort(),
    webhook: await freePort(),
    gateway: kept.gateway,
  };
}

export async function chooseAdminPorts(): Promise<Record<OwnProcessName, number>> {
  return {
    merchant: await freePort(),
    payments: await freePort(),
    checkout: await freePort(),
    webhook: await freePort(),
    gateway: await freePort(),
  };
}

export function urlOf(port: number): string {
  return `http://127.0.0.1:${port}`;
}

/** Addresses of the services, for the processes that call them. */
export function serviceUrls(ports: Readonly<Record<ProcessName, number>>) {
  return {
    CHECKOUT_URL: urlOf(ports.checkout),
    PAYMENTS_URL: urlOf(ports.payments),
    MERCHANT_URL: urlOf(ports.merchant),
    WEBHOOK_URL: urlOf(ports.webhook),
  };
}

/** Overrides the user's environment. */
export function environmentOf(name: ProcessName, around: StackEnvironment): Record<string, string> {
  const { settings, secrets, databases, ports } = around;
  const listenSettings = { PORT: String(ports[name]), HOST: "127.0.0.1" };
  if (name === "simulator") return { ...listenSettings, ...simulatorEnvironment(around) };
  const common = {
    ...listenSettings,
    ADMIN_PORT: String(around.adminPorts[name]),
    NATS_URL: around.natsUrl,
    NATS_NAMESPACE: settings.natsNamespace,
    ...(around.nkeys && { NATS_NKEY_FILE: around.nkeys[name] }),
    ...(around.eventKeys && { EVENT_KEYS_FILE: around.eventKeys[name] }),
    RPC_CALLERS_FILE: around.rpcFiles.callers,
    ENCRYPTION_KEYS: secrets.encryptionKeys,
    HASH_KEY: secrets.hashKey,
  };
  const { CHECKOUT_URL, PAYMENTS_URL, MERCHANT_URL, WEBHOOK_URL } = serviceUrls(ports);
  const simulator = urlOf(ports.simulator);
  const ARCHIVE_URL = process.env.ARCHIVE_URL ?? pathToFileURL(join(settings.stateDir, "archive")).href;
  switch (name) {
    case "gateway":
      return {
        ...common,
        RPC_TOKEN_FILE: around.rpcFiles.tokens.gateway,
        ...{ CHECKOUT_URL, PAYMENTS_URL, MERCHANT_URL, WEBHOOK_URL },
        SIMULATOR_PUBLIC_URL: simulator,
        LOCAL_STACK: "on",
      };
    case "checkout": {
      const origin = settings.checkoutOrigin ?? urlOf(ports.gateway); // the gateway serves the hosted page
      const rpc = { RPC_TOKEN_FILE: around.rpcFiles.tokens.checkout, PAYMENTS_URL, MERCHANT_URL };
      return { ...common, ...rpc, ARCHIVE_URL, DATABASE_URL: databases.usedBy.checkout, CHECKOUT_ORIGIN: origin };
    }
    case "payments":
      return {
        ...common,
        RPC_TOKEN_FILE: around.rpcFiles.tokens.payments,
        DATABASE_URL: databases.usedBy.payments,
        MERCHANT_URL,
        SIMULATOR_URL: simulator,
        ARCHIVE_URL,
      };
    case "merchant":
      return {
        ...common,
        DATABASE_URL: databases.usedBy.merchant,
        CONSOLE_ORIGIN: around.people.console,
        OPERATORS_CONSOLE_ORIGIN: around.people.operators,
        SMTP_URL: `smtp://127.0.0.1:${around.people.smtpPort}`,
        MAIL_FROM: "Tollbooth <tollbooth@localhost.example>",
        SIMULATOR_SECRET_KEY: secrets.simulatorSecretKey,
        SIMULATOR_WEBHOOK_SECRET: secrets.simulatorWebhookSecret,
      };
    case "webhook":
      return {
        ...common,
        RPC_TOKEN_FILE: around.rpcFiles.tokens.webhook,
        CHECKOUT_URL,
        PAYMENTS_URL,
        MERCHANT_URL,
        DATABASE_URL: databases.usedBy.webhook,
        WEBHOOK_ALLOW_CIDRS: loopback,
        WEBHOOK_EXTRA_CA: around.tls.ca,
        NODE_OPTIONS: `${webhookHeap} ${process.env.NODE_OPTIONS ?? ""}`.trim(),
      };
  }
}

/** An outside company: it knows its own secrets and where to send its webhooks. */
function simulatorEnvironment({ secrets, databases, ports }: StackEnvironment): Record<string, string> {
  return {
    DATABASE_URL: databases.of.simulator,
    PUBLIC_URL: urlOf(ports.simulator),
    SIMULATOR_SECRET_KEY: secrets.simulatorSecretKey,
    SIMULATOR_WEBHOOK_SECRET: secrets.simulatorWebhookSecret,
    SIMULATOR_WEBHOOK_URL: `${urlOf(ports.gateway)}/processors/simulator/{account}`,
    // A first try sees a payout within minutes.
    SIMULATOR_SETTLEMENT_SECONDS: process.env.SIMULATOR_SETTLEMENT_SECONDS ?? "60",
    SIMULATOR_PAYOUT_SECONDS: process.env.SIMULATOR_PAYOUT_SECONDS ?? "120",
  };
}
