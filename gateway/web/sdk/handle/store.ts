// State, session and listeners of a handle, and the polling of its session, so the page shows its state without a
// reload. A listener that throws does not affect others. Only a confirm may report that a payment failed.

import type { ApiAnswer } from "../api.ts";
import type { Events, HandleState, SessionView } from "../contract.ts";
import type { Render } from "../render.ts";

type Listener = (data: never) => void;

export class HandleStore {
  state: HandleState = "idle";
  session: SessionView | null = null;
  render: Render | undefined;
  readonly #listeners = new Map<string, Set<Listener>>();

  /** False after the session or the handle has ended. */
  get isLive(): boolean {
    return !["succeeded", "expired", "canceled", "destroyed"].includes(this.state);
  }

  /** Changes the state and emits it. `destroyed` is final, and a paid session stays paid. */
  move(state: HandleState): void {
    if (this.state === state || this.state === "destroyed") return;
    if (this.state === "succeeded" && state !== "destroyed") return;
    this.state = state;
    this.emit("state", state);
    if (state === "expired") this.emit("expired", {});
  }

  emit<K extends keyof Events>(event: K, data: Events[K]): void {
    for (const listener of [...(this.#listeners.get(event) ?? [])]) {
      try {
        (listener as (data: Events[K]) => void)(data);
      } catch (error) {
        console.error(error);
      }
    }
  }

  on<K extends keyof Events>(event: K, listener: (data: Events[K]) => void): () => void {
    const listeners = this.#listeners.get(event) ?? new Set<Listener>();
    this.#listeners.set(event, listeners.add(listener));
    return () => void listeners.delete(listener);
  }

  silence(): void {
    this.#listeners.clear();
  }
}

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
