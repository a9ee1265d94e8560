// The merchants' side of the webhook benchmark, in its own process: one HTTPS server that answers by path (/ok at once,
// /hang never), counts, and on request reports when each payment's event arrived.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

/** The report to the benchmark. */
export interface ReceiverReport {
  count: number;
  /** Payment id and arrival, milliseconds since 1970 with fractions; only while asked for. */
  arrivals: [string, number][];
}

const reportMs = 100;
const now = () => performance.timeOrigin + performance.now();
let count = 0;
let arrivals: [string, number][] = [];

const { TLS_CERT = "", TLS_KEY = "" } = process.env;
const server = createServer({ cert: readFileSync(TLS_CERT), key: readFileSync(TLS_KEY) }, (request, response) => {
  const arrivedAt = now();
  const isHanging = request.url?.startsWith("/hang") ?? false;
  const isTimed = request.url?.startsWith("/ok-timed") ?? false;
  let body = "";
  if (isTimed) request.setEncoding("latin1").on("data", (chunk: string) => (body += chunk));
  else request.resume();
  request.on("end", () => {
    if (isHanging) return;
    count += 1;
    if (isTimed) arrivals.push([body.slice(body.indexOf("pay_"), body.indexOf("pay_") + 30), arrivedAt]);
    response.writeHead(200, { "content-length": "2" }).end("ok");
  });
});
// Kept connections outlast a pause between two phases.
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.send?.({ ready: true, port: typeof address === "object" ? address?.port : 0 });
});
const timer = setInterval(() => {
  const report: ReceiverReport = { count, arrivals };
  arrivals = [];
  process.send?.(report);
}, reportMs);
process.once("disconnect", () => {
  clearInterval(timer);
  process.exit(0);
});
