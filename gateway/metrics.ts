// What operators see of the public API: requests by route, status and time. Labels are patterns and codes, never ids.
import { Counter, Histogram } from "#platform/parts/metric.ts";

/** Seconds a request took, from its first byte to the end of its answer. */
export const httpRequests = new Histogram({
  name: "tollbooth_http_request_seconds",
  help: "Requests of the public API by method, route, status and error code.",
  labelNames: ["method", "route", "status", "code"] as const,
  // A read is a few milliseconds; a slow card's confirm is 6 seconds; the deadline is 20.
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
});

/** Requests whose key was not taken; every series begins with 0, so that its first step counts. */
export const keysRefused = new Counter({
  name: "tollbooth_keys_refused_total",
  help: "Requests without a usable API key: missing, unknown (or malformed, expired, revoked), or from an address that it is not for.",
  labelNames: ["why"] as const,
});
for (const why of ["missing", "unknown", "address"]) keysRefused.inc({ why }, 0);
