// Prometheus metrics: creating them in a service's registry, and the admin port that serves them with liveness and
// readiness (ADMIN_PORT; off by default). Callers never reach that port.
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

/** The registry's counter of this name, created on first use: a retried start finds it there. */
export function newCounter<L extends string>(registry: Registry, config: CounterConfiguration<L>): Counter<L> {
  const known = registry.getSingleMetric(config.name);
  return known instanceof Counter ? known : new Counter<L>({ ...config, registers: [registry] });
}

/** Like counter. A new `collect` replaces the previous one, which may read closed resources. */
export function newGauge<L extends string>(registry: Registry, config: GaugeConfiguration<L>): Gauge<L> {
  if (config.collect) registry.removeSingleMetric(config.name);
  const known = registry.getSingleMetric(config.name);
  return known instanceof Gauge ? known : new Gauge<L>({ ...config, registers: [registry] });
}

export function newHistogram<L extends string>(registry: Registry, config: HistogramConfiguration<L>): Histogram<L> {
  const known = registry.getSingleMetric(config.name);
  return known instanceof Histogram ? known : new Histogram<L>({ ...config, registers: [registry] });
}

// Sampling interval of event loop lag; each sample wakes the process.
const lagEveryMs = 50;
// A scraper sends a few bytes at once. Node's default is minutes, checked every 30 s.
const patience = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 };

/** Serves `/metrics`, `/livez` (the process is alive) and `/readyz` (200 while it accepts calls, else 503). */
export async function serveAdmin(options: {
  /** Name of the process, or of one service in a shared process. */
  name: string;
  port: number;
  host: string;
  /** A throw counts as not ready. */
  ready: () => Promise<boolean>;
  registry: Registry;
  /** False when another service reports the process's memory, CPU and event loop. */
  reportsProcess?: boolean;
}): Promise<{ port: number; close(): void }> {
  const { name, registry } = options;
  const ready = () => options.ready().catch(() => false);
  const processReady = newGauge(registry, {
    name: "tollbooth_process_ready",
    help: "1 while the process accepts calls, else 0, like /readyz.",
    labelNames: ["service"] as const,
  });
  newCounter(registry, {
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
