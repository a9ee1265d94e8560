// Sends operations: adds headers and an idempotency key that is the same for all attempts, retries where allowed, and
// converts responses to objects or errors.
import { randomUUID } from "node:crypto";
import { keepFacts, parseAnswer } from "./answer.ts";
import { sendOnce, type WireAnswer, type WireRequest } from "./attempt.ts";
import { errorOf, TollboothError, UnexpectedAnswerError } from "./errors.ts";
import { parseJson } from "./json.ts";
import { membersOf } from "./members.ts";
import { List, nextQuery, Page, type Paging } from "./page.ts";
import { bodyText, queryText } from "./path.ts";
import { pauseBefore } from "./retry.ts";
import { checkNumber, type Settings } from "./settings.ts";

export interface RequestOptions {
  /** Overrides the client's option. */
  timeoutMs?: number;
  maxRetries?: number;
  /** Aborts the call, which then throws the signal's reason. */
  signal?: AbortSignal;
}

export interface IdempotentOptions extends RequestOptions {
  /** 1 to 255 printable ASCII characters, such as your order number. Default: a random key. */
  idempotencyKey?: string;
}

export interface OperationCall {
  readonly method: string;
  readonly path: string;
  readonly query?: object;
  readonly body?: object;
  /** The raw body, instead of JSON. */
  readonly file?: { readonly content: Uint8Array; readonly type: string };
  /** Accepts an idempotency key. */
  readonly isIdempotent?: true;
  /** Needs no API key. */
  readonly isOpen?: true;
  /** The response is a file. */
  readonly isBytes?: true;
}

export interface ListCall extends OperationCall {
  readonly paging: Paging;
}

export class Caller {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  async send<T>(call: OperationCall, options: IdempotentOptions = {}): Promise<T> {
    const { status, headers, bytes } = await this.#answer(call, options);
    const isRaw = call.isBytes || status === 204;
    const result: unknown = isRaw ? (status === 204 ? undefined : bytes) : parseAnswer(bytes, status, headers);
    if (typeof result === "object" && result !== null) keepFacts(result, status, headers);
    // T is generated from the document that every response is tested against.
    return result as T;
  }

  list<T>({ paging, query, ...call }: ListCall, options: RequestOptions = {}): List<T> {
    return new List(async () => {
      const { status, headers, bytes } = await this.#answer({ ...call, ...(query && { query }) }, options);
      const body = membersOf(parseAnswer(bytes, status, headers));
      if (!Array.isArray(body.data)) {
        throw new UnexpectedAnswerError("the response is not a list", { code: "unexpected_answer", status });
      }
      const next = nextQuery(membersOf(query), body, paging);
      const page = new Page<T>(body.data, body, next && this.list({ ...call, query: next, paging }, options));
      keepFacts(page, status, headers);
      return page;
    });
  }

  async #answer(call: OperationCall, options: IdempotentOptions): Promise<WireAnswer> {
    const { clock, random, totalTimeoutMs } = this.#settings;
    const { maxRetries = this.#settings.maxRetries, timeoutMs = this.#settings.timeoutMs, signal } = options;
    checkNumber("maxRetries", maxRetries, 0, 10);
    checkNumber("timeoutMs", timeoutMs, 1, 600_000);
    const request = this.#request(call, options);
    const isRepeatable = call.method === "GET" || call.isIdempotent === true;
    const endsAt = clock.now() + totalTimeoutMs;
    // Ends after maxRetries retries at the latest, by pauseBefore.
    for (let attempts = 1; ; attempts++) {
      const leftMs = Math.max(1, endsAt - clock.now());
      const answer = await sendOnce(this.#settings, request, Math.min(timeoutMs, leftMs), signal).catch(asFailure);
      if (!(answer instanceof TollboothError) && answer.status < 300) return answer;
      const error = answer instanceof TollboothError ? answer : failureOf(answer, this.#settings.apiKey);
      error.attempts = attempts;
      const state = { attempts, maxRetries, isRepeatable, leftMs: endsAt - clock.now(), random: random() };
      const pause = pauseBefore(error, state);
      if (pause === undefined) throw error;
      await clock.sleep(pause, signal);
    }
  }

  #request(
    { method, path, query, body, file, isIdempotent, isOpen }: OperationCall,
    options: IdempotentOptions,
  ): WireRequest {
    const { apiKey, base, userAgent } = this.#settings;
    if (!isOpen && apiKey === undefined) throw new TypeError("this operation requires a client with an apiKey");
    const { idempotencyKey = isIdempotent ? randomUUID() : undefined } = options;
    if (idempotencyKey !== undefined && !/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
      throw new TypeError("idempotencyKey must have 1 to 255 printable ASCII characters");
    }
    return {
      method,
      url: base + path + queryText(query),
      headers: {
        accept: "application/json",
        "user-agent": userAgent,
        ...(!isOpen && { authorization: `Bearer ${apiKey}` }),
        ...(body && { "content-type": "application/json" }),
        ...(file && { "content-type": typeOf(file) }),
        ...(isIdempotent && idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      body: file?.content ?? (body && bodyText(body)),
    };
  }
}

function typeOf({ content, type }: { content: Uint8Array; type: string }): string {
  if (!(content instanceof Uint8Array) || !/^[\w.+-]+\/[\w.+-]+$/.test(type)) {
    throw new TypeError("a file must have bytes and a content type such as application/pdf");
  }
  return type;
}

/** Returns our own errors and rethrows others, such as the reason of the caller's signal. */
function asFailure(error: unknown): TollboothError {
  if (error instanceof TollboothError) return error;
  throw error;
}

function failureOf({ status, headers, bytes }: WireAnswer, apiKey: string | undefined): TollboothError {
  let body: unknown;
  try {
    body = parseJson(new TextDecoder().decode(bytes));
  } catch {
    body = undefined; // errorOf reports a missing envelope
  }
  return errorOf(status, headers, body, apiKey);
}
