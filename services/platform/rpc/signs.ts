// Signs of life during a call: HTTP/1.1 has no ping, and a call may rightly take as long as a processor does. So who
// works on a call says so once a second (102 Processing), and a caller that hears nothing for some seconds gives the
// connection up: its other end has vanished. A caller expects signs only where they came lately; a peer of the release
// before, and a proxy that swallows them, are waited for as ever.
import type { IncomingMessage, ServerResponse } from "node:http";

/** Of a request that wants signs; its value says whether the first is wanted at once. */
export const signsHeader = "signs-of-life";

export type SignsWish = "at-once" | "while-working";

const everyMs = 1_000;
// Three signs are missing.
const silenceMsMax = 4_000;
// A process that was held up itself reads what has arrived before it judges.
const catchUpMs = 250;
// So often one call asks for a sign at once, and so long signs are expected after the last one.
const askEveryMs = 20_000;
const expectedForMs = 60_000;

/** Sends signs where they are wanted. @returns what ends them; to be called before the answer begins. */
export function sendSigns(request: IncomingMessage, response: ServerResponse): () => void {
  const wish = request.headers[signsHeader];
  if (wish === undefined) return () => {};
  const send = () => {
    if (!response.headersSent && !response.destroyed) response.writeProcessing();
  };
  if (wish === "at-once") send();
  const timer = setInterval(send, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** What a caller knows of one peer. */
export class SignsOfLife {
  /** Until when signs are expected, and when the next one is asked for; monotonic milliseconds. */
  #expectedUntil = Number.NEGATIVE_INFINITY;
  #askAt = Number.NEGATIVE_INFINITY;

  /** Watches one call. */
  begin(call: Watch): WatchedCall {
    const now = performance.now();
    const wish: SignsWish = now >= this.#askAt ? "at-once" : "while-working";
    if (wish === "at-once") this.#askAt = now + askEveryMs;
    const isExpected = now < this.#expectedUntil;
    return new WatchedCall(call, { wish, isExpected, onEnd: (wasHeard) => this.#learn(wish, wasHeard) });
  }

  #learn(wish: SignsWish, wasHeard: boolean): void {
    if (wasHeard) this.#expectedUntil = performance.now() + expectedForMs;
    else if (wish === "at-once") this.#expectedUntil = Number.NEGATIVE_INFINITY;
  }
}

/** What a call can tell, and is told. */
interface Watch {
  /** True while calls have not been sent for want of a connection, which is no silence of the peer's. */
  readonly isWaiting: () => boolean;
  /** Called when the peer is silent. */
  readonly onSilence: () => void;
}

/** One call, from before it is sent to its answer. */
export class WatchedCall {
  readonly wish: SignsWish;
  readonly #call: Watch;
  readonly #onEnd: (wasHeard: boolean) => void;
  #timer: NodeJS.Timeout | undefined;
  #signs = 0;

  constructor(call: Watch, options: { wish: SignsWish; isExpected: boolean; onEnd: (wasHeard: boolean) => void }) {
    this.#call = call;
    this.wish = options.wish;
    this.#onEnd = options.onEnd;
    if (options.isExpected) this.#wait();
  }

  heard(): void {
    this.#signs += 1;
    this.#timer?.refresh();
  }

  /** @param isAnswered the peer gave its answer, so that a sign that was wanted at once would have come before it */
  end(isAnswered: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (isAnswered || this.#signs > 0) this.#onEnd(this.#signs > 0);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      const before = this.#signs;
      this.#timer = setTimeout(() => {
        if (this.#signs !== before || this.#call.isWaiting()) this.#wait();
        else this.#call.onSilence();
      }, catchUpMs);
    }, silenceMsMax);
  }
}
