// One attempt to deliver: within its time limit for everything together, over a kept connection of the endpoint where
// there is one, and once more over a fresh one when the kept one turned out to be dead.
import { createSecureContext, getCACertificates, type SecureContext } from "node:tls";
import { clockMs } from "#platform/values/clock.ts";
import type { AttemptError, Outcome } from "../rules/delivery.ts";
import { retryAfterMs } from "../rules/schedule.ts";
import type { Target } from "../rules/target.ts";
import type { AttemptLog } from "../store/attempts.ts";
import { type ConnectSettings, type ConnectTiming, openConnection } from "./connection.ts";
import { ConnectionPool } from "./connection-pool.ts";
import { ProxyAway } from "./egress-proxy.ts";
import { type EndpointAnswer, ExchangeFailed, type Post, performExchange } from "./exchange.ts";
import { PooledConnection } from "./pooled-connection.ts";
import { ConnectFailed } from "./tcp.ts";

/** How an attempt went. */
export interface SendResult {
  readonly outcome: Outcome;
  readonly log: Omit<AttemptLog, "errorCode">;
}

// A kept connection that died is found out within a round trip; later than this the endpoint may have read the request.
const resendMaxMs = 1_000;
const noTiming: ConnectTiming = { dnsMs: 0, connectMs: 0, tlsMs: 0 };

/** @param extraCa PEM certificates that are trusted besides the public ones */
export function trustOf(extraCa: string | undefined): SecureContext {
  const ca = extraCa === undefined ? {} : { ca: [...getCACertificates("default"), extraCa] };
  return createSecureContext({ ...ca, minVersion: "TLSv1.2" });
}

export class Sender {
  readonly #settings: ConnectSettings;
  readonly #attemptMaxMs: number;
  readonly #pool = new ConnectionPool();

  /** @param attemptMaxMs longest for name, connection, TLS, headers and body together (docs/contract.md §9) */
  constructor(settings: ConnectSettings, attemptMaxMs: number) {
    this.#settings = settings;
    this.#attemptMaxMs = attemptMaxMs;
  }

  /**
   * Sends once. Never throws: whatever happens is an outcome.
   * @param key whose kept connections may be used
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
      if (kept) answer = await this.#overKept(kept, post, deadline.signal, startedAt);
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
      return { outcome: unanswered(error), log: log({}) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Closes the kept connections. */
  close(): void {
    this.#pool.close();
  }

  /** Undefined: the kept connection was dead, and a fresh one may be tried. */
  async #overKept(
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

function unanswered(error: unknown): Outcome {
  if (error instanceof ProxyAway) return { kind: "not_made" };
  const why: AttemptError =
    error instanceof ConnectFailed || error instanceof ExchangeFailed ? error.error : "connect_failed";
  return { kind: "unanswered", error: why };
}
