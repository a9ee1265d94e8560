// One service's PostgreSQL database through MikroORM's own connections. Hot paths say SQL (prepared once per connection,
// by name); administrative paths use mapped entities. Both doors of a transaction see the same transaction.
import { type EntitySchema, MikroORM, type SqlEntityManager } from "@mikro-orm/postgresql";
import { CompiledQuery, type ControlledTransaction } from "kysely";
import pg from "pg";
import type { Log } from "./log.ts";
import { inSpan, isTracing, type SpanWish } from "./trace.ts";

/** Anything SQL can be said to: the database itself (one statement, committed at once) or a transaction. */
export interface Sql {
  /** Rows of one statement with `$1…` parameters. int8 and timestamps come as text (see `time` and BigInt). */
  rows<Row>(text: string, params?: readonly unknown[]): Promise<Row[]>;
}

/** An open transaction. `em` is an entity manager within it; what it holds is flushed before the commit. */
export interface Tx extends Sql {
  readonly em: SqlEntityManager;
}

// A statement that runs longer than this is a defect or an overload; it is canceled rather than queued behind.
const statementTimeoutMs = 10_000;
// Nothing but the network lies between two statements of a transaction, so an idle one is stuck.
const idleInTransactionTimeoutMs = 5_000;
const connectTimeoutMs = 3_000;
// Distinct statements that are prepared by name; more than a service has. Texts beyond it (say, from growing IN lists) run unnamed.
const namedStatementsMax = 1_000;

// By text; the names are the same on every connection of the process.
const statementNames = new Map<string, string>();
function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined || statementNames.size >= namedStatementsMax) return known;
  const name = `s${statementNames.size + 1}`;
  statementNames.set(text, name);
  return name;
}

/** pg client that gives every parameterised statement a name, so that PostgreSQL parses and plans it once per connection. */
class NamingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg declares seven overloads; this passes all but one through untouched.
  override query(...args: any[]): any {
    const [text, values, ...rest] = args;
    const name = typeof text === "string" && Array.isArray(values) ? statementName(text) : undefined;
    const call: (...a: unknown[]) => unknown = super.query.bind(this);
    return name === undefined ? call(...args) : call({ name, text, values }, ...rest);
  }
}

export class Database implements Sql {
  readonly #orm: MikroORM;
  readonly #pool: pg.Pool;
  readonly #isMapped: boolean;

  private constructor(orm: MikroORM, pool: pg.Pool, isMapped: boolean) {
    this.#orm = orm;
    this.#pool = pool;
    this.#isMapped = isMapped;
  }

  /**
   * Opens the pool; connections are made when needed, so this succeeds while the server is away.
   * @param entities the service's mapped entities.
   * @param connectionsMax most connections of this process.
   */
  static async open(options: {
    url: string;
    name: string;
    log: Log;
    entities?: readonly EntitySchema[];
    connectionsMax?: number;
  }): Promise<Database> {
    const orm = await MikroORM.init({
      clientUrl: options.url,
      entities: [...(options.entities ?? [])],
      preferTs: true,
      forceUtcTimezone: true,
      ensureDatabase: false,
      discovery: { warnWhenNoEntities: false },
      pool: { min: 0, max: options.connectionsMax ?? 16 },
      logger: (message) => options.log.warn(message),
      driverOptions: {
        Client: NamingClient,
        application_name: `tollbooth-${options.name}`,
        statement_timeout: statementTimeoutMs,
        idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
        connectionTimeoutMillis: connectTimeoutMs,
        keepAlive: true,
      },
    });
    const connection = orm.em.getConnection();
    await connection.initClient();
    const pool: pg.Pool = await connection.getNativeClient();
    releaseWhenDead(pool);
    return new Database(orm, pool, (options.entities ?? []).length > 0);
  }

  async rows<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    const query = async () => (await this.#pool.query(text, [...params])).rows as Row[];
    return isTracing() ? inSpan(statementSpan(text), query, sqlState) : query();
  }

  /** For its counts only. */
  get pool(): pg.Pool {
    return this.#pool;
  }

  /** A fresh entity manager outside any transaction, for reads. */
  em(): SqlEntityManager {
    return this.#orm.em.fork();
  }

  /** Runs the work in one transaction (read committed) and commits; any throw rolls everything back. */
  async transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    if (!this.#isMapped) return await this.#plainTransaction(work);
    const connection = this.#orm.em.getConnection();
    return connection.transactional(async (trx) => {
      const tx = new OpenTransaction(this.#orm, trx);
      const result = await work(tx);
      await tx.flush();
      return result;
    });
  }

  /** The same for a service that maps no entities: it pays for no second door. */
  async #plainTransaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    let isBroken = false;
    try {
      await client.query("begin");
      const result = await work(new PlainTransaction(client));
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
   * Runs reads that must agree with each other on one snapshot, each planned for its own values: for lists, whose best way depends
   * on what is asked.
   */
  async snapshot<T>(read: (sql: Sql) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect();
    try {
      await client.query(
        "begin isolation level repeatable read, read only; set local plan_cache_mode = force_custom_plan",
      );
      const rows = async <Row>(text: string, params: readonly unknown[] = []) => {
        const query = async () => (await client.query(text, [...params])).rows as Row[];
        return isTracing() ? inSpan(statementSpan(text), query, sqlState) : query();
      };
      return await read({ rows });
    } finally {
      // Nothing was written; when this fails, the connection is broken and the pool must not keep it.
      const ended = client.query("commit").then(
        () => false,
        () => true,
      );
      client.release(await ended);
    }
  }

  /** Throws when the database does not answer. */
  async ping(): Promise<void> {
    await this.rows("select 1");
  }

  async close(): Promise<void> {
    await this.#orm.close(true);
    // Kysely ends the pool only if it has used it itself.
    if (!this.#pool.ending) await this.#pool.end();
  }
}

/**
 * Gives a connection back to the pool when it dies while in use. Kysely does not if its commit and its rollback both fail, and so
 * every crash of the server would cost the pool a place for ever, and `close` would wait for it.
 */
function releaseWhenDead(pool: pg.Pool): void {
  const inUse = new WeakSet<pg.PoolClient>();
  pool.on("acquire", (client) => inUse.add(client));
  pool.on("release", (_error, client) => inUse.delete(client));
  pool.on("connect", (client) => {
    // The query under way fails with the same error; without a listener it would end the process.
    client.on("error", () => {});
    client.once("end", () => {
      if (!inUse.has(client)) return;
      client.release(true);
      // Whoever has it still may give it back too.
      client.release = () => {};
    });
  });
}

class OpenTransaction implements Tx {
  readonly #orm: MikroORM;
  readonly #trx: ControlledTransaction<unknown>;
  #em: SqlEntityManager | undefined;

  constructor(orm: MikroORM, trx: ControlledTransaction<unknown>) {
    this.#orm = orm;
    this.#trx = trx;
  }

  get em(): SqlEntityManager {
    if (!this.#em) {
      this.#em = this.#orm.em.fork();
      this.#em.setTransactionContext(this.#trx);
    }
    return this.#em;
  }

  async rows<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    const query = async () => (await this.#trx.executeQuery(CompiledQuery.raw(text, [...params]))).rows as Row[];
    return isTracing() ? inSpan(statementSpan(text), query, sqlState) : query();
  }

  async flush(): Promise<void> {
    await this.#em?.flush();
  }
}

class PlainTransaction implements Tx {
  readonly #client: pg.PoolClient;

  constructor(client: pg.PoolClient) {
    this.#client = client;
  }

  get em(): never {
    throw new Error("this database was opened without entities");
  }

  async rows<Row>(text: string, params: readonly unknown[] = []): Promise<Row[]> {
    const query = async () => (await this.#client.query(text, [...params])).rows as Row[];
    return isTracing() ? inSpan(statementSpan(text), query, sqlState) : query();
  }
}

/** A statement as a span: its text has `$1…` where values are, so that it tells nothing of anybody. */
function statementSpan(text: string): SpanWish {
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

/** True when the error is PostgreSQL's refusal of a duplicate (SQLSTATE 23505), of the named constraint if one is given. */
export function isDuplicate(error: unknown, constraint?: string): boolean {
  for (let e = error, depth = 0; e instanceof Error && depth < 5; e = e.cause, depth++) {
    if ("code" in e && e.code === "23505") {
      return constraint === undefined || ("constraint" in e && e.constraint === constraint);
    }
  }
  return false;
}
