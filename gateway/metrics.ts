// Metrics of the public API. Labels are route patterns and codes, never ids.
import type { Registry } from "prom-client";
import { newCounter, newHistogram } from "#platform/telemetry/metrics.ts";

export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;

export function gatewayMetrics(registry: Registry) {
  const keysRefused = newCounter(registry, {
    name: "tollbooth_keys_refused_total",
    help: "Requests without a usable API key: missing, unknown (or malformed, expired, revoked), or from an address that the key does not allow.",
    labelNames: ["why"] as const,
  });
  // A series must begin with 0, or its first increment is invisible to rate().
  for (const why of ["missing", "unknown", "address"]) keysRefused.inc({ why }, 0);
  return {
    keysRefused,
    policyReports: newCounter(registry, {
      name: "tollbooth_page_policy_reports_total",
      help: "Browser reports of violations of the payment page's policy, by directive and disposition (enforce: blocked).",
      labelNames: ["directive", "disposition"] as const,
    }),
    requestsDropped: newCounter(registry, {
      name: "tollbooth_api_requests_dropped_total",
      help: "Entries of the API request log that were dropped because the merchant service did not accept them in time.",
    }),
  };
}

/** Request duration in seconds, from the first byte to the end of the response; also used by the consoles. */
export function httpRequests(registry: Registry) {
  return newHistogram(registry, {
    name: "tollbooth_http_request_seconds",
    help: "Requests of the public API by method, route, status and error code.",
    labelNames: ["method", "route", "status", "code"] as const,
    // A read takes a few milliseconds, a slow card's confirm 6 seconds; the deadline is 20.
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  });
}
