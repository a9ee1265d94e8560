// Settings of the payments service and the values that production refuses.
import {
  type ConfigValues,
  integerSetting,
  oneOf,
  optionalSetting,
  urlSetting,
  withDefault,
} from "#platform/process/config.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { callerSettings, idempotencySettings, serviceSettings } from "#platform/service/settings.ts";
import { archiveSettings } from "../archive/settings.ts";

// Stripe keeps keys for at least 24 hours (https://docs.stripe.com/api/idempotent_requests).
const absenceSeconds = 86_400;
const stripeApi = "https://api.stripe.com";
const adyenApi = "https://checkout-test.adyen.com";

export const paymentsSettings = {
  ...serviceSettings,
  ...idempotencySettings,
  ...callerSettings,
  ...archiveSettings,
  /** RPC address of the merchant service. */
  MERCHANT_URL: urlSetting("http", "https"),
  /** The simulator's API; absent: its accounts take no payments. */
  SIMULATOR_URL: optionalSetting(urlSetting("http", "https")),
  /** Origin of the simulator's card forms in the buyer's browser; absent: SIMULATOR_URL. */
  SIMULATOR_PUBLIC_URL: optionalSetting(urlSetting("http", "https")),
  /** Stripe's API, or a fake in tests. It receives merchants' secret keys. */
  STRIPE_API_URL: withDefault(urlSetting("https", "http"), stripeApi),
  /** Adyen's API for test accounts, or a fake in tests. It receives merchants' API keys. */
  ADYEN_API_URL: withDefault(urlSetting("https", "http"), adyenApi),
  /** When the reconcile job first checks a processor call that got no answer. */
  RECONCILE_AFTER_SECONDS: withDefault(integerSetting(1, 3_600), 30),
  /**
   * Timeout of a processor call; its outcome is then unknown. Processors usually answer in 2 s; our callers wait 15 s.
   */
  PROCESSOR_TIMEOUT_SECONDS: withDefault(integerSetting(1, 12), 8),
  /**
   * How long, by its own clock, a processor must find nothing before absence is proved: as long as processors keep
   * idempotency keys.
   */
  ABSENCE_AFTER_SECONDS: withDefault(integerSetting(1, 604_800), absenceSeconds),
  /** `erase`: an erasure also removes brand, last digits and expiry of cards, and the last digits of bank accounts. */
  ERASURE_CARD_DIGITS: withDefault(oneOf("keep", "erase"), "keep"),
  /** When the card's fingerprint is removed, counted from the payment; 13 months, as long as chargebacks may come. */
  RETENTION_CARD_FINGERPRINT_DAYS: withDefault(integerSetting(30, 3_650), 396),
  /** Pause between two reads of an account's event list. A lost webhook is recovered within twice this time. */
  EVENT_POLL_SECONDS: withDefault(integerSetting(1, 60), 60),
  /** A connector account's circuit opens when over half of this many last calls failed. Below 20 a few failures do. */
  CIRCUIT_WINDOW_CALLS: withDefault(integerSetting(2, 1_000), 20),
  /**
   * Longest pause between probes of an open circuit, so a buyer's longest wait for a recovery. The first pause is 1 s.
   */
  CIRCUIT_OPEN_MAX_SECONDS: withDefault(integerSetting(1, 300), 10),
} as const;

/** @throws ConfigError with each missing, malformed or refused setting */
export function readPaymentsConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): ConfigValues<typeof paymentsSettings> {
  return readProductionConfig(paymentsSettings, env, ({ STRIPE_API_URL, ADYEN_API_URL, ABSENCE_AFTER_SECONDS }) => [
    ...(STRIPE_API_URL === stripeApi ? [] : ["STRIPE_API_URL must not be set in production"]),
    ...(ADYEN_API_URL === adyenApi ? [] : ["ADYEN_API_URL must not be set in production"]),
    ...((ABSENCE_AFTER_SECONDS ?? 0) >= absenceSeconds
      ? []
      : [`ABSENCE_AFTER_SECONDS must be at least ${absenceSeconds} in production`]),
  ]);
}
