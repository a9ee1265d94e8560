// Coalesces identical requests. A call never shares a request that started earlier: calls during a request share the
// next one, so each sees changes made before it.
import { callContext } from "#platform/values/call-context.ts";

interface Turn<T> {
  readonly current: Promise<T>;
  /** Starts after the current one. */
  next: Promise<T> | undefined;
}

export class RequestCoalescer<T> {
  readonly #turns = new Map<string, Turn<T>>();

  /** @param key identifies the request */
  ask(key: string, question: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(key);
    if (!turn) return this.#begin(key, question);
    // Outside any request's context, whose deadline would end it for the others.
    const next = () => callContext.exit(() => this.#begin(key, question));
    turn.next ??= turn.current.then(next, next);
    return turn.next;
  }

  async #begin(key: string, question: () => Promise<T>): Promise<T> {
    const turn: Turn<T> = { current: question(), next: undefined };
    this.#turns.set(key, turn);
    try {
      return await turn.current;
    } finally {
      if (this.#turns.get(key) === turn && !turn.next) this.#turns.delete(key);
    }
  }
}
