// Checks a client's options once. No message and no printed object contains the key.
import process from "node:process";
import { version } from "./gen/contract.ts";

/** Replaceable in tests. */
export interface Clock {
  /** Monotonic milliseconds. */
  now(): number;
  /** Resolves after the time, or rejects when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface TollboothOptions {
  /** `sk_test_…` or `sk_live_…`; only onboarding works without a key. */
  apiKey?: string | undefined;
  /** URL of your Tollbooth: https, or http on localhost. A path before `/v1` is kept. */
  baseUrl: string;
  /** Maximum number of retries; default 2. */
  maxRetries?: number;
  /** Limit of one attempt, from connecting to the last byte of the response; default 30,000. */
  timeoutMs?: number;
  /** Limit of all attempts and pauses; default 60,000. */
  totalTimeoutMs?: number;
  /** Limit of a response; default 16 MiB. */
  answerBytesMax?: number;
  /** Replaces the platform's fetch, for a proxy or your own certificates. */
  fetch?: typeof globalThis.fetch;
  /** Added to the User-Agent: `shop/1.2`. */
  appName?: string;
  clock?: Clock;
  /** From 0 to 1, for the jitter of pauses. */
  random?: () => number;
}

export interface Settings {
  readonly apiKey: string | undefined;
  /** Without a trailing slash. */
  readonly base: string;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly totalTimeoutMs: number;
  readonly answerBytesMax: number;
  readonly fetch: typeof globalThis.fetch;
  readonly userAgent: string;
  readonly clock: Clock;
  readonly random: () => number;
}

export function settingsOf(options: TollboothOptions): Settings {
  const { apiKey, appName = "", maxRetries = 2, timeoutMs = 30_000, totalTimeoutMs = 60_000 } = options;
  const { answerBytesMax = 16 * 1024 * 1024 } = options;
  // The platform's own error message would contain a key with a line break.
  if (apiKey !== undefined && !/^[\x21-\x7e]{8,200}$/.test(apiKey)) {
    throw new TypeError("apiKey must be a complete API key (sk_test_… or sk_live_…), without spaces or line breaks");
  }
  if (!/^[\x20-\x7e]{0,100}$/.test(appName)) throw new TypeError("appName must be at most 100 ASCII characters");
  checkNumber("maxRetries", maxRetries, 0, 10);
  checkNumber("timeoutMs", timeoutMs, 1, 600_000);
  checkNumber("totalTimeoutMs", totalTimeoutMs, 1, 3_600_000);
  checkNumber("answerBytesMax", answerBytesMax, 1_024, 1024 * 1024 * 1024);
  return {
    apiKey,
    base: baseOf(options.baseUrl),
    maxRetries,
    timeoutMs,
    totalTimeoutMs,
    answerBytesMax,
    fetch: options.fetch ?? globalThis.fetch,
    userAgent: `tollbooth-node/${version} node/${process.versions.node}${appName === "" ? "" : ` ${appName}`}`,
    clock: options.clock ?? machineClock,
    random: options.random ?? Math.random,
  };
}

export function checkNumber(name: string, value: number, least: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new TypeError(`${name} must be an integer from ${least} to ${most}`);
}

function baseOf(text: string): string {
  // The message omits the text, which may contain a key.
  if (typeof text !== "string" || !URL.canParse(text))
    throw new TypeError("baseUrl must be a URL such as https://pay.example");
  const url = new URL(text);
  const isLocal = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) {
    throw new TypeError("baseUrl must be https to protect the key; http is allowed for localhost only");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw new TypeError("baseUrl must have no user, password, query or fragment");
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

const machineClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      const ended = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", ended);
        resolve();
      }, ms);
      if (signal?.aborted) ended();
      else signal?.addEventListener("abort", ended, { once: true });
    }),
};
