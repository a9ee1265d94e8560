// What a client is told, checked once. The key stays here: no message and no printed object shows it.
import process from "node:process";
import { version } from "./gen/contract.ts";

/** Time as the library sees it; a test brings its own and does not wait. */
export interface Clock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Resolves after the time, and rejects when the signal says so. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export interface TollboothOptions {
  /** `sk_test_…` or `sk_live_…`; only onboarding works without one. */
  apiKey?: string | undefined;
  /** Where your Tollbooth is: https, or http on this machine. A path before `/v1` is kept. */
  baseUrl: string;
  /** How often a request is repeated that may be; 2. */
  maxRetries?: number;
  /** Of one try, from its connection to the last byte of its answer; 30,000. */
  timeoutMs?: number;
  /** Of all tries with the pauses between them; 60,000. */
  totalTimeoutMs?: number;
  /** A longer answer is an error; 16 MiB. */
  answerBytesMax?: number;
  /** In place of the platform's: through a proxy, with certificates of your own. */
  fetch?: typeof globalThis.fetch;
  /** Added to the User-Agent: `shop/1.2`. */
  appName?: string;
  clock?: Clock;
  /** From 0 to 1, for the pauses. */
  random?: () => number;
}

export interface Settings {
  readonly apiKey: string | undefined;
  /** Without a slash at its end. */
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
  // A key with a line break would stand, whole, in the platform's own message.
  if (apiKey !== undefined && !/^[\x21-\x7e]{8,200}$/.test(apiKey)) {
    throw new TypeError("apiKey must be a whole API key (sk_test_… or sk_live_…), without spaces or line breaks");
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
  throw new TypeError(`${name} must be a whole number from ${least} to ${most}`);
}

function baseOf(text: string): string {
  // The text itself is not told: somebody may have put a key into it.
  if (typeof text !== "string" || !URL.canParse(text))
    throw new TypeError("baseUrl must be a URL as https://pay.example");
  const url = new URL(text);
  const isHere = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isHere)) {
    throw new TypeError("baseUrl must be https, since the key goes there; http is for this machine only");
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
