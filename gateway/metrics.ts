// What operators see of the public API: requests by route, status and time. Labels are patterns and codes, never ids.
import { Histogram } from "prom-client";

/** Seconds a request took, from its first byte to the end of its answer. */
export const httpRequests = new Histogram({
  name: "tollbooth_http_request_seconds",
  help: "Requests of the public API by method, route, status and error code.",
  labelNames: ["method", "route", "status", "code"] as const,
  // A read is a few milliseconds; a slow card's confirm is 6 seconds; the deadline is 20.
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
});
