// What SQL is said to: a database or a transaction, and what goes together with what others say.

/** Anything SQL can be said to: the database itself (one statement, committed at once) or a transaction. */
export interface Sql {
  /** Rows of one statement with `$1…` parameters. int8 and timestamps come as text (see `time` and BigInt). */
  rows<Row>(text: string, params?: readonly unknown[]): Promise<Row[]>;
}

/** The same, where what many say at the same moment goes together: the database, or a transaction. */
export interface GroupedSql extends Sql {
  /**
   * One item of a statement for many: said together with what others give to the same function at the same moment.
   * @throws what the statement with this item alone throws; what others are refused for is not met.
   */
  together<Item, Answer>(query: BulkQuery<Item, Answer>, item: Item): Promise<Answer>;
}

/**
 * One statement about several items. A function of a module, since it also names what goes together.
 * @returns an answer for each, in their order
 */
export type BulkQuery<Item, Answer> = (sql: Sql, items: readonly Item[]) => Promise<readonly Answer[]>;

/** An open transaction. */
export interface Tx extends GroupedSql {
  /** So that the database itself is no transaction. */
  readonly isOpen: true;
}

/** A transaction of one work. */
export function openTx(rows: Tx["rows"]): Tx {
  const tx: Tx = { isOpen: true, rows, together: (query, item) => runSingle(tx, query, item) };
  return tx;
}

/** Where there is nobody to go together with. */
export async function runSingle<Item, Answer>(sql: Sql, query: BulkQuery<Item, Answer>, item: Item): Promise<Answer> {
  const [answer] = await query(sql, [item]);
  return answer as Answer;
}
