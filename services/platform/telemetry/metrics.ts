// Metrics for Prometheus: how a service makes its own in a registry, and the admin port that serves them (ADMIN_PORT;
// off when it is not set), together with a liveness answer. The port is for operators, and callers never reach it.
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  Counter,
  type CounterConfiguration,
  collectDefaultMetrics,
  Gauge,
  type GaugeConfiguration,
  Histogram,
  type HistogramConfiguration,
  type Registry,
} from "prom-client";
import { idRebases } from "#platform/values/id.ts";

/** The registry's counter of this name, made at first: a start that failed and is tried again has made it before. */
export function counter<L extends string>(registry: Registry, config: CounterConfiguration<L>): Counter<L> {
  const known = registry.getSingleMetric(config.name);
  return known instanceof Counter ? known : new Counter<L>({ ...config, registers: [registry] });
}

/** The same for a gauge. One that collects takes the place of the one before, which may read what is closed. */
export function gauge<L extends string>(registry: Registry, config: GaugeConfiguration<L>): Gauge<L> {
  if (config.collect) registry.removeSingleMetric(config.name);
  const known = registry.getSingleMetric(config.name);
  return known instanceof Gauge ? known : new Gauge<L>({ ...config, registers: [registry] });
}

/** The same for a histogram. */
export function histogram<L extends string>(registry: Registry, config: HistogramConfiguration<L>): Histogram<L> {
  const known = registry.getSingleMetric(config.name);
  return known instanceof Histogram ? known : new Histogram<L>({ ...config, registers: [registry] });
}

// How often the event loop's lag is looked at, which it counts in; each look wakes the process.
const lagEveryMs = 50;
// Whoever asks sends a few bytes at once. Node itself waits for minutes, and looks every half minute.
const patience = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 };

/** Serves `/metrics`, `/livez` (the process lives) and `/readyz` (it takes calls now; 503 when it does not). */
export async function serveAdmin(options: {
  /** Of the process, or of the service among several in one process. */
  name: string;
  port: number;
  host: string;
  /** A throw counts as not ready. */
  ready: () => Promise<boolean>;
  registry: Registry;
  /** False: another service reports the process's memory, CPU and event loop. */
  reportsProcess?: boolean;
}): Promise<{ port: number; close(): void }> {
  const { name, registry } = options;
  const ready = () => options.ready().catch(() => false);
  const processReady = gauge(registry, {
    name: "tollbooth_process_ready",
    help: "1 while the process takes calls, else 0, as /readyz says it.",
    labelNames: ["service"] as const,
  });
  counter(registry, {
    name: "tollbooth_ids_rebased_total",
    help: "Times that the ids of this process went back, because its clock had been ahead by more than a second.",
    collect() {
      this.reset();
      this.inc(idRebases());
    },
  });
  if (options.reportsProcess ?? true)
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: lagEveryMs });
  const metricsText = async () => {
    processReady.set({ service: name }, (await ready()) ? 1 : 0);
    return await registry.metrics();
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === "/livez") {
      response.end("ok\n");
    } else if (request.url === "/readyz") {
      void ready().then((is) => response.writeHead(is ? 200 : 503).end(is ? "ready\n" : "not ready\n"));
    } else if (request.url === "/metrics") {
      response.setHeader("content-type", registry.contentType);
      metricsText().then(
        (text) => response.end(text),
        () => response.writeHead(500).end(),
      );
    } else {
      response.writeHead(404).end();
    }
  };
  const server = http.createServer(patience, answer);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
