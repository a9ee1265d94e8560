// What the payments service reads from its environment.
import { callerSettings, idempotencySettings, integer, serviceSettings, url, withDefault } from "#platform/config.ts";

export const paymentsSettings = {
  ...serviceSettings,
  ...idempotencySettings,
  ...callerSettings,
  /** RPC address of the merchant service. */
  MERCHANT_URL: url("http", "https"),
  /** The simulator's API and form origin, as this service and the buyer's browser see it. */
  SIMULATOR_URL: url("http", "https"),
  /** When the reconcile job first asks about a call to a processor that got no answer. */
  RECONCILE_AFTER_SECONDS: withDefault(integer(1, 3_600), 30),
  /** A call to a processor without an answer after this is in doubt. Processors answer within 2 s as a rule; our callers wait 15 s. */
  PROCESSOR_TIMEOUT_SECONDS: withDefault(integer(1, 12), 8),
  /** A connector account's circuit opens when more than half of this many latest calls failed. Below 20 a few strays are enough. */
  CIRCUIT_WINDOW_CALLS: withDefault(integer(2, 1_000), 20),
  /** Longest pause before an open circuit is probed again; the first pause is 1 s. A buyer waits no longer than this for a recovery. */
  CIRCUIT_OPEN_MAX_SECONDS: withDefault(integer(1, 300), 10),
} as const;
