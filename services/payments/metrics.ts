// What operators see of payments at ADMIN_PORT.
import type { Registry } from "prom-client";
import { counter, gauge } from "#platform/telemetry/metrics.ts";

/** deploy/runbooks/money-invariant.md says what each means. */
const moneyAlertKinds = [
  "journal_difference",
  "intent_mismatch",
  "operation_parked",
  "statement_difference",
  "second_charge",
  "second_refund",
  "other_amount",
  "excess_capture",
  "other_capture",
  "lost_intent",
  "event_stuck",
  "event_list_too_long",
] as const;

export type PaymentsMetrics = ReturnType<typeof paymentsMetrics>;

export function paymentsMetrics(registry: Registry) {
  const moneyAlerts = counter(registry, {
    name: "tollbooth_money_alerts_total",
    help: "Money invariants that were found broken or could not be proved, by kind; told from 0, since an alert sees a rise only.",
    labelNames: ["kind"] as const,
  });
  for (const kind of moneyAlertKinds) moneyAlerts.inc({ kind }, 0);
  return {
    /** Money that may have moved on an intent that is not ours, or an outcome a processor never told. */
    moneyAlerts,
    failovers: counter(registry, {
      name: "tollbooth_connector_failovers_total",
      help: "New intents that went to another account because nothing could be sent to the one before.",
      labelNames: ["from", "to"] as const,
    }),
    statementDifferences: counter(registry, {
      name: "tollbooth_statement_differences_total",
      help: "Differences between a processor's statement and our books, when they were first found.",
      labelNames: ["connector", "kind"] as const,
    }),
    openDifferences: gauge(registry, {
      name: "tollbooth_statement_differences_open",
      help: "Differences between processors' statements and our books that are not resolved.",
    }),
    eventListsBehind: gauge(registry, {
      name: "tollbooth_event_lists_behind",
      help: "Connector accounts whose event list could not be read when it was last looked at.",
    }),
    parkedOperations: gauge(registry, {
      name: "tollbooth_operations_parked",
      help: "Operations that wait for an operator.",
    }),
    openFunds: gauge(registry, {
      name: "tollbooth_suspense_open",
      help: "Unexpected funds that wait for an operator or a refund.",
    }),
  };
}
