// One service's PostgreSQL database: statements, transactions and snapshots on one pool.
import type { EventEmitter } from "node:events";
import type pg from "pg";
import { inSpan, isTracing, type SpanOptions } from "#platform/telemetry/trace.ts";
import { errorCode } from "#platform/values/unchecked.ts";
import { Batch, lockMsMax } from "./batch.ts";
import { openPool, type PoolOptions } from "./pool.ts";

/** Runs SQL: the database itself (one statement, committed at once) or a transaction. */
export interface Sql {
  /** Rows of one statement with `$1…` parameters. int8 and timestamps arrive as text (see `parseTime` and BigInt). */
  rows<Row>(text: string, params?: readonly unknown[]): Promise<Row[]>;
}

export interface GroupedSql extends Sql {
  /**
   * Runs one item of a bulk query, grouped with items that other callers pass to the same function at the same moment.
   * @throws the error of this item alone
   */
  batched<Item, Answer>(query: BulkQuery<Item, Answer>, item: Item): Promise<Answer>;
}

/**
 * One statement for several items. It must be a module-level function, since it also identifies the group.
 * @returns an answer for each item, in order
 */
export type BulkQuery<Item, Answer> = (sql: Sql, items: readonly Item[]) => Promise<readonly Answer[]>;

export interface Tx extends GroupedSql {
  /** Distinguishes a transaction from the database. */
  readonly isOpen: true;
}

export function openTx(rows: Tx["rows"]): Tx {
  const batched = async <Item, Answer>(query: BulkQuery<Item, Answer>, item: Item) => {
    const [answer] = await query({ rows }, [item]);
    return answer as Answer;
  };
  return { isOpen: true, rows, batched };
}

// Raised by assert_known_server (schema/0010-known-server.sql).
const unknownServer = "57TB1";

export class Database implements GroupedSql {
  /** Outside for its counters only. */
  readonly pool: pg.Pool;
  readonly #writes: WriteWatch;
  readonly #batches = new Map<unknown, Batch<never, unknown>>();

  /** Called when the server refuses a statement because the recovery fence does not know this server. */
  onUnknownServer: () => void = () => {};

  protected constructor(pool: pg.Pool) {
    this.pool = pool;
    whenRefused(pool, unknownServer, () => this.onUnknownServer());
    this.#writes = new WriteWatch(pool);
  }

  /** Opens the pool; connections open on demand, so this succeeds while the server is unavailable. */
  static async open(options: PoolOptions): Promise<Database> {
    return new Database(openPool(options));
  }

  async rows<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    return await this.#withCurrentPlans(() => rowsOn<Row>(this.pool, text, params));
  }

  async batched<Item, Answer>(query: BulkQuery<Item, Answer>, item: Item): Promise<Answer> {
    const known = this.#batches.get(query) as Batch<Item, Answer> | undefined;
    const batch = known ?? new Batch<Item, Answer>((items) => query(items.length === 1 ? this : this.#brief, items));
    if (!known) this.#batches.set(query, batch as unknown as Batch<never, unknown>);
    return await batch.add(item);
  }

  /** Runs the work in one transaction (read committed) and commits; a throw rolls back. */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    // Pipelined with initial reads; writes and everything after them wait until the transaction has begun.
    const begun = client.query("begin");
    begun.catch(() => {});
    let [isWriting, isOver, isBroken] = [false, false, false];
    const rows = async <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> => {
      isWriting ||= !onlyReads.test(text);
      if (isWriting) await begun;
      // A late statement of another branch would run alone, or in another caller's transaction.
      if (isOver) throw new Error("the transaction is over");
      return await rowsOn<Row>(client, text, params);
    };
    try {
      const result = await work(openTx(rows));
      await begun;
      isOver = true;
      const { command } = await client.query("commit");
      if (command !== "COMMIT") throw new Error("a statement of the transaction failed, so it was rolled back");
      return result;
    } catch (error) {
      isOver = true;
      isBroken = sqlState(error) === preparedBefore;
      // If this fails too, the connection is gone and the server rolls back.
      await client.query("rollback").catch(() => (isBroken = true));
      throw error;
    } finally {
      client.release(isBroken);
    }
  }

  /** Runs statements for many items with a short lock timeout. */
  readonly #brief: Sql = {
    rows: async <Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> => {
      if (onlyReads.test(text)) return await this.rows(text, params);
      const client = await this.pool.connect();
      let isBroken = true;
      try {
        // Pipelined with the statement.
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

  /** Runs reads on one snapshot, each planned for its own parameters: the best plan of a list depends on its filter. */
  async snapshot<T>(read: (sql: Sql) => Promise<T>): Promise<T> {
    return await this.#withCurrentPlans(async () => {
      const client = await this.pool.connect();
      let isBroken = true;
      try {
        await client.query(
          "begin isolation level repeatable read, read only; set local plan_cache_mode = force_custom_plan",
        );
        const found = await read({ rows: (text, params = []) => rowsOn(client, text, params) });
        await client.query("commit");
        isBroken = false;
        return found;
      } finally {
        // After an error the connection is dropped: a migration may have outdated its prepared statements.
        client.release(isBroken);
      }
    });
  }

  /** After a migration older connections refuse some prepared reads, once: the pool then drops the connection. */
  async #withCurrentPlans<T>(run: () => Promise<T>, tries = this.pool.options.max): Promise<T> {
    return await run().catch((error) => {
      if (sqlState(error) !== preparedBefore || tries === 0) throw error;
      return this.#withCurrentPlans(run, tries - 1);
    });
  }

  /** False while the server answers but accepts no writes. @throws when it does not answer */
  async takesWrites(): Promise<boolean> {
    return await this.#writes.takesWrites();
  }

  async close(): Promise<void> {
    await this.pool.end();
  }
}

// Locking reads and other reads. A select without FROM may call a function that writes.
const onlyReads = /^\s*select\b.*\bfrom\b/is;
// The statement's result type changed since it was prepared; this connection would fail permanently.
const preparedBefore = "0A000";

type Connection = Pick<pg.PoolClient, "query"> | Pick<pg.Pool, "query">;

function rowsOn<Row>(connection: Connection, text: string, params: readonly unknown[]): Promise<Row[]> {
  return inStatementSpan(text, async () => (await connection.query(text, [...params])).rows as Row[]);
}

/** Runs the statement in a span while tracing. */
export async function inStatementSpan<T>(text: string, run: () => Promise<T>): Promise<T> {
  return isTracing() ? await inSpan(statementSpan(text), run, sqlState) : await run();
}

/** The text has `$1…` in place of values, so it contains no personal data. */
function statementSpan(text: string): SpanOptions {
  const statement = text.replace(/\s+/g, " ").trim();
  const operation = (/^(?:with\b.*?\b)?(select|insert|update|delete)\b/i.exec(statement)?.[1] ?? "sql").toLowerCase();
  const attributes = { "db.system.name": "postgresql", "db.operation.name": operation, "db.query.text": statement };
  return { name: `sql ${operation}`, kind: "CLIENT", attributes };
}

/** The SQLSTATE of a failed statement. */
function sqlState(error: unknown): string {
  return errorCode(error) || "unknown";
}

/** Bytes as PostgreSQL's hex text, for JSON rows. */
export function hexOf(bytes: Buffer): string {
  return `\\x${bytes.toString("hex")}`;
}

export function parseTime(value: string): Date;
export function parseTime(value: string | null): Date | null;
export function parseTime(value: string | null): Date | null {
  return value === null ? null : new Date(value);
}

/** True for a unique violation (SQLSTATE 23505), of the named constraint if given. */
export function isDuplicate(error: unknown, constraint?: string): boolean {
  for (let e = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if (errorCode(e) === "23505") {
      return constraint === undefined || ("constraint" in e && e.constraint === constraint);
    }
  }
  return false;
}

// Whether a database accepts writes. A server that answers may be a standby, read-only, out of disk space, or waiting
// for a lost synchronous standby: then reads work and nothing new can begin.

// A commit waits milliseconds for a standby; after this, requests time out.
const commitSecondsMax = 5;
// SQLSTATE disk_full, insufficient_privilege.
const [diskFull, notAllowed] = ["53100", "42501"] as const;

class WriteWatch {
  readonly #pool: pg.Pool;
  /** A write failed for lack of space, and no write that needs space has succeeded since. */
  #isFull = false;

  constructor(pool: pg.Pool) {
    this.#pool = pool;
    whenRefused(pool, diskFull, () => {
      this.#isFull = true;
    });
  }

  /** @throws when the server does not answer */
  async takesWrites(): Promise<boolean> {
    const { rows } = await this.#pool.query<{ refuses: boolean }>(
      `select current_setting('transaction_read_only')::bool or exists (
         select from pg_stat_activity
         where usename = current_user and wait_event = 'SyncRep'
           and query_start < clock_timestamp() - make_interval(secs => $1)) as refuses`,
      [commitSecondsMax],
    );
    if (rows[0]?.refuses !== false) return false;
    if (this.#isFull) this.#isFull = !(await this.#hasRoom());
    return !this.#isFull;
  }

  /** Allocates some space and releases it. A row in an existing page would prove nothing. */
  async #hasRoom(): Promise<boolean> {
    try {
      // Without `begin` both statements are one transaction, which also ends when it fails.
      await this.#pool.query(`create temp table room (filler text) on commit drop;
        insert into room select repeat('x', 1900) from generate_series(1, 100)`);
      return true;
    } catch (error) {
      const code = errorCode(error);
      // A role that may not create temporary tables cannot test, and must not stay refused permanently.
      if (code === notAllowed) return true;
      if (code === diskFull) return false;
      throw error;
    }
  }
}

/** A member of pg's connection that its types omit. */
interface Wire {
  readonly connection: EventEmitter;
}

/** Calls back when the server refuses a statement on any of the pool's connections. @param code SQLSTATE */
function whenRefused(pool: pg.Pool, code: string, notify: () => void): void {
  pool.on("connect", (client) => {
    (client as unknown as Wire).connection.on("errorMessage", (refusal: { code?: string }) => {
      if (refusal.code === code) notify();
    });
  });
}
