// What the user can set for a local stack, from the environment; every wrong setting is named in one go.
import { resolve } from "node:path";
import { integer, oneOf, optional, readConfig, text, url, withDefault } from "#platform/process/config.ts";
import { commonSettings, streamSettings } from "#platform/service/settings.ts";

/** A stack's settings. */
export interface StackSettings {
  /** Of the gateway, on loopback; 0: a free one; absent: the one of the last start, at first 8080. */
  port?: number;
  /** Of the card-processor simulator, the demo shop, the consoles and the mailbox; absent: those of the last start. */
  simulatorPort?: number;
  shopPort?: number;
  consolePort?: number;
  operatorsPort?: number;
  mailboxPort?: number;
  /** Absolute; data, secrets and logs of the stack. */
  stateDir: string;
  /** The user's own server; absent: one is started. The database's name is the stem of the services' databases. */
  databaseUrl?: string;
  /** The user's own server; absent: one is started. */
  natsUrl?: string;
  /** First word of subjects and streams; keeps stacks apart that share a NATS server. */
  natsNamespace: string;
  /** What an event stream takes before it refuses more, GiB. */
  streamGib?: number;
  /** `one`: the gateway, the services and the consoles in one process; `separate`: each in its own. */
  shape: StackShape;
  /** Where buyers' pages are served; absent: by the gateway at its own address. */
  checkoutOrigin?: string;
}

export const stackShapes = ["separate", "one"] as const;
export type StackShape = (typeof stackShapes)[number];

const stateDirDefault = ".local";

export const stackSettings = {
  PORT: optional(integer(0, 65_535)),
  SIMULATOR_PORT: optional(integer(1, 65_535)),
  SHOP_PORT: optional(integer(1, 65_535)),
  CONSOLE_PORT: optional(integer(1, 65_535)),
  OPERATORS_PORT: optional(integer(1, 65_535)),
  MAILBOX_PORT: optional(integer(1, 65_535)),
  STATE_DIR: withDefault(text, stateDirDefault),
  DATABASE_URL: optional(url("postgres", "postgresql")),
  NATS_URL: optional(commonSettings.NATS_URL),
  TOLLBOOTH_SHAPE: withDefault(oneOf(...stackShapes), "separate"),
  NATS_NAMESPACE: commonSettings.NATS_NAMESPACE,
  NATS_STREAM_GIB: streamSettings.NATS_STREAM_GIB,
  LOG_LEVEL: commonSettings.LOG_LEVEL, // the processes read it; a wrong one is told before they start
  CHECKOUT_ORIGIN: optional(url("https", "http")),
};

/** @throws ConfigError with a line for each setting that does not fit */
export function readStackSettings(env: NodeJS.ProcessEnv): StackSettings {
  const read = readConfig(stackSettings, env);
  return {
    stateDir: resolve(read.STATE_DIR),
    natsNamespace: read.NATS_NAMESPACE,
    streamGib: read.NATS_STREAM_GIB,
    shape: read.TOLLBOOTH_SHAPE,
    ...(read.PORT === undefined ? {} : { port: read.PORT }),
    ...(read.SIMULATOR_PORT === undefined ? {} : { simulatorPort: read.SIMULATOR_PORT }),
    ...(read.SHOP_PORT === undefined ? {} : { shopPort: read.SHOP_PORT }),
    ...(read.CONSOLE_PORT === undefined ? {} : { consolePort: read.CONSOLE_PORT }),
    ...(read.OPERATORS_PORT === undefined ? {} : { operatorsPort: read.OPERATORS_PORT }),
    ...(read.MAILBOX_PORT === undefined ? {} : { mailboxPort: read.MAILBOX_PORT }),
    ...(read.DATABASE_URL === undefined ? {} : { databaseUrl: read.DATABASE_URL }),
    ...(read.NATS_URL === undefined ? {} : { natsUrl: read.NATS_URL }),
    ...(read.CHECKOUT_ORIGIN === undefined ? {} : { checkoutOrigin: read.CHECKOUT_ORIGIN }),
  };
}
