// Metrics of a process, or of one of its parts, for Prometheus, on an admin port of their own (ADMIN_PORT; off when it
// is not set), together with a liveness answer. The port is for operators: it is never the one that callers reach.
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Counter, Gauge, Histogram, ownMetrics } from "#platform/parts/metric.ts";
import { boundHere } from "#platform/parts/part.ts";

/** What is alarmed about money: deploy/runbooks/money-invariant.md says what each means. */
const moneyAlertKinds = [
  "journal_difference",
  "intent_mismatch",
  "operation_parked",
  "statement_difference",
  "second_charge",
  "second_refund",
  "other_amount",
  "other_capture",
  "lost_intent",
  "event_stuck",
  "event_list_too_long",
] as const;

/**
 * Money that may have moved on an intent that is not ours, or an outcome a processor never told: somebody must look.
 */
export const moneyAlerts = new Counter({
  name: "tollbooth_money_alerts_total",
  help: "Money invariants that were found broken or could not be proved, by kind; told from 0, since an alert sees a rise only.",
  labelNames: ["kind"] as const,
});
for (const kind of moneyAlertKinds) moneyAlerts.inc({ kind }, 0);

/** Somebody else wrote to the broker, or was given a wrong key. */
export const eventsRefused = new Counter({
  name: "tollbooth_events_refused_total",
  help: "Events that were passed over because they are not proved to be their source's, or cannot be read, by source and reason.",
  labelNames: ["source", "why"] as const,
});

/** Told from 0 by events/stream-watch.ts. */
export const streamLosses = new Counter({
  name: "tollbooth_stream_losses_total",
  help: "Times that the broker was found to have lost published events or a whole stream, by source and how.",
  labelNames: ["source", "how"] as const,
});

/** Most of them are known to those who follow, and dropped there. */
export const eventsSentAgain = new Counter({
  name: "tollbooth_events_sent_again_total",
  help: "Published events that are sent again because the broker has lost them, by source.",
  labelNames: ["source"] as const,
});

/**
 * Calls of the internal API by how they ended, and seconds they took; `reason` is OK or one of the failure catalogue.
 */
export const rpcCalls = new Histogram({
  name: "tollbooth_rpc_seconds",
  help: "Internal calls answered, by method and reason.",
  labelNames: ["rpc", "reason"] as const,
  // A read is a millisecond; a processor answers within seconds; the longest deadline is 20 s.
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
});

const processReady = new Gauge({
  name: "tollbooth_process_ready",
  help: "1 while the process takes calls, else 0, as /readyz says it.",
  labelNames: ["service"] as const,
});

// Whoever asks sends a few bytes at once. Node itself waits for minutes, and looks every half minute.
const patience = { headersTimeout: 5_000, requestTimeout: 5_000, connectionsCheckingInterval: 1_000 };

/** Serves `/metrics`, `/livez` (the process lives) and `/readyz` (it takes calls now; 503 when it does not). */
export async function serveAdmin(options: {
  /** Of the process, or the part. */
  name: string;
  port: number;
  host: string;
  /** A throw counts as not ready. */
  ready: () => Promise<boolean>;
  /** False: another part tells of the process's memory, CPU and event loop. */
  tellsOfMachine?: boolean;
}): Promise<{ port: number; close(): void }> {
  const metrics = ownMetrics({ ofMachine: options.tellsOfMachine ?? true });
  const ready = () => options.ready().catch(() => false);
  const tell = async () => {
    processReady.set({ service: options.name }, (await ready()) ? 1 : 0);
    return await metrics.text();
  };
  const answer = boundHere((request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === "/livez") {
      response.end("ok\n");
    } else if (request.url === "/readyz") {
      void ready().then((is) => response.writeHead(is ? 200 : 503).end(is ? "ready\n" : "not ready\n"));
    } else if (request.url === "/metrics") {
      response.setHeader("content-type", metrics.contentType);
      tell().then(
        (text) => response.end(text),
        () => response.writeHead(500).end(),
      );
    } else {
      response.writeHead(404).end();
    }
  });
  const server = http.createServer(patience, answer);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}
