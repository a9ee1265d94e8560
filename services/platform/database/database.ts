// One service's PostgreSQL database: statements, transactions and snapshots on one pool. A service that maps entities
// opens mapped-database.ts instead.
import type pg from "pg";
import { inSpan, isTracing, type SpanOptions } from "#platform/telemetry/trace.ts";
import { openPool, type PoolOptions } from "./pool.ts";
import { WriteWatch } from "./takes-writes.ts";
import { whenRefused } from "./when-refused.ts";

/** Anything SQL can be said to: the database itself (one statement, committed at once) or a transaction. */
export interface Sql {
  /** Rows of one statement with `$1…` parameters. int8 and timestamps come as text (see `time` and BigInt). */
  rows<Row>(text: string, params?: readonly unknown[]): Promise<Row[]>;
}

/** An open transaction. */
export interface Tx extends Sql {
  /** So that the database itself is no transaction. */
  readonly isOpen: true;
}

// Of assert_known_server (schema/0010-known-server.sql).
const unknownServer = "57TB1";

export class Database implements Sql {
  readonly #pool: pg.Pool;
  readonly #writes: WriteWatch;

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
    let isBroken = false;
    // It travels with a first statement that only reads, a lock mostly; what writes waits until it is sure to be in it.
    const begun = client.query("begin");
    begun.catch(() => {});
    const rows = async <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> => {
      if (!/^\s*select\b/i.test(text)) await begun;
      return await rowsOn<Row>(client, text, params);
    };
    try {
      const result = await work({ isOpen: true, rows });
      await begun;
      await client.query("commit");
      return result;
    } catch (error) {
      // When this fails too, the connection is gone, and the server has rolled back or will.
      await client.query("rollback").catch(() => (isBroken = true));
      throw error;
    } finally {
      client.release(isBroken);
    }
  }

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

/** A timestamp column as a Date; null stays null. */
export function time(value: string): Date;
export function time(value: string | null): Date | null;
export function time(value: string | null): Date | null {
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
