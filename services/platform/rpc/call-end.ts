// What ends a call before its answer: its deadline or its caller. One signal and one timer;
// `AbortSignal.any` of an `AbortSignal.timeout` says the same and costs thirty times as much.

type CallEndCause = "late" | "canceled";

export class CallEnd {
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #cause: CallEndCause | undefined;

  /** @param timeoutMs of its deadline; undefined: it has none */
  constructor(caller: AbortSignal | undefined, timeoutMs: number | undefined) {
    this.#caller = caller;
    if (timeoutMs !== undefined) this.#timer = setTimeout(() => this.#end("late"), timeoutMs);
    if (caller?.aborted) this.#endByCaller();
    else caller?.addEventListener("abort", this.#endByCaller);
  }

  /** Aborted when the call ends. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** What came first; undefined: it goes on. */
  get cause(): CallEndCause | undefined {
    return this.#cause;
  }

  #end(cause: CallEndCause): void {
    this.#cause ??= cause;
    this.#controller.abort();
  }

  /** What the work gives, unless the call ends first; the work goes on. @throws the signal's reason */
  until<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const onEnd = () => reject(signal.reason);
      if (signal.aborted) onEnd();
      else signal.addEventListener("abort", onEnd);
      work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onEnd));
    });
  }

  /** The call is over: nothing can end it any more. */
  release(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#endByCaller);
  }

  /** A caller's own deadline is one, too. */
  readonly #endByCaller = (): void => {
    const reason: unknown = this.#caller?.reason;
    this.#end(reason instanceof DOMException && reason.name === "TimeoutError" ? "late" : "canceled");
  };
}
