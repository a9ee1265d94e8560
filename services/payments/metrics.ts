// Metrics of the payments service at ADMIN_PORT.
import type { Registry } from "prom-client";
import { newCounter, newGauge } from "#platform/telemetry/metrics.ts";

/** deploy/runbooks/money-invariant.md explains each kind. */
export const moneyAlertKinds = [
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
  "processing_too_long",
  "event_stuck",
  "event_list_too_long",
] as const;

export type PaymentsMetrics = ReturnType<typeof paymentsMetrics>;

export function paymentsMetrics(registry: Registry) {
  const moneyAlerts = newCounter(registry, {
    name: "tollbooth_money_alerts_total",
    help: "Money invariants that were broken or could not be proved, by kind. Each kind starts at 0, so that the first one is a rise.",
    labelNames: ["kind"] as const,
  });
  for (const kind of moneyAlertKinds) moneyAlerts.inc({ kind }, 0);
  return {
    moneyAlerts,
    openFindings: newGauge(registry, {
      name: "tollbooth_money_findings_open",
      help: "Findings that no later check has resolved and no operator has explained, by the kind of their alert.",
      labelNames: ["kind"] as const,
    }),
    failovers: newCounter(registry, {
      name: "tollbooth_connector_failovers_total",
      help: "New intents created at another account because the preferred one could not be reached.",
      labelNames: ["from", "to"] as const,
    }),
    statementDifferences: newCounter(registry, {
      name: "tollbooth_statement_differences_total",
      help: "Differences found between a processor's statement and the books, counted once each.",
      labelNames: ["connector", "kind"] as const,
    }),
    openDifferences: newGauge(registry, {
      name: "tollbooth_statement_differences_open",
      help: "Unresolved differences between processors' statements and the books.",
    }),
    webhooksRefused: newCounter(registry, {
      name: "tollbooth_processor_webhooks_refused_total",
      help: "Webhooks to a known account with a wrong signature or password.",
      labelNames: ["connector"] as const,
    }),
    eventListsBehind: newGauge(registry, {
      name: "tollbooth_event_lists_behind",
      help: "Connector accounts whose events or balance transactions could not be read at the last attempt.",
    }),
    parkedOperations: newGauge(registry, {
      name: "tollbooth_operations_parked",
      help: "Operations that wait for an operator.",
    }),
    openFunds: newGauge(registry, {
      name: "tollbooth_suspense_open",
      help: "Unexpected funds that wait for an operator or a refund.",
    }),
  };
}
