// One service's PostgreSQL database: statements, transactions and snapshots on one pool. A service that maps entities
// opens mapped-database.ts instead.
import type pg from "pg";
import { inSpan, isTracing, type SpanOptions } from "#platform/telemetry/trace.ts";
import { Batch, lockMsMax } from "./batch.ts";
import { openPool, type PoolOptions } from "./pool.ts";
import { WriteWatch, whenRefused } from "./takes-writes.ts";

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

// Of assert_known_server (schema/0010-known-server.sql).
const unknownServer = "57TB1";

export class Database implements GroupedSql {
  readonly #pool: pg.Pool;
  readonly #writes: WriteWatch;
  readonly #batches = new Map<unknown, Batch<never, unknown>>();

  /** What is called when a statement is refused because the server is another one than the fence vouches for. */
  onUnknownServer: () => void = () => {};

  protected constructor(pool: pg.Pool) {
    this.#pool = pool;
    whenRefused(pool, unknownServer, () => this.onUnknownServer());
    this.#writes = new WriteWatch(pool);
  }

  /** Opens the pool; connections are made when needed, so this succeeds while the server is away. */
  static async open(options: PoolOptions): Promise<Database> {
    return new Database(openPool(options));
  }

  async rows<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    return await rowsOn(this.#pool, text, params);
  }

  async together<Item, Answer>(query: BulkQuery<Item, Answer>, item: Item): Promise<Answer> {
    const known = this.#batches.get(query) as Batch<Item, Answer> | undefined;
    const batch = known ?? new Batch<Item, Answer>((items) => query(items.length === 1 ? this : this.#brief, items));
    if (!known) this.#batches.set(query, batch as unknown as Batch<never, unknown>);
    return await batch.add(item);
  }

  /** For its counts only. */
  get pool(): pg.Pool {
    return this.#pool;
  }

  /**
   * Runs the work in one transaction (read committed) and commits; any throw rolls everything back. Statements of the
   * work that need no answer of each other can be said at once: they are sent together and done in their order.
   */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    const open = new OpenTransaction(client);
    try {
      return await open.commit(await work(openTx(open.rows)));
    } catch (error) {
      await open.rollBack(error);
      throw error;
    } finally {
      client.release(open.isBroken);
    }
  }

  /** What it says for many waits for a lock only so long. */
  readonly #brief: Sql = {
    rows: async <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> => {
      if (onlyReads.test(text)) return await this.rows(text, params);
      const client = await this.#pool.connect();
      let isBroken = true;
      try {
        // It travels with the statement.
        client.query(`set lock_timeout = ${lockMsMax}`).catch(() => {});
        const rows = await rowsOn<Row>(client, text, params);
        await client.query("reset lock_timeout");
        isBroken = false;
        return rows;
      } finally {
        client.release(isBroken);
      }
    },
  };

  /**
   * Runs reads that must agree with each other on one snapshot, each planned for its own values: for lists, whose best
   * way depends on what is asked.
   */
  async snapshot<T>(read: (sql: Sql) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      await client.query(
        "begin isolation level repeatable read, read only; set local plan_cache_mode = force_custom_plan",
      );
      return await read({ rows: (text, params = []) => rowsOn(client, text, params) });
    } finally {
      // Nothing was written; when this fails, the connection is broken and the pool must not keep it.
      const ended = client.query("commit").then(
        () => false,
        () => true,
      );
      client.release(await ended);
    }
  }

  /** False while it answers and takes nothing that is written. @throws when it does not answer. */
  async takesWrites(): Promise<boolean> {
    return await this.#writes.takesWrites();
  }

  /** Throws when the database does not answer. */
  async ping(): Promise<void> {
    await this.rows("select 1");
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

// A lock or another read. What calls a function of ours alone may write.
const onlyReads = /^\s*select\b.*\bfrom\b/is;
// What a statement answers has changed since it was prepared; the connection would say so for good.
const preparedBefore = "0A000";

/** What is said between `begin` and the end, on one connection. */
class OpenTransaction {
  readonly #client: pg.PoolClient;
  readonly #begun: Promise<unknown>;
  #isWriting = false;
  #isOver = false;
  /** Nobody may have the connection any more. */
  isBroken = false;

  constructor(client: pg.PoolClient) {
    this.#client = client;
    this.#begun = client.query("begin");
    this.#begun.catch(() => {});
  }

  /** `begin` travels with what only reads first; what writes, and all after it, wait until it is sure to be in it. */
  readonly rows = async <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> => {
    this.#isWriting ||= !onlyReads.test(text);
    if (this.#isWriting) await this.#begun;
    // What another branch of the work says later than the end would stand by itself, or in somebody else's transaction.
    if (this.#isOver) throw new Error("the transaction is over");
    return await rowsOn<Row>(this.#client, text, params);
  };

  async commit<T>(result: T): Promise<T> {
    await this.#begun;
    this.#isOver = true;
    const { command } = await this.#client.query("commit");
    if (command !== "COMMIT") throw new Error("a statement of the transaction had failed, so all was rolled back");
    return result;
  }

  async rollBack(why: unknown): Promise<void> {
    this.#isOver = true;
    if (sqlState(why) === preparedBefore) this.isBroken = true;
    // When this fails too, the connection is gone, and the server has rolled back or will.
    await this.#client.query("rollback").catch(() => (this.isBroken = true));
  }
}

type Connection = Pick<pg.PoolClient, "query"> | Pick<pg.Pool, "query">;

function rowsOn<Row>(connection: Connection, text: string, params: readonly unknown[]): Promise<Row[]> {
  return inStatementSpan(text, async () => (await connection.query(text, [...params])).rows as Row[]);
}

/** Runs the statement as a span, where spans are recorded. */
export async function inStatementSpan<T>(text: string, run: () => Promise<T>): Promise<T> {
  return isTracing() ? await inSpan(statementSpan(text), run, sqlState) : await run();
}

/** A statement as a span: its text has `$1…` where values are, so that it tells nothing of anybody. */
function statementSpan(text: string): SpanOptions {
  const statement = text.replace(/\s+/g, " ").trim();
  const operation = (/^(?:with\b.*?\b)?(select|insert|update|delete)\b/i.exec(statement)?.[1] ?? "sql").toLowerCase();
  const attributes = { "db.system.name": "postgresql", "db.operation.name": operation, "db.query.text": statement };
  return { name: `sql ${operation}`, kind: "CLIENT", attributes };
}

/** The SQLSTATE of a failed statement. */
function sqlState(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
}

/** Bytes as text that PostgreSQL reads as bytea, in a JSON of rows. */
export function hexOf(bytes: Buffer): string {
  return `\\x${bytes.toString("hex")}`;
}

/** A timestamp column as a Date; null stays null. */
export function parseTime(value: string): Date;
export function parseTime(value: string | null): Date | null;
export function parseTime(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}

/**
 * True when the error is PostgreSQL's refusal of a duplicate (SQLSTATE 23505), of the named constraint if one is given.
 */
export function isDuplicate(error: unknown, constraint?: string): boolean {
  for (let e = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if ("code" in e && e.code === "23505") {
      return constraint === undefined || ("constraint" in e && e.constraint === constraint);
    }
  }
  return false;
}
