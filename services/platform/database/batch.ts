// Groups queries that arrive at the same moment: items that arrive during one statement wait and share the next. A
// statement costs several times as much as another row in it (docs/performance.md). A single item never waits.
import { callContext } from "#platform/values/call-context.ts";
import { errorCode } from "#platform/values/unchecked.ts";

/** Commits all items or none. @returns an answer for each item, in order */
type BatchWork<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

interface WaitingItem<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

// Larger batches gain little, and each item waits for all.
const itemsMax = 50;
// A statement takes a few milliseconds. Behind a statement that waits for a lock, other items wait only this long.
const patienceMs = 25;

/**
 * Lock timeout of a shared statement, milliseconds. After it each item runs alone and waits for its lock. Far longer
 * than a transaction, and too short to notice.
 */
export const lockMsMax = 250;

export class Batch<Item, Answer> {
  readonly #doAll: BatchWork<Item, Answer>;
  #waiting: WaitingItem<Item, Answer>[] = [];
  /** Timer of the current batch; the next batch waits for it. */
  #underWay: NodeJS.Timeout | undefined;

  constructor(doAll: BatchWork<Item, Answer>) {
    this.#doAll = doAll;
  }

  /** @throws the error of this item alone; after errors other than a refusal the outcome is unknown */
  add(item: Item): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (this.#underWay === undefined) this.#begin();
    });
  }

  #begin(): void {
    if (this.#waiting.length === 0) return;
    const batch = this.#waiting.splice(0, itemsMax);
    const turn = setTimeout(() => this.#go(turn), patienceMs);
    this.#underWay = turn;
    void this.#run(batch).finally(() => {
      clearTimeout(turn);
      this.#go(turn);
    });
  }

  /** Starts the next batch, unless it has started already. */
  #go(turn: NodeJS.Timeout): void {
    if (this.#underWay !== turn) return;
    this.#underWay = undefined;
    // A shared statement belongs to no single request's trace.
    callContext.exit(() => this.#begin());
  }

  async #run(batch: readonly WaitingItem<Item, Answer>[]): Promise<void> {
    try {
      const answers = await this.#doAll(batch.map(({ item }) => item));
      if (answers.length !== batch.length) throw new Error(`${batch.length} items, ${answers.length} answers`);
      batch.forEach(({ resolve }, i) => void resolve(answers[i] as Answer));
    } catch (error) {
      if (batch.length > 1 && isRefused(error)) await Promise.all(batch.map((each) => this.#run([each])));
      else for (const { reject } of batch) reject(error);
    }
  }
}

/**
 * The server refused the statement because of one item and changed nothing. SQLSTATE classes 22 (data), 23
 * (constraint), 40 (rolled back), P0 (raised by a function), and 55P03 (lock timeout).
 */
function isRefused(error: unknown): boolean {
  return /^(?:(?:22|23|40|P0)...|55P03)$/.test(errorCode(error));
}

/**
 * Rows for a lookup by key: `jsonb_to_recordset($1) as r (each integer, …) where each = 1`. With the equality the
 * planner expects one row and uses the index; otherwise it expects a hundred and scans a small table.
 */
export function byKey<Row extends object>(rows: readonly Row[], key: keyof Row): string {
  return asJson(inOrder(rows, key).map((row) => ({ each: 1, ...row })));
}

/** FROM item of a query that reads many ids, as `given.id`. Its parameter is `idsByKey`. */
export const inputIds = "(select id from jsonb_to_recordset($1) as g (each integer, id text) where each = 1) as given";

export function idsByKey(ids: readonly string[]): string {
  return byKey(
    [...new Set(ids)].map((id) => ({ id })),
    "id",
  );
}

/** Sorted by the lock key, so two statements cannot deadlock. */
export function inOrder<Row extends object>(rows: readonly Row[], key: keyof Row): readonly Row[] {
  return rows.toSorted((one, other) => Number(one[key] > other[key]) - Number(one[key] < other[key]));
}

/** JSON for PostgreSQL. It rejects half a surrogate pair, which becomes U+FFFD as in a text parameter. */
export function asJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud")) return text;
  return text.replace(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/g, (whole, half) => (half ? "\ufffd" : whole));
}
