// Calls that nobody should ever see: ended by a defect, or made by somebody who is not known or not allowed. Counted
// apart from all others and from 0 for every method, since Prometheus sees a rise only, and one of them is enough.
import type { DescService } from "@bufbuild/protobuf";
import { Counter } from "#platform/parts/metric.ts";

const reasons = ["INTERNAL_ERROR", "CALLER_UNKNOWN", "CALLER_REFUSED"] as const;
const known: ReadonlySet<string> = new Set(reasons);

const alarms = new Counter({
  name: "tollbooth_rpc_alarms_total",
  help: "Internal calls that failed by a defect (INTERNAL_ERROR) or whose caller is not known or not allowed, by method and reason.",
  labelNames: ["rpc", "reason"] as const,
});

/** Tells 0 for every method of the services and for `others`. */
export function beginAlarms(services: readonly DescService[], others: readonly string[]): void {
  const methods = services.flatMap((service) => service.methods.map(({ name }) => `${service.typeName}/${name}`));
  for (const rpc of [...methods, ...others]) for (const reason of reasons) alarms.inc({ rpc, reason }, 0);
}

/** Counts a call by how it ended, if that is alarming. */
export function countAlarm(rpc: string, reason: string): void {
  if (known.has(reason)) alarms.inc({ rpc, reason });
}
