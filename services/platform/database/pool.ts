// A service's PostgreSQL connections: limits, prepared statements by name, and handling of lost connections.
import pg from "pg";
import type { Log } from "#platform/telemetry/log.ts";
import { CertificateRefused, certificateRefusal } from "#platform/values/failure.ts";

export function databaseOf(config: {
  readonly DATABASE_URL: string;
  readonly DATABASE_CONNECTIONS: number;
}): Pick<PoolOptions, "url" | "connectionsMax"> {
  return { url: config.DATABASE_URL, connectionsMax: config.DATABASE_CONNECTIONS };
}

export interface PoolOptions {
  /** As in libpq: `postgres://user:password@host:port/database`, with `?sslmode=verify-full&sslrootcert=…` for TLS. */
  readonly url: string;
  /** Shown in the server's list of connections. */
  readonly name: string;
  readonly log: Log;
  /** Most connections of this process; default 16. */
  readonly connectionsMax?: number;
  /** Longest statement, ms; default 10,000. */
  readonly statementMsMax?: number;
  /** Lifetime of a connection's first plans in milliseconds, for tests. */
  readonly plansMs?: number;
}

// A longer statement is a defect or an overload; it is canceled instead of blocking others.
const statementMsMaxDefault = 10_000;
// The server cancels a statement before the client, and reports it, so a silent server has vanished. The client then
// destroys the connection (pg's `query_timeout` in pipeline mode), and the outcome of a commit stays unknown.
// The kernel probes an idle connection and closes it after ten unanswered probes (one per second, libuv's default).
const keepAliveMs = 5_000;
// Between two statements of a transaction there is only the network, so an idle transaction is stuck.
const idleInTransactionTimeoutMs = 5_000;
const connectTimeoutMs = 3_000;
// A plan made while a table is small may scan it, and would be kept until autovacuum analyses the table. The interval
// doubles; a plan takes half a millisecond.
const plansMsFirst = 1_000;
const plansMsMost = 32_000;
const connectionsMaxDefault = 16;
// More than a service's distinct statements. Texts beyond it, for example from growing IN lists, run unnamed.
const namedStatementsMax = 1_000;

// Name by text, the same on every connection of the process.
const statementNames = new Map<string, string>();
function statementName(text: string): string | undefined {
  const known = statementNames.get(text);
  if (known !== undefined || statementNames.size >= namedStatementsMax) return known;
  const name = `s${statementNames.size + 1}`;
  statementNames.set(text, name);
  return name;
}

/** Gives every parameterised statement a name, so PostgreSQL parses and plans it once per connection. */
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
 * Also explains a rejected server certificate: in its errors, and in the log once per rejection after a connection had
 * succeeded. A first start reports it by its error.
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
 * Opens a pool; connections open on demand, so this succeeds while the server is unavailable. int8, timestamps, dates
 * and intervals arrive as text, since a number and a Date cannot hold all their values.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const { statementMsMax = statementMsMaxDefault } = options;
  const pool = new pg.Pool({
    connectionString: options.url,
    application_name: `tollbooth-${options.name}`,
    Client: explainingClient(new URL(options.url).searchParams.get("sslrootcert") ?? undefined, options.log),
    // Pipelines statements; each gets its own answer.
    pipeline: true,
    max: options.connectionsMax ?? connectionsMaxDefault,
    types: textTimes(),
    statement_timeout: statementMsMax,
    query_timeout: 1.2 * statementMsMax,
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

/** Discards a connection's plans from time to time, since its tables grow. */
function forgetPlans(pool: pg.Pool, firstMs: number): void {
  const kept = new WeakMap<pg.PoolClient, { forMs: number; until: number }>();
  pool.on("acquire", (client) => {
    const now = performance.now();
    const plans = kept.get(client) ?? { forMs: firstMs, until: now + firstMs };
    kept.set(client, plans);
    if (now < plans.until) return;
    plans.forMs = Math.min(plans.forMs * 2, plansMsMost);
    plans.until = now + plans.forMs;
    // Pipelined with the caller's statement, whose failure reports a lost connection.
    client.query("discard plans").catch(() => {});
  });
}

/**
 * Returns a connection to the pool when it dies in use. Its holder may fail to, if commit and rollback both fail; each
 * server crash would then cost the pool a slot, and `close` would wait for it.
 */
function releaseWhenDead(pool: pg.Pool): void {
  const inUse = new WeakSet<pg.PoolClient>();
  pool.on("acquire", (client) => inUse.add(client));
  pool.on("release", (_error, client) => inUse.delete(client));
  pool.on("connect", (client) => {
    // The active query fails with the same error; without a listener it would end the process.
    client.on("error", () => {});
    client.once("end", () => {
      if (!inUse.has(client)) return;
      client.release(true);
      // The holder may still release it, too.
      client.release = () => {};
    });
  });
}
