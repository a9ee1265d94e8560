// Metrics of the checkout service at ADMIN_PORT.
import type { Registry } from "prom-client";
import { newCounter } from "#platform/telemetry/metrics.ts";

export type CheckoutMetrics = ReturnType<typeof checkoutMetrics>;

export function checkoutMetrics(registry: Registry) {
  return {
    riskDecisions: newCounter(registry, {
      name: "tollbooth_risk_decisions_total",
      help: "Sessions screened, by stage and decision.",
      labelNames: ["stage", "decision"] as const,
    }),
  };
}
