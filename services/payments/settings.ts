// What the payments service reads from its environment, and what of it production refuses.

import { type ConfigValues, integer, optional, url, withDefault } from "#platform/process/config.ts";
import { readProductionConfig } from "#platform/service/production.ts";
import { callerSettings, idempotencySettings, serviceSettings } from "#platform/service/settings.ts";

// Stripe keeps keys for at least 24 hours (https://docs.stripe.com/api/idempotent_requests).
const absenceSeconds = 86_400;
const stripeApi = "https://api.stripe.com";

export const paymentsSettings = {
  ...serviceSettings,
  ...idempotencySettings,
  ...callerSettings,
  /** RPC address of the merchant service. */
  MERCHANT_URL: url("http", "https"),
  /** The simulator's API; absent: there is none, and no account of it takes payments. */
  SIMULATOR_URL: optional(url("http", "https")),
  /** The origin of its card forms, as the buyer's browser sees it; absent: the same. */
  SIMULATOR_PUBLIC_URL: optional(url("http", "https")),
  /** Stripe's API, or what plays it in tests: merchants' secret keys are sent there. */
  STRIPE_API_URL: withDefault(url("https", "http"), stripeApi),
  /** When the reconcile job first asks about a call to a processor that got no answer. */
  RECONCILE_AFTER_SECONDS: withDefault(integer(1, 3_600), 30),
  /**
   * A call to a processor without an answer after this is in doubt. Processors answer within 2 s as a rule; our callers
   * wait 15 s.
   */
  PROCESSOR_TIMEOUT_SECONDS: withDefault(integer(1, 12), 8),
  /**
   * Nothing must have been found at a processor for this long, by its own clock, before absence is proved: as long as
   * processors keep idempotency keys.
   */
  ABSENCE_AFTER_SECONDS: withDefault(integer(1, 604_800), absenceSeconds),
  /** Pause between two looks at an account's event list: a lost webhook is made good within twice this. */
  EVENT_POLL_SECONDS: withDefault(integer(1, 60), 60),
  /**
   * A connector account's circuit opens when more than half of this many latest calls failed. Below 20 a few strays are
   * enough.
   */
  CIRCUIT_WINDOW_CALLS: withDefault(integer(2, 1_000), 20),
  /**
   * Longest pause before an open circuit is probed again; the first pause is 1 s. A buyer waits no longer than this for
   * a recovery.
   */
  CIRCUIT_OPEN_MAX_SECONDS: withDefault(integer(1, 300), 10),
} as const;

/** Reads the environment. @throws ConfigError that names everything that is missing, malformed or refused */
export function readPaymentsConfig(
  env: Readonly<Record<string, string | undefined>> = process.env,
): ConfigValues<typeof paymentsSettings> {
  return readProductionConfig(paymentsSettings, env, ({ STRIPE_API_URL, ABSENCE_AFTER_SECONDS }) => [
    ...(STRIPE_API_URL === stripeApi ? [] : ["STRIPE_API_URL must not be set in production"]),
    ...((ABSENCE_AFTER_SECONDS ?? 0) >= absenceSeconds
      ? []
      : [`ABSENCE_AFTER_SECONDS must be at least ${absenceSeconds} in production`]),
  ]);
}
