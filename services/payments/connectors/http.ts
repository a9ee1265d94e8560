// One HTTP call to a processor with a total time limit. The result is answered, unsent or silent.

import { Readable } from "node:stream";
import { Agent } from "undici";
import { inSpan } from "#platform/telemetry/trace.ts";
import { errorCode } from "#platform/values/unchecked.ts";

export type HttpAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** undefined: not JSON. */
      readonly body: unknown;
    }
  /** No connection was made, so nothing was sent. */
  | { readonly kind: "unsent"; readonly cause: unknown }
  /** Sent, at least in part, without a complete answer. */
  | { readonly kind: "silent"; readonly cause: unknown };

interface ProcessorRequest {
  readonly method: "GET" | "POST" | "PATCH";
  /** Absent: the processor's only one. */
  readonly origin?: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** A body in `application/x-www-form-urlencoded`, instead of `json`. */
  readonly form?: string;
  /** A body of bytes, piece by piece, instead of `json`. */
  readonly bytes?: ByteBody;
  /** Replaces the limit of all calls if less time is left. */
  readonly timeoutMs?: number;
}

interface ByteBody {
  readonly type: string;
  readonly length: number;
  pieces(): AsyncIterable<Uint8Array>;
}

const connectTimeoutMs = 2_000;
const connectionsMax = 64;
const answerMaxBytes = 2 << 20;

export class ProcessorHttp {
  readonly #origin: string;
  readonly #agent: Agent;
  readonly #totalTimeoutMs: number;
  /** The processor's `Date` of the last answer, and the monotonic time when it came. */
  #serverDate: { readonly dateMs: number; readonly atMs: number } | undefined;

  /** @param origin `https://host[:port]`. @param totalTimeoutMs from the first byte sent to the last byte received. */
  constructor(origin: string, totalTimeoutMs: number) {
    this.#totalTimeoutMs = totalTimeoutMs;
    this.#origin = origin;
    this.#agent = new Agent({
      connections: connectionsMax,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: connectTimeoutMs },
      maxResponseSize: answerMaxBytes,
    });
  }

  /** The processor's clock by its latest `Date` header, to the second; undefined before the first answer. */
  time(): Date | undefined {
    return this.#serverDate && new Date(this.#serverDate.dateMs + (performance.now() - this.#serverDate.atMs));
  }

  call(options: ProcessorRequest): Promise<HttpAnswer> {
    const attributes = { "http.request.method": options.method };
    return inSpan({ name: `processor ${options.method}`, kind: "CLIENT", attributes }, async (span) => {
      const answer = await this.#call(options);
      span?.set(
        answer.kind === "answered" ? { "http.response.status_code": answer.status } : { "error.type": answer.kind },
      );
      return answer;
    });
  }

  async #call(options: ProcessorRequest): Promise<HttpAnswer> {
    const { body, headers: ofBody } = bodyOf(options);
    const limit = new AbortController();
    const late = () => limit.abort(new DOMException("the processor exceeded its time limit", "TimeoutError"));
    const timer = setTimeout(late, options.timeoutMs ?? this.#totalTimeoutMs);
    try {
      const answer = await this.#agent.request({
        origin: options.origin ?? this.#origin,
        method: options.method,
        path: options.path,
        headers: {
          ...options.headers,
          accept: "application/json",
          ...ofBody,
        },
        body,
        signal: limit.signal,
      });
      const text = await answer.body.text();
      const headers = Object.fromEntries(Object.entries(answer.headers).map(([name, value]) => [name, String(value)]));
      const date = dateOf(headers);
      if (date) this.#serverDate = { dateMs: date.getTime(), atMs: performance.now() };
      return { kind: "answered", status: answer.statusCode, headers, body: parsed(text) };
    } catch (error) {
      const isUnsent = error instanceof Error && neverSentCodes.has(errorCode(error));
      return { kind: isUnsent ? "unsent" : "silent", cause: error };
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function bodyOf({ json, form, bytes }: ProcessorRequest) {
  if (bytes) {
    const headers = { "content-type": bytes.type, "content-length": String(bytes.length) };
    return { body: Readable.from(bytes.pieces(), { objectMode: false }), headers };
  }
  if (json !== undefined) return { body: JSON.stringify(json), headers: { "content-type": "application/json" } };
  if (form === undefined) return { body: null, headers: {} };
  return { body: form, headers: { "content-type": "application/x-www-form-urlencoded" } };
}

/** Statuses below 500 that leave the outcome open: timeout, conflict, too early, too many requests. */
export const undecidedStatuses: ReadonlySet<number> = new Set([408, 409, 425, 429]);

/** The processor's own time of an answer (RFC 9110 §6.6.1); undefined: not sent. */
export function dateOf(headers: Readonly<Record<string, string>>): Date | undefined {
  const ms = Date.parse(headers.date ?? "");
  return Number.isNaN(ms) ? undefined : new Date(ms);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const neverSentCodes = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
