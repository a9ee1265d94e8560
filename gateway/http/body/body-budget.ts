// Limits the bytes of request bodies in flight, per sender and in total. A body reserves its bytes before the first is
// read, so open sockets cannot fill the memory of the process.

/** Sizes in bytes. */
export interface BudgetSize {
  readonly total: number;
  readonly perSender: number;
  /** Minimum per body: sockets and requests cost memory too, so this bounds their number. */
  readonly leastPerBody: number;
}

export class BodyBudget {
  readonly #size: BudgetSize;
  readonly #bySender = new Map<string, number>();
  #usedBytes = 0;

  constructor(size: BudgetSize) {
    this.#size = size;
  }

  /** @returns releases the bytes, idempotent; undefined if the budget is used up */
  take(sender: string, bodyBytes: number): (() => void) | undefined {
    const bytes = Math.max(bodyBytes, this.#size.leastPerBody);
    const own = (this.#bySender.get(sender) ?? 0) + bytes;
    if (own > this.#size.perSender || this.#usedBytes + bytes > this.#size.total) return undefined;
    this.#bySender.set(sender, own);
    this.#usedBytes += bytes;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#release(sender, bytes);
    };
  }

  #release(sender: string, bytes: number): void {
    this.#usedBytes -= bytes;
    const left = (this.#bySender.get(sender) ?? 0) - bytes;
    if (left > 0) this.#bySender.set(sender, left);
    else this.#bySender.delete(sender);
  }
}
