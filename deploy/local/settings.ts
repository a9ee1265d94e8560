// Settings of a local stack, from the environment. All invalid ones are reported together.
import { resolve } from "node:path";
import {
  integerSetting,
  oneOf,
  optionalSetting,
  readConfig,
  text,
  urlSetting,
  withDefault,
} from "#platform/process/config.ts";
import { commonSettings, streamSettings } from "#platform/service/settings.ts";

export interface StackSettings {
  /** Gateway's port on loopback; 0: any free one; absent: that of the last start, initially 8080. */
  port?: number | undefined;
  /** Ports of the simulator, the demo shop, the consoles and the mailbox; absent: those of the last start. */
  simulatorPort?: number | undefined;
  shopPort?: number | undefined;
  consolePort?: number | undefined;
  operatorsPort?: number | undefined;
  mailboxPort?: number | undefined;
  /** Absolute path for data, secrets and logs. */
  stateDir: string;
  /** The user's own server; absent: one is started. The database name is the stem of the services' databases. */
  databaseUrl?: string | undefined;
  /** The user's own server; absent: one is started. */
  natsUrl?: string | undefined;
  /** First token of subjects and streams; separates stacks that share a NATS server. */
  natsNamespace: string;
  /** Size limit of an event stream, GiB. */
  streamGib?: number;
  /** `one`: gateway, services and consoles in one process; `separate`: a process each. */
  shape: StackShape;
  /** Origin of the hosted page; absent: the gateway's own. */
  checkoutOrigin?: string | undefined;
}

export const stackShapes = ["separate", "one"] as const;
export type StackShape = (typeof stackShapes)[number];

const stateDirDefault = ".local";

export const stackSettings = {
  PORT: optionalSetting(integerSetting(0, 65_535)),
  SIMULATOR_PORT: optionalSetting(integerSetting(1, 65_535)),
  SHOP_PORT: optionalSetting(integerSetting(1, 65_535)),
  CONSOLE_PORT: optionalSetting(integerSetting(1, 65_535)),
  OPERATORS_PORT: optionalSetting(integerSetting(1, 65_535)),
  MAILBOX_PORT: optionalSetting(integerSetting(1, 65_535)),
  STATE_DIR: withDefault(text, stateDirDefault),
  DATABASE_URL: optionalSetting(urlSetting("postgres", "postgresql")),
  NATS_URL: optionalSetting(commonSettings.NATS_URL),
  TOLLBOOTH_SHAPE: withDefault(oneOf(...stackShapes), "separate"),
  NATS_NAMESPACE: commonSettings.NATS_NAMESPACE,
  NATS_STREAM_GIB: streamSettings.NATS_STREAM_GIB,
  LOG_LEVEL: commonSettings.LOG_LEVEL, // used by the processes; checked before they start
  CHECKOUT_ORIGIN: optionalSetting(urlSetting("https", "http")),
};

/** @throws ConfigError with a line for each invalid setting */
export function readStackSettings(env: NodeJS.ProcessEnv): StackSettings {
  const read = readConfig(stackSettings, env);
  return {
    stateDir: resolve(read.STATE_DIR),
    natsNamespace: read.NATS_NAMESPACE,
    streamGib: read.NATS_STREAM_GIB,
    shape: read.TOLLBOOTH_SHAPE,
    port: read.PORT,
    simulatorPort: read.SIMULATOR_PORT,
    shopPort: read.SHOP_PORT,
    consolePort: read.CONSOLE_PORT,
    operatorsPort: read.OPERATORS_PORT,
    mailboxPort: read.MAILBOX_PORT,
    databaseUrl: read.DATABASE_URL,
    natsUrl: read.NATS_URL,
    checkoutOrigin: read.CHECKOUT_ORIGIN,
  };
}
