// Settings of a console. It has no database and no broker: it calls the services' RPCs only.
import {
  integerSetting,
  logLevels,
  oneOf,
  optionalSetting,
  port,
  type Setting,
  text,
  urlSetting,
  withDefault,
} from "#platform/process/config.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { callerSettings, providerSettings } from "#platform/service/settings.ts";
import { proxies } from "../settings.ts";

/** The console's address: `https://host`, or `http://localhost:port` on a developer's machine. */
const origin: Setting<string> = {
  parse: (raw) => {
    const parsed = URL.canParse(raw) ? new URL(raw) : undefined;
    const isLocal = parsed?.protocol === "http:" && parsed.hostname === "localhost";
    if (!parsed || raw !== parsed.origin || !(parsed.protocol === "https:" || isLocal)) {
      throw new Error("must be an origin like https://console.example, or http://localhost:8083 on this machine");
    }
    return raw;
  },
};

export const consoleSettings = {
  PORT: port,
  HOST: withDefault(text, "127.0.0.1"),
  LOG_LEVEL: withDefault(oneOf(...logLevels), "info"),
  ...callerSettings,
  CHECKOUT_URL: urlSetting("http", "https"),
  PAYMENTS_URL: urlSetting("http", "https"),
  MERCHANT_URL: urlSetting("http", "https"),
  WEBHOOK_URL: urlSetting("http", "https"),
  NODE_ENV: withDefault(oneOf("production", "development", "test"), "development"),
  TRUST_PROXY: optionalSetting(proxies),
  /** The merchants' console or the operators'. */
  CONSOLE_DOOR: withDefault(oneOf("merchants", "operators"), "merchants"),
  /** Must match the merchant service's setting, because passkeys are bound to it. */
  CONSOLE_ORIGIN: origin,
  ...providerSettings,
  /** Client secret at the identity provider; without one, PKCE alone authenticates the consoles. */
  OIDC_CLIENT_SECRET: optionalSetting(text),
  /** Address of the public API, shown in samples. */
  API_ORIGIN: optionalSetting(urlSetting("http", "https")),
  RATE_LIMIT: withDefault(oneOf("on", "off"), "on"),
  /** Sign-in attempts per address and minute. */
  RATE_LIMIT_SIGN_IN_PER_MINUTE: withDefault(integerSetting(1, 1_000_000), 20),
};

export type ConsoleConfig = ReturnType<typeof readConsoleConfig>;

/** @throws ConfigError that lists every missing or malformed setting */
export function readConsoleConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  return readProductionConfig(consoleSettings, env);
}
