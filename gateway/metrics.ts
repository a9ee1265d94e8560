// What operators see of the public API: requests by route, status and time. Labels are patterns and codes, never ids.
import type { Registry } from "prom-client";
import { counter, histogram } from "#platform/telemetry/metrics.ts";

export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;

export function gatewayMetrics(registry: Registry) {
  const keysRefused = counter(registry, {
    name: "tollbooth_keys_refused_total",
    help: "Requests without a usable API key: missing, unknown (or malformed, expired, revoked), or from an address that it is not for.",
    labelNames: ["why"] as const,
  });
  for (const why of ["missing", "unknown", "address"]) keysRefused.inc({ why }, 0);
  return {
    /** Requests whose key was not taken; every series begins with 0, so that its first step counts. */
    keysRefused,
    policyReports: counter(registry, {
      name: "tollbooth_page_policy_reports_total",
      help: "Reports of browsers that something broke the payment page's policy, by directive and whether it was stopped (enforce).",
      labelNames: ["directive", "disposition"] as const,
    }),
    requestsDropped: counter(registry, {
      name: "tollbooth_api_requests_dropped_total",
      help: "Entries of the API request log that were dropped because the merchant service did not take them in time.",
    }),
  };
}

/** Seconds a request took, from its first byte to the end of its answer; of the gateway and of a console. */
export function httpRequests(registry: Registry) {
  return histogram(registry, {
    name: "tollbooth_http_request_seconds",
    help: "Requests of the public API by method, route, status and error code.",
    labelNames: ["method", "route", "status", "code"] as const,
    // A read is a few milliseconds; a slow card's confirm is 6 seconds; the deadline is 20.
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  });
}
