// Logs public API requests and sends them to the merchant service in batches, without delaying requests. Entries that
// cannot be sent in time are dropped and counted.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Log } from "#platform/telemetry/log.ts";
import { idTimeMs, prefixes } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import type { AuditService } from "#proto/merchant/v1/audit_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { GatewayMetrics } from "../metrics.ts";

type Service = Pick<Client<typeof AuditService>, "recordApiRequests">;
type Entry = NonNullable<Parameters<Service["recordApiRequests"]>[0]["requests"]>[number];

// Limit of one call, and the longest wait of an entry.
const batchMax = 1_000;
const everyMs = 1_000;
// A few seconds at a gateway's full load; about 5 MB.
const keptMax = 10_000;

export class ApiRequests {
  readonly #service: Service;
  readonly #log: Log;
  readonly #metrics: GatewayMetrics;
  readonly #timer: NodeJS.Timeout;
  #entries: Entry[] = [];
  #sending: Promise<void> | undefined;

  constructor(service: Service, log: Log, metrics: GatewayMetrics) {
    this.#service = service;
    this.#log = log;
    this.#metrics = metrics;
    this.#timer = setInterval(() => void this.flush(), everyMs);
    this.#timer.unref();
  }

  /** Records every request of the public API at its end. */
  follow(app: FastifyInstance): void {
    app.addHook("onResponse", async (request, reply) => {
      const { url } = request.routeOptions;
      if (!url?.startsWith("/v1/")) return;
      const { principal, call } = request;
      this.#add({
        requestId: call.requestId,
        at: timestampFromMs(idTimeMs(call.requestId)),
        method: request.method,
        path: loggedPath(url, request.params),
        status: reply.statusCode,
        errorCode: request.errorCode,
        durationMs: Math.round(reply.elapsedTime * 10) / 10,
        apiKeyId: principal?.keyId ?? "",
        merchantId: principal?.merchantId ?? "",
        environment: principal?.environment ?? Environment.UNSPECIFIED,
      });
    });
  }

  /** Sends all entries; a failed batch stays for the next flush. */
  async flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = undefined;
    });
    await this.#sending;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.flush();
  }

  #add(entry: Entry): void {
    if (this.#entries.length >= keptMax) {
      this.#metrics.requestsDropped.inc();
      return;
    }
    this.#entries.push(entry);
    if (this.#entries.length === batchMax) void this.flush();
  }

  async #send(): Promise<void> {
    while (this.#entries.length > 0) {
      const batch = this.#entries.slice(0, batchMax);
      try {
        await this.#service.recordApiRequests({ requests: batch });
        this.#entries = this.#entries.slice(batch.length);
      } catch (error) {
        this.#log.warn({ err: error, waiting: this.#entries.length }, "API requests not recorded: will retry");
        return;
      }
    }
  }
}

const idShape = new RegExp(`^(?:${Object.values(prefixes).join("|")})_[0-7][0-9a-hjkmnp-tv-z]{25}$`);

/** The route with its well-formed ids; other path values and the query may hold secrets and are left out. */
export function loggedPath(route: string, params: FastifyRequest["params"]): string {
  return route.replace(/:(\w+)/g, (name, key: string) => {
    const value: unknown = membersOf(params)[key];
    return typeof value === "string" && idShape.test(value) ? value : name;
  });
}
