// The gateway's settings, read from its environment once, at start.
import {
  callerSettings,
  commonSettings,
  integer,
  oneOf,
  optional,
  type Setting,
  url,
  withDefault,
} from "#platform/config.ts";
import { readProductionConfig } from "#platform/production.ts";

const rate = (fallback: number) => withDefault(integer(1, 1_000_000), fallback);

/** Addresses or networks of proxies whose X-Forwarded-For is believed, comma-separated. */
const proxies: Setting<string> = {
  parse: (raw) => {
    if (!/^[0-9a-fA-F.:/]+(\s*,\s*[0-9a-fA-F.:/]+)*$/.test(raw)) {
      throw new Error("must be IP addresses or CIDR networks, comma-separated");
    }
    return raw;
  },
};

export const gatewaySettings = {
  ...commonSettings,
  ...callerSettings,
  CHECKOUT_URL: url("http"),
  PAYMENTS_URL: url("http"),
  MERCHANT_URL: url("http"),
  WEBHOOK_URL: url("http"),
  TRUST_PROXY: optional(proxies),
  RATE_LIMIT: withDefault(oneOf("on", "off"), "on"),
  // CONTRACT.md §10; requests per second of a key, per minute of a session or an address, per hour of an address. All keys of a
  // merchant in an environment together have so many times the limit of one.
  RATE_LIMIT_LIVE_PER_SECOND: rate(100),
  RATE_LIMIT_SANDBOX_PER_SECOND: rate(25),
  RATE_LIMIT_KEYS_PER_MERCHANT: rate(4),
  RATE_LIMIT_RESOLVE_PER_MINUTE: rate(60),
  RATE_LIMIT_CONFIRM_PER_MINUTE: rate(10),
  RATE_LIMIT_CONFIRM_ADDRESS_PER_MINUTE: rate(30),
  RATE_LIMIT_ONBOARDING_PER_HOUR: rate(5),
};

/** What the gateway needs to know. */
export type GatewayConfig = ReturnType<typeof readGatewayConfig>;

/** @throws ConfigError that lists everything missing or malformed. */
export function readGatewayConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  return readProductionConfig(gatewaySettings, env);
}
