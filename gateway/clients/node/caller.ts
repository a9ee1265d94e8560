// Sends operations: gives each its headers and, where it honours one, its idempotency key, which stays the same in
// every try; tries again where that is invited; and makes objects or errors of what comes back.
import { randomUUID } from "node:crypto";
import { keepFacts, parseAnswer } from "./answer.ts";
import { tryOnce, type WireAnswer, type WireRequest } from "./attempt.ts";
import { errorOf, TollboothError, UnexpectedAnswerError } from "./errors.ts";
import { parseJson } from "./json.ts";
import { membersOf } from "./members.ts";
import { List, nextQuery, Page, type Paging } from "./page.ts";
import { bodyText, queryText } from "./path.ts";
import { pauseBefore } from "./retry.ts";
import { checkNumber, type Settings } from "./settings.ts";

/** What a single call may choose. */
export interface RequestOptions {
  /** In place of the client's own. */
  timeoutMs?: number;
  maxRetries?: number;
  /** Ends the call; it then throws the signal's reason. */
  signal?: AbortSignal;
}

/** Of an operation that is done once for each key. */
export interface IdempotentOptions extends RequestOptions {
  /** 1 to 255 printable ASCII characters; your order's number is a good one. Without one a random key is made. */
  idempotencyKey?: string;
}

/** An operation that is to be sent. */
export interface OperationCall {
  readonly method: string;
  readonly path: string;
  readonly query?: object;
  readonly body?: object;
  /** The body itself, in place of JSON. */
  readonly file?: { readonly content: Uint8Array; readonly type: string };
  /** It honours an idempotency key. */
  readonly isIdempotent?: true;
  /** It takes no API key. */
  readonly isOpen?: true;
  /** The answer is a file. */
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

  /** The operation's answer, which is taken to be what the contract says. */
  async send<T>(call: OperationCall, options: IdempotentOptions = {}): Promise<T> {
    const { status, headers, bytes } = await this.#answer(call, options);
    const isRaw = call.isBytes || status === 204;
    const result: unknown = isRaw ? (status === 204 ? undefined : bytes) : parseAnswer(bytes, status, headers);
    if (typeof result === "object" && result !== null) keepFacts(result, status, headers);
    // The contract's word: every answer of the service is tested against the document that T is made of.
    return result as T;
  }

  list<T>({ paging, query, ...call }: ListCall, options: RequestOptions = {}): List<T> {
    return new List(async () => {
      const { status, headers, bytes } = await this.#answer({ ...call, ...(query && { query }) }, options);
      const body = membersOf(parseAnswer(bytes, status, headers));
      if (!Array.isArray(body.data)) {
        throw new UnexpectedAnswerError("the answer is no list", { code: "unexpected_answer", status });
      }
      const next = nextQuery(membersOf(query), body, paging);
      const total = typeof body.total === "number" ? body.total : undefined;
      const page = new Page<T>(body.data, total, next && this.list({ ...call, query: next, paging }, options));
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
    // At most maxRetries rounds: pauseBefore says no at the latest then.
    for (let attempts = 1; ; attempts++) {
      const leftMs = Math.max(1, endsAt - clock.now());
      const answer = await tryOnce(this.#settings, request, Math.min(timeoutMs, leftMs), signal).catch(asFailure);
      if (!(answer instanceof TollboothError) && answer.status < 300) return answer;
      const error = answer instanceof TollboothError ? answer : failureOf(answer, this.#settings.apiKey);
      error.attempts = attempts;
      const standing = { attempts, maxRetries, isRepeatable, leftMs: endsAt - clock.now(), random: random() };
      const pause = pauseBefore(error, standing);
      if (pause === undefined) throw error;
      await clock.sleep(pause, signal);
    }
  }

  #request(
    { method, path, query, body, file, isIdempotent, isOpen }: OperationCall,
    options: IdempotentOptions,
  ): WireRequest {
    const { apiKey, base, userAgent } = this.#settings;
    if (!isOpen && apiKey === undefined) throw new TypeError("this operation needs a client with an apiKey");
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

/** @throws TypeError for what is no file */
function typeOf({ content, type }: { content: Uint8Array; type: string }): string {
  if (!(content instanceof Uint8Array) || !/^[\w.+-]+\/[\w.+-]+$/.test(type)) {
    throw new TypeError("a file is its bytes, and its content type as application/pdf");
  }
  return type;
}

/** Errors of ours are looked at; whatever else was thrown, such as the caller's own reason, goes on. */
function asFailure(error: unknown): TollboothError {
  if (error instanceof TollboothError) return error;
  throw error;
}

function failureOf({ status, headers, bytes }: WireAnswer, apiKey: string | undefined): TollboothError {
  let body: unknown;
  try {
    body = parseJson(new TextDecoder().decode(bytes));
  } catch {
    body = undefined; // no envelope: errorOf says so
  }
  return errorOf(status, headers, body, apiKey);
}
