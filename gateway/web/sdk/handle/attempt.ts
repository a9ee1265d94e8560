// One attempt to pay: 1 read the session again, since another tab may have paid it · 2 the processor's fields send the
// card · 3 the service asks the processor. An unknown outcome is polled, never guessed.
import type { ApiAnswer, Verdict } from "../api.ts";
import type { ConfirmResult } from "../contract.ts";
import type { Fail } from "../failure.ts";
import { runningSession } from "../session.ts";
import type { SurfaceResult } from "../surfaces/surface.ts";
import type { HandleStore } from "./store.ts";

const silenceMs = 90_000; // longer than a form's own timeout
const verdictMs = 20_000; // `confirm` then returns `processing`
const repeatMs = 4_000; // poll interval within that time
const doubtsMax = 3; // verdicts "open" after the fields reported success, before the service is trusted

export interface AttemptParts {
  readonly store: HandleStore;
  /** Asks the service, which asks the processor. */
  readonly ask: () => Promise<ApiAnswer<Verdict>>;
  readonly fail: Fail;
  readonly refresh: () => Promise<ConfirmResult | undefined>;
  readonly succeed: (verdict: Pick<Verdict, "paymentId" | "paymentStatus">) => void;
  /** Replaces the fields before another attempt. */
  readonly renew: () => void;
}

/** Runs the attempts of one handle, one at a time. */
export class Attempts {
  readonly #parts: AttemptParts;
  #running: Promise<ConfirmResult> | undefined;
  #listener: ((result: SurfaceResult) => void) | undefined;
  #early: SurfaceResult | undefined;
  /** The fields' last result of the attempt that is being verified. */
  #lastResult: SurfaceResult = { status: "unknown" };
  #doubts = 0;

  constructor(parts: AttemptParts) {
    this.#parts = parts;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Single-flight: a second call returns the running attempt. */
  start(submit: () => void): Promise<ConfirmResult> {
    this.#running ??= this.#pay(submit).finally(() => (this.#running = undefined));
    return this.#running;
  }

  /** Handles a result of the fields: of the running attempt, or of one that they found in progress. */
  report(result: SurfaceResult): void {
    if (this.#listener) this.#listener(result);
    else if (this.isRunning) this.#early = result;
    else if (result.status !== "incomplete")
      this.#running = this.#follow(result).finally(() => (this.#running = undefined));
  }

  /** Asks the service again about an attempt with an unknown outcome. */
  async verify(): Promise<void> {
    if (!this.#running) await this.#ask();
  }

  async #pay(submit: () => void): Promise<ConfirmResult> {
    const { store } = this.#parts;
    this.#early = undefined;
    store.move("submitting");
    const over = await this.#parts.refresh();
    if (over) return over;
    // Fields that were removed meanwhile have already reported it.
    if (!this.#early) submit();
    return await this.#follow(await this.#next());
  }

  async #follow(first: SurfaceResult): Promise<ConfirmResult> {
    const { store } = this.#parts;
    let result = first;
    while (result.status === "requires_action") {
      store.move("action_required");
      store.emit("action_required", { kind: "challenge" });
      result = await this.#next();
    }
    const end = endedResult(this.#parts);
    if (end) return end;
    if (result.status === "incomplete") {
      store.move("ready");
      return { type: "error", error: this.#parts.fail("incomplete") };
    }
    if (result.status === "redirecting") {
      store.emit("action_required", { kind: "redirect" });
      location.assign(result.url);
      return { type: "redirecting", url: result.url };
    }
    this.#lastResult = result;
    this.#doubts = 0;
    if (store.state === "action_required") store.move("submitting");
    return (await this.#ask()) ?? (await this.#outcome());
  }

  /** The fields' next result; `unknown` after a timeout, or if the session ended. */
  #next(): Promise<SurfaceResult> {
    const { store } = this.#parts;
    const early = this.#early;
    this.#early = undefined;
    if (early) return Promise.resolve(early);
    return new Promise((resolve) => {
      // The bank's challenge may take as long as the session.
      const isAsking = store.state === "action_required";
      const timer = isAsking ? undefined : setTimeout(() => done({ status: "unknown" }), silenceMs);
      const offState = store.on("state", () => store.isLive || done({ status: "unknown" }));
      const done = (result: SurfaceResult) => {
        clearTimeout(timer);
        offState();
        this.#listener = undefined;
        resolve(result);
      };
      this.#listener = done;
    });
  }

  /** Asks the service once. Undefined: still unknown, the state is `processing`. */
  async #ask(): Promise<ConfirmResult | undefined> {
    const { store, ask } = this.#parts;
    const answer = await ask();
    const end = endedResult(this.#parts);
    if (end) return end;
    if (answer.ok) return await this.#judge(answer.value);
    if (answer.error.code === "session_expired" || answer.error.code === "invalid_secret") {
      const over = await this.#parts.refresh();
      if (over) return over;
    }
    // The fields reported a decline, which is enough to let the buyer try another card.
    if (this.#lastResult.status === "failed") return this.#declined(this.#lastResult.code);
    store.move("processing");
    return undefined;
  }

  async #judge(verdict: Verdict): Promise<ConfirmResult | undefined> {
    const { store, fail } = this.#parts;
    if (verdict.status === "completed") {
      // Reads the session for its receipt; if this fails, the verdict is enough.
      await this.#parts.refresh();
      this.#parts.succeed(verdict);
      return endedResult(this.#parts);
    }
    if (verdict.status === "processing") {
      store.move("processing");
      return undefined;
    }
    const outcome = this.#lastResult;
    // Until that report, what the service knows is older.
    if (outcome.status === "accepted") {
      store.move("processing");
      return undefined;
    }
    const { code, advice } = verdict.failure;
    const declineCode = typeof code === "string" ? code : outcome.status === "failed" ? outcome.code : "declined";
    const isFailed = verdict.paymentStatus === "failed" && outcome.status !== "succeeded";
    if (outcome.status === "failed" || isFailed) {
      // Mounts the other processor's fields.
      if (verdict.isReplaced) await this.#parts.refresh();
      return this.#declined(declineCode, advice, verdict.isReplaced);
    }
    // The fields reported success but the processor does not show it yet: ask again.
    if ((outcome.status === "succeeded" || outcome.status === "processing") && ++this.#doubts < doubtsMax) {
      store.move("processing");
      return undefined;
    }
    if (outcome.status === "unknown" && outcome.canRetry) store.move("ready");
    else this.#parts.renew();
    const error = fail("connector_error");
    store.emit("error", error);
    return { type: "error", error };
  }

  #declined(declineCode: string, advice?: unknown, isReplaced = false): ConfirmResult {
    const { store, fail } = this.#parts;
    const wasWaiting = store.state === "processing";
    const replaced = isReplaced && ({ fieldsReplaced: true } as const);
    const error = fail("declined", { declineCode, ...(typeof advice === "string" && { advice }), ...replaced });
    // After a wait the fields show their own result, so they are replaced.
    if (wasWaiting) this.#parts.renew();
    else if (store.state !== "loading") store.move("ready");
    store.emit("declined", error);
    return { type: "declined", error };
  }

  /** Polls for the outcome for a limited time. */
  #outcome(): Promise<ConfirmResult> {
    const { store } = this.#parts;
    return new Promise((resolve) => {
      let isAsking = false;
      const timer = setTimeout(() => end(), verdictMs);
      const repeat = setInterval(() => {
        if (isAsking) return;
        isAsking = true;
        void this.#ask().then((result) => {
          isAsking = false;
          if (result) end(result);
        });
      }, repeatMs);
      const offState = store.on("state", () => store.isLive || end(endedResult(this.#parts)));
      const end = (result?: ConfirmResult) => {
        clearTimeout(timer);
        clearInterval(repeat);
        offState();
        const session = runningSession(store.session);
        const unknown: ConfirmResult = session
          ? { type: "processing", session }
          : { type: "error", error: this.#parts.fail("server_error") };
        resolve(result ?? unknown);
      };
    });
  }
}

/** Result of an ended session; undefined while it is live. */
export function endedResult({ store, fail }: Pick<AttemptParts, "store" | "fail">): ConfirmResult | undefined {
  switch (store.state) {
    case "succeeded": {
      const { id = "", status = "succeeded" } = store.session?.payment ?? {};
      return { type: "succeeded", paymentId: id, paymentStatus: status };
    }
    case "expired":
      return { type: "error", error: fail("session_expired") };
    case "canceled":
      return { type: "canceled" };
    case "destroyed":
      return { type: "error", error: fail("destroyed") };
    default:
      return undefined;
  }
}
