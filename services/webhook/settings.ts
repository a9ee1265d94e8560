// The settings of the webhook service, and those that production refuses.
import { integerSetting, optionalSetting, type Setting, urlSetting, withDefault } from "#platform/process/config.ts";
import { certificates } from "#platform/secrets/certificate-file.ts";
import type { OpenedConfig } from "#platform/secrets/open-keys.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { callerSettings, idempotencySettings, serviceSettings } from "#platform/service/settings.ts";
import { type Cidr, parseCidr } from "#platform/values/address-range.ts";

const cidrs: Setting<readonly Cidr[]> = {
  parse: (raw) => raw.split(",").map((cidr) => parseCidr(cidr.trim())),
};

const dayMs = 86_400_000;

export const webhookSettings = {
  ...serviceSettings,
  ...idempotencySettings,
  ...callerSettings,
  /** RPC addresses of the services whose events are consumed; each event is verified with its service. */
  PAYMENTS_URL: urlSetting("http", "https"),
  CHECKOUT_URL: urlSetting("http", "https"),
  /** For internal teams' tokens; absent: no team may call. */
  MERCHANT_URL: optionalSetting(urlSetting("http", "https")),
  /** Address ranges that are allowed in addition to public ones. */
  WEBHOOK_ALLOW_CIDRS: withDefault(cidrs, []),
  /** PEM file of certificate authorities that are trusted in addition to the public ones. */
  WEBHOOK_EXTRA_CA: optionalSetting(certificates),
  /** HTTP CONNECT proxy for every delivery. */
  WEBHOOK_EGRESS_PROXY: optionalSetting(urlSetting("http")),
  /** Time limit of a whole attempt. A claim lasts three times as long. */
  WEBHOOK_TIMEOUT_MS: withDefault(integerSetting(100, 10_000), 10_000),
  WEBHOOK_RETRY_BASE_MS: withDefault(integerSetting(1, dayMs), 60_000),
  WEBHOOK_RETRY_CAP_MS: withDefault(integerSetting(1, dayMs), 3_600_000),
  WEBHOOK_ATTEMPTS_MAX: withDefault(integerSetting(1, 1_000), 78),
} as const;

export type WebhookConfig = OpenedConfig<ReturnType<typeof readWebhookConfig>>;

/** @throws ConfigError that names every missing, malformed or refused setting */
export function readWebhookConfig(env: Readonly<Record<string, string | undefined>> = process.env) {
  return readProductionConfig(webhookSettings, env, ({ WEBHOOK_ALLOW_CIDRS = [], WEBHOOK_EXTRA_CA }) => [
    ...(WEBHOOK_ALLOW_CIDRS.length > 0 ? ["WEBHOOK_ALLOW_CIDRS must not be set in production"] : []),
    ...(WEBHOOK_EXTRA_CA === undefined ? [] : ["WEBHOOK_EXTRA_CA must not be set in production"]),
  ]);
}
