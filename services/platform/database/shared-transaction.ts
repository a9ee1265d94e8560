// One transaction for the work of many on an object each: every work says its own statements, and what several say
// together in the same turn is one statement for all. All commit at once, or nothing was done and each is done by
// itself (batch.ts).
import { callContext } from "#platform/values/call-context.ts";
import { isRefused, lockMsMax } from "./batch.ts";
import type { BulkQuery, Tx } from "./sql.ts";

/** Work that can share a transaction. */
export interface SharedWork {
  /** What it is about. */
  readonly object: string;
  readonly work: (tx: Tx) => Promise<unknown>;
}

/** One of several works failed, before anything was committed. */
class WorkFailed extends Error {}

/** How works go together: no two about one object, whose locks do not hold off each other in one transaction. */
export const sharingRules = {
  keyOf: ({ object }: SharedWork) => object,
  isOfOne: (error: unknown) => error instanceof WorkFailed || isRefused(error),
};

/** Runs the works side by side within the transaction. @throws WorkFailed; nothing may be committed then */
export async function shareTransaction(tx: Tx, works: readonly SharedWork[]): Promise<readonly unknown[]> {
  const shared = new SharedTx(tx);
  const brief = tx.rows("select set_config('lock_timeout', $1, true)", [String(lockMsMax)]);
  // To the end of all of them: none may say anything any more when the transaction is rolled back.
  const ends = await Promise.allSettled([...works.map(({ work }) => work(shared)), brief]);
  return ends.slice(0, works.length).map((end) => {
    if (end.status === "rejected") throw new WorkFailed("one of several works failed", { cause: end.reason });
    return end.value;
  });
}

interface WaitingItem {
  readonly item: unknown;
  readonly resolve: (answer: never) => void;
  readonly reject: (error: unknown) => void;
}

class SharedTx implements Tx {
  readonly isOpen = true;
  readonly #tx: Tx;
  /** What this turn says, by the function that says it; in the order of the first. */
  #turn = new Map<BulkQuery<never, unknown>, WaitingItem[]>();

  constructor(tx: Tx) {
    this.#tx = tx;
  }

  rows<Row>(text: string, params?: readonly unknown[]): Promise<Row[]> {
    return this.#tx.rows(text, params);
  }

  together<Item, Answer>(query: BulkQuery<Item, Answer>, item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // After everything that can go on has gone on, and said what it says. Of many calls it is nobody's.
      if (this.#turn.size === 0) callContext.exit(() => process.nextTick(() => this.#flush()));
      const waiting = this.#turn.get(query) ?? [];
      waiting.push({ item, resolve, reject });
      this.#turn.set(query, waiting);
    });
  }

  #flush(): void {
    const turn = this.#turn;
    this.#turn = new Map();
    for (const [query, waiting] of turn) void this.#run(query, waiting);
  }

  async #run(query: BulkQuery<never, unknown>, waiting: readonly WaitingItem[]): Promise<void> {
    try {
      const answers = await query(this.#tx, waiting.map(({ item }) => item) as never[]);
      if (answers.length !== waiting.length) throw new Error(`${waiting.length} items, ${answers.length} answers`);
      waiting.forEach(({ resolve }, i) => void resolve(answers[i] as never));
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
