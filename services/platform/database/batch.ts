// What many ask of the database at the same moment goes together: what comes while one statement is under way waits for
// the next, and goes with all that wait. A statement costs several times what one more row in it does
// (docs/performance.md), so this gives most under load, and alone nobody waits.
import { callContext } from "#platform/values/call-context.ts";

/**
 * Does all of them and commits, or nothing.
 * @returns an answer for each, in their order
 */
type BatchWork<Item, Answer> = (items: readonly Item[]) => Promise<readonly Answer[]>;

interface WaitingItem<Item, Answer> {
  readonly item: Item;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

// The gain of more is small, and each waits for all.
const itemsMax = 50;
// A statement takes a few milliseconds. Behind one that waits for a lock the others wait no longer than this.
const patienceMs = 25;

/**
 * How long what many say together waits for a lock, milliseconds: what waits longer is said by each alone, and waits
 * as long as it must. Far more than a transaction takes, and less than anybody notices.
 */
export const lockMsMax = 250;

export class Batch<Item, Answer> {
  readonly #doAll: BatchWork<Item, Answer>;
  #waiting: WaitingItem<Item, Answer>[] = [];
  /** Whom the next one waits for. */
  #underWay: NodeJS.Timeout | undefined;

  constructor(doAll: BatchWork<Item, Answer>) {
    this.#doAll = doAll;
  }

  /** @throws what this item by itself throws; of what was not surely refused it is unknown whether it was done. */
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

  /** The next one, unless it went before. */
  #go(turn: NodeJS.Timeout): void {
    if (this.#underWay !== turn) return;
    this.#underWay = undefined;
    // Of many requests it is nobody's: no trace of one of them is that of the others.
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
 * The server refused the statement for what one item says or waits for, and so did nothing of it. SQLSTATE classes 22
 * (data), 23 (a rule), 40 (rolled back), P0 (raised by a function); 55P03 (a lock that did not come in time).
 */
export function isRefused(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^(?:(?:22|23|40|P0)...|55P03)$/.test(String(error.code));
}

/**
 * Items of a statement that looks rows up by a key, for `jsonb_to_recordset($1) as r (each integer, …) where each = 1`.
 * By an equality the planner expects one row and looks each up by the index; of a record set alone it expects a
 * hundred, and reads a young table whole.
 */
export function byKey<Row extends object>(rows: readonly Row[], key: keyof Row): string {
  return asJson(inOrder(rows, key).map((row) => ({ each: 1, ...row })));
}

/** What reads many by their ids selects from it; `given.id`. Its parameter is `idsByKey`. */
export const inputIds = "(select id from jsonb_to_recordset($1) as g (each integer, id text) where each = 1) as given";

export function idsByKey(ids: readonly string[]): string {
  return byKey(
    [...new Set(ids)].map((id) => ({ id })),
    "id",
  );
}

/** In the order of what the rows are locked by, so that no two statements wait for each other. */
export function inOrder<Row extends object>(rows: readonly Row[], key: keyof Row): readonly Row[] {
  return rows.toSorted((one, other) => Number(one[key] > other[key]) - Number(one[key] < other[key]));
}

/** JSON that PostgreSQL takes. Half a surrogate pair, which it refuses, is U+FFFD, as in a parameter that is text. */
export function asJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes("\\ud")) return text;
  return text.replace(/\\(?:(ud[89a-f][0-9a-f]{2})|.)/g, (whole, half) => (half ? "\ufffd" : whole));
}
