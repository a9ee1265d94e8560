// A console's settings, read from its environment once, at start. It has no database and no broker: what it shows and
// does goes through the services' RPCs.

import {
  integer,
  logLevels,
  oneOf,
  optional,
  port,
  type Setting,
  text,
  url,
  withDefault,
} from "#platform/process/config.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { callerSettings, providerSettings } from "#platform/service/settings.ts";
import { proxies } from "../settings.ts";

/** Where browsers reach the console: `https://host`, or `http://localhost:port` on the developer's own machine. */
const origin: Setting<string> = {
  parse: (raw) => {
    const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
    const isLocal = parsed?.protocol === "http:" && parsed.hostname === "localhost";
    if (!parsed || raw !== parsed.origin || !(parsed.protocol === "https:" || isLocal)) {
      throw new Error("must be an origin as https://console.example, or http://localhost:8083 on this machine");
    }
    return raw;
  },
};

export const consoleSettings = {
  PORT: port,
  HOST: withDefault(text, "127.0.0.1"),
  LOG_LEVEL: withDefault(oneOf(...logLevels), "info"),
  ...callerSettings,
  CHECKOUT_URL: url("http"),
  PAYMENTS_URL: url("http"),
  MERCHANT_URL: url("http"),
  WEBHOOK_URL: url("http"),
  NODE_ENV: withDefault(oneOf("production", "development", "test"), "development"),
  TRUST_PROXY: optional(proxies),
  /** Whose console it is: the merchants', or that of those who run the installation. */
  CONSOLE_DOOR: withDefault(oneOf("merchants", "operators"), "merchants"),
  /** As the merchant service has it for this door: passkeys are bound to it. */
  CONSOLE_ORIGIN: origin,
  ...providerSettings,
  /** What the provider knows the consoles by; without one PKCE alone proves who comes back. */
  OIDC_CLIENT_SECRET: optional(text),
  /** Where merchants' backends reach the public API; shown in samples. */
  API_ORIGIN: optional(url("http", "https")),
  RATE_LIMIT: withDefault(oneOf("on", "off"), "on"),
  /** Tries to sign in by one address, a minute. */
  RATE_LIMIT_SIGN_IN_PER_MINUTE: withDefault(integer(1, 1_000_000), 20),
};

/** What a console needs to know. */
export type ConsoleConfig = ReturnType<typeof readConsoleConfig>;

/** @throws ConfigError that lists everything missing or malformed. */
export function readConsoleConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  return readProductionConfig(consoleSettings, env);
}
