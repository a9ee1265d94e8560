// Counts the calls that a service answers. Calls that an operator should never see, ended by a defect or made by a
// caller that is not known or not allowed, are counted apart and from 0 for every method: Prometheus sees a rise only.
import type { DescService } from "@bufbuild/protobuf";
import type { Counter, Histogram, Registry } from "prom-client";
import { counter, histogram } from "#platform/telemetry/metrics.ts";

const reasons = ["INTERNAL_ERROR", "CALLER_UNKNOWN", "CALLER_REFUSED"] as const;
const alarming: ReadonlySet<string> = new Set(reasons);

export class CallMetrics {
  readonly #calls: Histogram<"rpc" | "reason">;
  readonly #alarms: Counter<"rpc" | "reason">;

  /** @param others what is counted besides the methods of the services */
  constructor(registry: Registry, services: readonly DescService[], others: readonly string[]) {
    this.#calls = histogram(registry, {
      name: "tollbooth_rpc_seconds",
      help: "Internal calls answered, by method and reason.",
      labelNames: ["rpc", "reason"] as const,
      // A read is a millisecond; a processor answers within seconds; the longest deadline is 20 s.
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    });
    this.#alarms = counter(registry, {
      name: "tollbooth_rpc_alarms_total",
      help: "Internal calls that failed by a defect (INTERNAL_ERROR) or whose caller is not known or not allowed, by method and reason.",
      labelNames: ["rpc", "reason"] as const,
    });
    const methods = services.flatMap((service) => service.methods.map(({ name }) => `${service.typeName}/${name}`));
    for (const rpc of [...methods, ...others]) for (const reason of reasons) this.#alarms.inc({ rpc, reason }, 0);
  }

  /** @param reason OK or one of the failure catalogue */
  count(rpc: string, reason: string, tookMs: number): void {
    this.#calls.observe({ rpc, reason }, tookMs / 1_000);
    if (alarming.has(reason)) this.#alarms.inc({ rpc, reason });
  }
}
