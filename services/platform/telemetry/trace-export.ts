// Sends spans to an OTLP/HTTP receiver. Loaded only when OTEL_EXPORTER_OTLP_ENDPOINT is set, since the SDK costs
// start-up time and memory.
import { hostname } from "node:os";
import { type DiagLogger, DiagLogLevel, diag } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, resourceAttributesEnvDetector, resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { releaseVersion } from "#platform/values/release.ts";
import type { Log } from "./log.ts";
import type { Tracing } from "./trace.ts";

interface ExportSettings {
  /** Base URL of the receiver; `/v1/traces` is appended. */
  readonly endpoint: string;
  /**
   * Share of traces, 0 to 1, that is recorded when a trace starts here or comes from outside. Calls between our
   * processes keep the first decision.
   */
  readonly share: number;
}

const sendEveryMs = 1_000;
// A slow or unavailable receiver costs spans, never memory or calls.
const waitingMax = 4_096;
const sendMaxMs = 5_000;
const stopMaxMs = 2_000;
// SQL of list queries is the longest text.
const textMax = 1_000;

/** Starts exporting. @returns the tracer, and how to stop after the last spans are sent */
export function exportSpans(
  process: string,
  settings: ExportSettings,
  log: Log,
): { readonly tracing: Tracing; stop(): Promise<void> } {
  diag.setLogger(quietly(log), DiagLogLevel.WARN);
  const exporter = new OTLPTraceExporter({ url: `${settings.endpoint}/v1/traces`, timeoutMillis: sendMaxMs });
  const provider = new TracerProvider({
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(settings.share) }),
    resource: resourceFromAttributes({
      "service.name": `tollbooth-${process}`,
      "service.version": releaseVersion(),
      "service.instance.id": hostname(), // in Kubernetes the pod's name
    }).merge(detectResources({ detectors: [resourceAttributesEnvDetector] })),
    spanLimits: { attributeValueLengthLimit: textMax },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: waitingMax,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: sendMaxMs,
      }),
    ],
  });
  return {
    tracing: { tracer: provider.getTracer("tollbooth"), share: settings.share },
    stop: async () => {
      const late = new Promise<void>((resolve) => setTimeout(resolve, stopMaxMs).unref());
      await Promise.race([provider.shutdown().catch(() => {}), late]);
    },
  };
}

/** SDK problems are logged as warnings; their details may contain the receiver's credentials. */
function quietly(log: Log): DiagLogger {
  const warn = (message: string) => log.warn({ message }, "span export failed");
  return { error: warn, warn, info: () => {}, debug: () => {}, verbose: () => {} };
}
