// The gateway's settings, read from its environment once, at start.
import { isIPv4 } from "node:net";
import {
  integerSetting,
  matchingText,
  oneOf,
  optionalSetting,
  type Setting,
  urlSetting,
  withDefault,
} from "#platform/process/config.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { callerSettings, commonSettings } from "#platform/service/settings.ts";
import { addressBytes } from "#platform/values/address-range.ts";

const rate = (fallback: number) => withDefault(integerSetting(1, 1_000_000), fallback);

/**
 * Number of trusted proxies that add to X-Forwarded-For, or their addresses or networks, comma-separated.
 */
export const proxies: Setting<number | string> = {
  parse: (raw) => {
    if (/^[1-9]$/.test(raw)) return Number(raw);
    if (!raw.split(",").every((each) => isAddressOrNetwork(each.trim()))) {
      throw new Error("must be a number of proxies from 1 to 9, or IP addresses or CIDR networks, comma-separated");
    }
    return raw;
  },
};

/** Rejects bare numbers: 10 would parse as 0.0.0.10, and all buyers would share the proxies' address. */
function isAddressOrNetwork(text: string): boolean {
  const [address = "", length, ...rest] = text.split("/");
  if (rest.length > 0 || addressBytes(address) === undefined) return false;
  // A prefix of 0 trusts every caller, who could then choose its own address.
  return length === undefined || (/^[1-9]\d{0,2}$/.test(length) && Number(length) <= (isIPv4(address) ? 32 : 128));
}

/** Contact for vulnerability reports (RFC 9116). */
const contact = matchingText(/^(mailto:|tel:|https:\/\/)\S+$/, "must begin with mailto:, tel: or https://");

const moment: Setting<string> = {
  parse: (raw) => {
    if (!/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(raw) || Number.isNaN(Date.parse(raw)))
      throw new Error("must be a time as 2027-01-31T00:00:00Z");
    return new Date(raw).toISOString();
  },
};

export const gatewaySettings = {
  ...commonSettings,
  ...callerSettings,
  CHECKOUT_URL: urlSetting("http", "https"),
  PAYMENTS_URL: urlSetting("http", "https"),
  MERCHANT_URL: urlSetting("http", "https"),
  WEBHOOK_URL: urlSetting("http", "https"),
  NODE_ENV: withDefault(oneOf("production", "development", "test"), "development"),
  TRUST_PROXY: optionalSetting(proxies),
  /** On a developer's machine: /docs offers to try operations. Production refuses it. */
  LOCAL_STACK: withDefault(oneOf("on", "off"), "off"),
  /** URL of the simulator's card form, which the payment page may frame. */
  SIMULATOR_PUBLIC_URL: optionalSetting(urlSetting("http", "https")),
  // Time for a caller to send a request's headers, and the whole request.
  REQUEST_HEADERS_SECONDS: withDefault(integerSetting(1, 60), 10),
  REQUEST_SECONDS: withDefault(integerSetting(1, 60), 15),
  // Set both or neither: /.well-known/security.txt.
  SECURITY_CONTACT: optionalSetting(contact),
  SECURITY_EXPIRES: optionalSetting(moment),
  RATE_LIMIT: withDefault(oneOf("on", "off"), "on"),
  // docs/contract.md §10. KEYS_PER_MERCHANT: a merchant's keys in one environment share this multiple of a key's limit.
  RATE_LIMIT_LIVE_PER_SECOND: rate(100),
  RATE_LIMIT_SANDBOX_PER_SECOND: rate(25),
  RATE_LIMIT_KEYS_PER_MERCHANT: rate(4),
  RATE_LIMIT_RESOLVE_PER_MINUTE: rate(60),
  RATE_LIMIT_CONFIRM_PER_MINUTE: rate(10),
  RATE_LIMIT_CONFIRM_ADDRESS_PER_MINUTE: rate(30),
  RATE_LIMIT_ONBOARDING_PER_HOUR: rate(5),
  // Per address: reading, changing and submitting existing applications.
  RATE_LIMIT_APPLICANT_PER_HOUR: rate(60),
  // Per address, counting failures only: unknown keys, wrong session secrets, unknown pages, rejected events.
  RATE_LIMIT_REFUSED_KEYS_PER_MINUTE: rate(60),
  RATE_LIMIT_REFUSED_SECRETS_PER_MINUTE: rate(120),
  RATE_LIMIT_REFUSED_PAGES_PER_MINUTE: rate(120),
  // A processor sends bursts from one address, and each event holds a token until it is applied.
  RATE_LIMIT_REFUSED_EVENTS_PER_MINUTE: rate(300),
  // Per address: browsers' reports of policy violations on the payment page.
  RATE_LIMIT_REPORTS_PER_MINUTE: rate(60),
};

export type GatewayConfig = ReturnType<typeof readGatewayConfig>;

/** @throws ConfigError that lists everything missing or malformed. */
export function readGatewayConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  return readProductionConfig(gatewaySettings, env);
}
