// One POST over one connection. The headers decide the outcome; an error in the body changes nothing.
// It reads at most 64 KiB of the body without decompression, and keeps 1 KiB of a refusal.

import type { IncomingHttpHeaders } from "node:http";
import { type Client, type Dispatcher, errors } from "undici";
import { errorCode } from "#platform/values/unchecked.ts";
import type { AttemptError } from "../rules/delivery.ts";
import { isAcknowledged } from "../rules/delivery.ts";

export interface Post {
  /** Path and query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface EndpointAnswer {
  readonly statusCode: number;
  readonly retryAfter: string | undefined;
  readonly firstByteMs: number;
  readonly snippet: string;
  /** Whether the answer was read to its end; the connection is reusable then. */
  readonly isReadToEnd: boolean;
}

export class ExchangeFailed extends Error {
  override name = "ExchangeFailed";
  readonly error: AttemptError;
  /** Whether the connection ended before the first byte of an answer. */
  readonly isSilent: boolean;
  constructor(error: AttemptError, isSilent: boolean, cause?: unknown) {
    super(error, { cause });
    this.error = error;
    this.isSilent = isSilent;
  }
}

const bodyBytesMax = 64 * 1024;
const snippetBytesMax = 1_024;
// After the headers the body gets this much time, to reuse the connection or to show a snippet.
const drainMs = 1_000;

/** @param signal aborts at the attempt's deadline @throws ExchangeFailed */
export function performExchange(client: Client, post: Post, signal: AbortSignal): Promise<EndpointAnswer> {
  return new Promise((resolve, reject) => {
    const handler = new AnswerReader(signal, resolve, reject);
    client.dispatch({ method: "POST", path: post.path, headers: post.headers, body: post.body }, handler);
  });
}

class AnswerReader implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #resolve: (answer: EndpointAnswer) => void;
  readonly #reject: (error: ExchangeFailed) => void;
  readonly #startedAt = performance.now();
  readonly #onAbort = () => this.#end(() => this.#reject(new ExchangeFailed("answer_timeout", this.#isSilent)));
  #controller: Dispatcher.DispatchController | undefined;
  #drain: NodeJS.Timeout | undefined;
  #isSilent = true;
  #isOver = false;
  #status = 0;
  #retryAfter: string | undefined;
  #firstByteMs = 0;
  #bytes = 0;
  #kept: Buffer[] = [];

  constructor(signal: AbortSignal, resolve: (answer: EndpointAnswer) => void, reject: (error: ExchangeFailed) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error("over"));
  }

  onResponseStarted(): void {
    this.#isSilent = false;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: IncomingHttpHeaders): void {
    // Informational answers (100 Continue, 103) decide nothing; the deadline limits their number.
    if (statusCode < 200 || this.#isOver) return;
    this.#status = statusCode;
    this.#retryAfter = headers["retry-after"];
    this.#firstByteMs = performance.now() - this.#startedAt;
    this.#signal.removeEventListener("abort", this.#onAbort);
    this.#drain = setTimeout(() => this.#answer(false), drainMs);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return;
    if (!isAcknowledged(this.#status) && this.#bytes < snippetBytesMax) {
      this.#kept.push(chunk.subarray(0, snippetBytesMax - this.#bytes));
    }
    this.#bytes += chunk.length;
    if (this.#bytes > bodyBytesMax) this.#answer(false);
  }

  onResponseEnd(): void {
    this.#answer(true);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#status !== 0) this.#answer(false);
    else this.#end(() => this.#reject(new ExchangeFailed(exchangeError(error), this.#isSilent, error)));
  }

  #answer(isReadToEnd: boolean): void {
    const snippet = printable(Buffer.concat(this.#kept));
    const answer = {
      statusCode: this.#status,
      retryAfter: this.#retryAfter,
      firstByteMs: this.#firstByteMs,
      snippet,
      isReadToEnd,
    };
    this.#end(() => this.#resolve(answer));
    if (!isReadToEnd) this.#controller?.abort(new Error("read enough"));
  }

  #end(settle: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#drain);
    this.#signal.removeEventListener("abort", this.#onAbort);
    settle();
    if (this.#status === 0) this.#controller?.abort(new Error("over"));
  }
}

const exchangeErrors: Readonly<Record<string, AttemptError>> = {
  UND_ERR_HEADERS_OVERFLOW: "headers_too_large",
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: "bad_http",
};

function exchangeError(error: Error): AttemptError {
  if (error instanceof errors.HTTPParserError) return "bad_http";
  // The client's messages for an unrequested 100 Continue or protocol switch.
  if (/^bad (response|upgrade)$/.test(error.message)) return "bad_http";
  return exchangeErrors[errorCode(error)] ?? "reset";
}

/** Replaces control characters and broken UTF-8, so the text is safe to store and show. */
function printable(bytes: Buffer): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the function removes them.
  const text = bytes.toString("utf8").replace(/[\u0000-\u001f\u007f-\u009f]+/g, " ");
  return text.slice(0, snippetBytesMax);
}
