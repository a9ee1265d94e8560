// A question that many callers have at once is asked once for all of them. Nobody gets an answer to a question that was
// asked before he came: whoever comes while one is under way shares the next, so that what was changed before a call is
// seen by it.
import { callContext } from "#platform/values/call-context.ts";

interface Turn<T> {
  readonly current: Promise<T>;
  /** Begins when the current one has ended. */
  next: Promise<T> | undefined;
}

export class SharedQuestion<T> {
  readonly #turns = new Map<string, Turn<T>>();

  /** @param key what is asked; the same key means the same question. */
  ask(key: string, question: () => Promise<T>): Promise<T> {
    const turn = this.#turns.get(key);
    if (!turn) return this.#begin(key, question);
    // It belongs to nobody's request, so that nobody's deadline ends it for the others.
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
