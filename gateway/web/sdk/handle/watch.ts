// Asks how the session stands while it lives, so that a page shows what is true without a reload: paid in another tab,
// settled by the processor's webhook, expired. Only a confirm, for which the service asks the processor, may say that a
// payment under way came to nothing; reading the session proves success and the end, never failure.
import type { ApiAnswer } from "../api.ts";
import type { HandleState } from "../contract.ts";
import type { HandleStore } from "./store.ts";

// Milliseconds between questions. Together they stay under the API's 60 reads and 10 confirms a minute.
const whileProcessing = [1_000, 2_000, 3_000, 5_000];
const whilePaying = 4_000;
const whileReady = 30_000;
const betweenConfirms = 8_000;
const patienceMs = 300_000; // then a minute between questions: a bank transfer may take days
const tiredMs = 60_000;

export interface Watch {
  /** Asks at once, then in the rhythm of the state. */
  restart(): void;
  stop(): void;
}

/**
 * @param read asks for the session and applies it
 * @param verify asks the service to ask the processor, and applies it
 */
export function watchSession(
  store: HandleStore,
  read: () => Promise<ApiAnswer<unknown>>,
  verify: () => Promise<void>,
): Watch {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let asked = 0;
  let since = Date.now();
  let verifiedAt = Date.now();
  let isStopped = false;

  const plan = (ms: number) => {
    clearTimeout(timer);
    if (!isStopped && store.isLive) timer = setTimeout(() => void ask(), ms);
  };
  const ask = async () => {
    if (isAsking || isStopped) return;
    isAsking = true;
    const answer = await read();
    if (!isStopped) store.tell("connection", { online: answer.ok || answer.error.code !== "offline" });
    if (answer.ok && store.state === "processing" && Date.now() - verifiedAt >= betweenConfirms) {
      verifiedAt = Date.now();
      await verify();
    }
    isAsking = false;
    asked += 1;
    plan(Math.max(answer.ok ? 0 : answer.retryAfterMs, pause(store.state, asked, Date.now() - since)));
  };
  const restart = () => {
    asked = 0;
    since = Date.now();
    plan(0);
  };
  const wake = () => void (document.visibilityState === "visible" && plan(0));
  const offState = store.on("state", (state) => {
    asked = 0;
    since = Date.now();
    if (state === "processing") verifiedAt = Date.now();
    plan(pause(state, 0, 0));
  });
  document.addEventListener("visibilitychange", wake);
  addEventListener("online", wake);
  addEventListener("pageshow", wake);
  plan(untilExpiry(store, pause(store.state, 0, 0)));
  return {
    restart,
    stop() {
      isStopped = true;
      clearTimeout(timer);
      offState();
      document.removeEventListener("visibilitychange", wake);
      removeEventListener("online", wake);
      removeEventListener("pageshow", wake);
    },
  };

  function pause(state: HandleState, count: number, waitedMs: number): number {
    if (waitedMs > patienceMs) return tiredMs;
    if (state === "processing") return whileProcessing[Math.min(count, whileProcessing.length - 1)] ?? whilePaying;
    if (state === "submitting" || state === "action_required") return whilePaying;
    return untilExpiry(store, whileReady);
  }
}

/** The pause, shortened so that an expiry is seen when it happens. */
function untilExpiry(store: HandleStore, ms: number): number {
  const left = Date.parse(store.session?.expiresAt ?? "") - Date.now() + 500;
  return left > 0 ? Math.min(ms, left) : ms;
}
