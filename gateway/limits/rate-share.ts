// Publishes this replica's tokens to the others and subtracts theirs: a limit holds for all replicas together.
// Until a report arrives each may allow its own burst. Without the broker every replica limits on its own.
import { randomBytes } from "node:crypto";
import { BrokerLink, brokerOf } from "#platform/events/connection.ts";
import { limitsSubject } from "#platform/events/streams.ts";
import type { Log } from "#platform/telemetry/log.ts";
import type { NatsConnection } from "#platform/values/nats.ts";
import type { GatewayConfig } from "../settings.ts";
import type { RateLimits } from "./rate-limits.ts";

// Short against the slow limits' minute and hour; of a fast limit 200 ms of tokens may be allowed twice.
const everyMs = 200;
// Buckets in one message, about 100 KB.
const bucketsPerMessage = 1_000;

/** Per bucket: name, tokens, rate per millisecond and burst. */
type TokenReport = readonly [replica: string, taken: readonly (readonly [string, number, number, number])[]];

interface TokenCount {
  tokens: number;
  readonly perMs: number;
  readonly burst: number;
}

export function shareLimits(
  limits: RateLimits,
  config: Pick<GatewayConfig, "NATS_URL" | "NATS_NKEY_FILE" | "NATS_CA_FILE" | "NATS_NAMESPACE" | "RATE_LIMIT">,
  log: Log,
): { close(): Promise<void> } {
  if (config.RATE_LIMIT === "off") return { close: async () => {} };
  const replica = randomBytes(8).toString("hex");
  const subject = limitsSubject(config.NATS_NAMESPACE);
  const counts = new Map<string, TokenCount>();
  limits.onTake = (bucket, { perMs, burst }) => {
    const known = counts.get(bucket);
    if (known) known.tokens += 1;
    else counts.set(bucket, { tokens: 1, perMs, burst });
  };
  const link = new BrokerLink({
    broker: brokerOf(config),
    name: "gateway",
    log,
    onConnected: (connection) => {
      connection.subscribe(subject, {
        callback: (error, message) => {
          if (!error) applyReport(limits, replica, parseReport(message.data));
        },
      });
    },
  });
  const timer = setInterval(() => {
    if (link.connection) publishReport(link.connection, subject, replica, counts);
    counts.clear();
  }, everyMs);
  timer.unref();
  return {
    close: async () => {
      clearInterval(timer);
      await link.close();
    },
  };
}

function publishReport(
  connection: NatsConnection,
  subject: string,
  replica: string,
  counts: ReadonlyMap<string, TokenCount>,
): void {
  const all = [...counts].map(([bucket, { tokens, perMs, burst }]) => [bucket, tokens, perMs, burst] as const);
  for (let start = 0; start < all.length; start += bucketsPerMessage) {
    const report: TokenReport = [replica, all.slice(start, start + bucketsPerMessage)];
    connection.publish(subject, JSON.stringify(report));
  }
}

function applyReport(limits: RateLimits, replica: string, report: TokenReport | undefined): void {
  if (!report || report[0] === replica) return;
  for (const [bucket, tokens, perMs, burst] of report[1]) limits.subtract(bucket, tokens, { perMs, burst });
}

/** Another release may use another format: unreadable reports are ignored. */
function parseReport(data: Uint8Array): TokenReport | undefined {
  try {
    const report: unknown = JSON.parse(new TextDecoder().decode(data));
    return isTokenReport(report) ? report : undefined;
  } catch {
    return undefined;
  }
}

function isTokenReport(report: unknown): report is TokenReport {
  if (!Array.isArray(report) || typeof report[0] !== "string" || !Array.isArray(report[1])) return false;
  return report[1].every(
    (entry: unknown) =>
      Array.isArray(entry) &&
      typeof entry[0] === "string" &&
      entry.slice(1).length === 3 &&
      entry.slice(1).every((value) => Number.isFinite(value) && value > 0),
  );
}
