// The connections of a service to its PostgreSQL database: their limits, statements prepared once per connection by
// name, and what happens when the server drops them.
import pg from "pg";
import type { Log } from "#platform/telemetry/log.ts";
import { CertificateRefused, certificateRefusal } from "#platform/values/failure.ts";

/** Where a service's database is and how many connections it may take, from its settings. */
export function databaseOf(config: {
  readonly DATABASE_URL: string;
  readonly DATABASE_CONNECTIONS: number;
}): Pick<PoolOptions, "url" | "connectionsMax"> {
  return { url: config.DATABASE_URL, connectionsMax: config.DATABASE_CONNECTIONS };
}

/** What a pool is opened with. */
export interface PoolOptions {
  /**
   * As libpq reads it: `postgres://user:password@host:port/database`, with `?sslmode=verify-full&sslrootcert=…` for
   * TLS.
   */
  readonly url: string;
  /** Of the program, for the server's list of connections. */
  readonly name: string;
  readonly log: Log;
  /** Most connections of this process; default 16. */
  readonly connectionsMax?: number;
  /** Longest wait for the answer to a statement; milliseconds, for tests. */
  readonly answerMsMax?: number;
  /** How long a connection keeps its first plans, milliseconds, for tests. */
  readonly plansMs?: number;
}

// A statement that runs longer than this is a defect or an overload; it is canceled rather than queued behind.
const statementTimeoutMs = 10_000;
// The server cancels a statement before this and reports it, so a server without an answer has vanished. The client
// then destroys the connection (pg's `query_timeout` in pipeline mode), and the outcome of a commit stays unknown.
const answerMsMaxDefault = statementTimeoutMs + 2_000;
// An idle connection is probed by the kernel; after ten unanswered probes (one a second, libuv's) it is closed.
const keepAliveMs = 5_000;
// Nothing but the network lies between two statements of a transaction, so an idle one is stuck.
const idleInTransactionTimeoutMs = 5_000;
const connectTimeoutMs = 3_000;
// Made while a table is small, a plan may read all of it, and would be kept until autovacuum has looked at the table.
// Twice as long each time; a plan takes half a millisecond.
const plansMsFirst = 1_000;
const plansMsMost = 32_000;
const connectionsMaxDefault = 16;
// Distinct statements that are prepared by name; more than a service has. Texts beyond it (say, from growing IN lists)
// run unnamed.
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

/**
 * pg client that gives every parameterised statement a name, so that PostgreSQL parses and plans it once per
 * connection.
 */
class NamingClient extends pg.Client {
  // biome-ignore lint/suspicious/noExplicitAny: pg declares seven overloads; this passes all but one through untouched.
  override query(...args: any[]): any {
    const [text, values, ...rest] = args;
    const name = typeof text === "string" && Array.isArray(values) ? statementName(text) : undefined;
    const call: (...a: unknown[]) => unknown = super.query.bind(this);
    return name === undefined ? call(...args) : call({ name, text, values }, ...rest);
  }
}

/**
 * The same, which says why when the server's certificate is refused: in its errors, and, once it has been believed, in
 * the log, once until it is again. Before that nothing has begun, and whoever begins is told by the error.
 */
function explainingClient(authority: string | undefined, log: Log): typeof pg.Client {
  let isReported = true;
  const explained = (error: Error): Error => {
    const refusal = certificateRefusal(error);
    if (!refusal) return error;
    const wrapped = new CertificateRefused("DATABASE_URL", authority, refusal, error);
    if (!isReported) log.error(wrapped.message);
    isReported = true;
    return wrapped;
  };
  return class extends NamingClient {
    // biome-ignore lint/suspicious/noExplicitAny: pg declares two; the pool gives a callback.
    override connect(callback?: any): any {
      return super.connect((error: Error | null) => {
        if (error) return callback(explained(error));
        isReported = false;
        callback();
      });
    }
  };
}

/**
 * Opens a pool; connections are made when needed, so this succeeds while the server is away. int8, timestamps, dates
 * and intervals come as text: a number and a Date cannot hold all of theirs.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: `tollbooth-${options.name}`,
    Client: explainingClient(new URL(options.url).searchParams.get("sslrootcert") ?? undefined, options.log),
    // What is asked at once is sent at once; each statement is still answered by itself.
    pipeline: true,
    max: options.connectionsMax ?? connectionsMaxDefault,
    types: textTimes(),
    statement_timeout: statementTimeoutMs,
    query_timeout: options.answerMsMax ?? answerMsMaxDefault,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  // Without a listener, the end of an idle connection would end the process.
  pool.on("error", (error) => options.log.warn(`PostgreSQL connection: ${error.message}`));
  releaseWhenDead(pool);
  forgetPlans(pool, options.plansMs ?? plansMsFirst);
  return pool;
}

// date, timestamp, timestamptz, interval (pg_type.oid).
const times = [1082, 1114, 1184, 1186];

function textTimes(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  for (const oid of times) types.setTypeParser(oid, (text) => text);
  return types;
}

/** Has a connection make its plans anew now and then, by what its tables have grown to. */
function forgetPlans(pool: pg.Pool, firstMs: number): void {
  const kept = new WeakMap<pg.PoolClient, { forMs: number; until: number }>();
  pool.on("acquire", (client) => {
    const now = performance.now();
    const plans = kept.get(client) ?? { forMs: firstMs, until: now + firstMs };
    kept.set(client, plans);
    if (now < plans.until) return;
    plans.forMs = Math.min(plans.forMs * 2, plansMsMost);
    plans.until = now + plans.forMs;
    // Travels with what the connection was taken for, whose failure tells of a lost connection.
    client.query("discard plans").catch(() => {});
  });
}

/**
 * Gives a connection back to the pool when it dies while in use. A holder whose commit and rollback both fail may not,
 * and so every crash of the server would cost the pool a place for ever, and `close` would wait for it.
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
