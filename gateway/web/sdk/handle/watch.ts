// Polls a live session, so the page shows its state without a reload: paid in another tab, settled by a webhook,
// expired. Only a confirm may report that a payment failed; a read proves success or the end, never failure.
import type { ApiAnswer } from "../api.ts";
import type { HandleStore } from "./store.ts";

// Milliseconds between requests; together below the API's 60 reads and 10 confirms a minute.
const whileProcessing = [1_000, 2_000, 3_000]; // the first pauses
const whileProcessingLong = 5_000;
const whilePaying = 4_000;
const whileReady = 30_000;
const betweenConfirms = 8_000;
const patienceMs = 300_000; // then once a minute: a bank transfer may take days
const tiredMs = 60_000;

/**
 * @param signal stops the polling, like the session's end
 * @param read reads the session and applies it
 * @param verify confirms with the processor and applies the result
 */
export function watchSession(
  store: HandleStore,
  signal: AbortSignal,
  read: () => Promise<ApiAnswer<unknown>>,
  verify: () => Promise<void>,
): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  let requestCount = 0;
  let [since, verifiedAt] = [0, 0];

  const plan = (ms: number) => {
    clearTimeout(timer);
    if (store.isLive) timer = setTimeout(() => void ask(), ms);
  };
  const ask = async () => {
    if (isAsking) return;
    isAsking = true;
    const answer = await read();
    store.emit("connection", { online: answer.ok || answer.error.code !== "offline" });
    if (answer.ok && store.state === "processing" && Date.now() - verifiedAt >= betweenConfirms) {
      verifiedAt = Date.now();
      await verify();
    }
    isAsking = false;
    requestCount += 1;
    plan(Math.max(answer.ok ? 0 : answer.retryAfterMs, pause()));
  };
  const wake = () => void (document.visibilityState === "visible" && plan(0));
  const begin = () => {
    requestCount = 0;
    since = Date.now();
    if (store.state === "processing") verifiedAt = since;
    plan(pause());
  };
  store.on("state", begin);
  document.addEventListener("visibilitychange", wake, { signal });
  for (const event of ["online", "pageshow"]) addEventListener(event, wake, { signal });
  begin();

  function pause(): number {
    const { state } = store;
    if (Date.now() - since > patienceMs) return tiredMs;
    if (state === "processing") return whileProcessing[requestCount] ?? whileProcessingLong;
    if (state === "submitting" || state === "action_required") return whilePaying;
    const untilExpiry = Date.parse(store.session?.expiresAt ?? "") - Date.now() + 500;
    return untilExpiry > 0 ? Math.min(whileReady, untilExpiry) : whileReady;
  }
}
