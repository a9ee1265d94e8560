// One delivery attempt within one time limit. It uses an idle connection of the endpoint if there is one, and retries
// over a new connection if the idle one was dead.
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { clockMs } from "#platform/values/clock.ts";
import type { AttemptError, Outcome } from "../rules/delivery.ts";
import { retryAfterMs } from "../rules/schedule.ts";
import type { Target } from "../rules/target.ts";
import type { AttemptLog } from "../store/attempts.ts";
import { type ConnectSettings, type ConnectTiming, openConnection } from "./connection.ts";
import { ConnectionPool, PooledConnection } from "./connection-pool.ts";
import { ProxyUnavailable } from "./egress-proxy.ts";
import { type EndpointAnswer, ExchangeFailed, type Post, performExchange } from "./exchange.ts";
import { ConnectFailed } from "./tcp.ts";

export interface SendResult {
  readonly outcome: Outcome;
  readonly log: Omit<AttemptLog, "errorCode">;
}

// A dead connection fails within a round trip. Later than this the endpoint may have read the request.
const resendMaxMs = 1_000;
const noTiming: ConnectTiming = { dnsMs: 0, connectMs: 0, tlsMs: 0 };

/** @param extraCa PEM certificates that are trusted in addition to the public ones */
export function createTrust(extraCa: string | undefined): SecureContext {
  const ca = extraCa === undefined ? {} : { ca: [...getCACertificates("default"), extraCa] };
  return createSecureContext({ ...ca, minVersion: "TLSv1.2" });
}

export class Sender {
  readonly #settings: ConnectSettings;
  readonly #attemptMaxMs: number;
  readonly #pool = new ConnectionPool();

  /** @param attemptMaxMs limit for DNS, connection, TLS, headers and body together (docs/contract.md §9) */
  constructor(settings: ConnectSettings, attemptMaxMs: number) {
    this.#settings = settings;
    this.#attemptMaxMs = attemptMaxMs;
  }

  /**
   * Never throws: every failure is an outcome.
   * @param key the endpoint, whose idle connections may be used
   */
  async send(key: string, target: Target, post: Post): Promise<SendResult> {
    const startedAt = performance.now();
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.#attemptMaxMs);
    const kept = this.#pool.take(key);
    let connection: PooledConnection | undefined = kept;
    let isReused = kept !== undefined;
    const log = (more: Partial<SendResult["log"]>): SendResult["log"] => ({
      durationMs: performance.now() - startedAt,
      ...(isReused ? noTiming : (connection?.timing ?? noTiming)),
      firstByteMs: 0,
      remoteIp: connection?.remoteIp ?? "",
      isReused,
      snippet: "",
      ...more,
    });
    try {
      let answer: EndpointAnswer | undefined;
      if (kept) answer = await this.#sendOverKept(kept, post, deadline.signal, startedAt);
      if (!answer) {
        isReused = false;
        connection = undefined;
        connection = new PooledConnection(await openConnection(target, this.#settings, deadline.signal), target);
        answer = await performExchange(connection.client, post, deadline.signal);
      }
      if (connection && answer.isReadToEnd) this.#pool.keep(key, connection);
      else connection?.close();
      const { statusCode, firstByteMs, snippet } = answer;
      return {
        outcome: { kind: "answered", statusCode, retryAfterMs: readRetryAfter(answer) },
        log: log({ firstByteMs, snippet }),
      };
    } catch (error) {
      connection?.close();
      return { outcome: failedOutcome(error), log: log({}) };
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#pool.close();
  }

  /** @returns undefined if the connection was dead and a new one may be tried */
  async #sendOverKept(
    connection: PooledConnection,
    post: Post,
    signal: AbortSignal,
    startedAt: number,
  ): Promise<EndpointAnswer | undefined> {
    try {
      return await performExchange(connection.client, post, signal);
    } catch (error) {
      const isDead = error instanceof ExchangeFailed && error.error === "reset" && error.isSilent;
      if (!isDead || performance.now() - startedAt > resendMaxMs) throw error;
      connection.close();
      return undefined;
    }
  }
}

/** docs/contract.md §9: Retry-After counts on 429 and 503. */
function readRetryAfter(answer: EndpointAnswer): number {
  return answer.statusCode === 429 || answer.statusCode === 503 ? retryAfterMs(answer.retryAfter, clockMs()) : 0;
}

function failedOutcome(error: unknown): Outcome {
  if (error instanceof ProxyUnavailable) return { kind: "not_made" };
  const code: AttemptError =
    error instanceof ConnectFailed || error instanceof ExchangeFailed ? error.error : "connect_failed";
  return { kind: "unanswered", error: code };
}
