// The connections of a service to its PostgreSQL database: their limits, statements prepared once per connection by name, and what
// happens when the server drops them.
import type { Socket } from "node:net";
import pg from "pg";
import type { Log } from "./log.ts";

/** What a pool is opened with. */
export interface PoolOptions {
  /** As libpq reads it: `postgres://user:password@host:port/database`, with `?sslmode=verify-full&sslrootcert=…` for TLS. */
  readonly url: string;
  /** Of the program, for the server's list of connections. */
  readonly name: string;
  readonly log: Log;
  /** Most connections of this process; default 16. */
  readonly connectionsMax?: number;
  /** A connection whose statement has heard nothing for so long is given up; milliseconds, for tests. */
  readonly silenceMsMax?: number;
}

// A statement that runs longer than this is a defect or an overload; it is canceled rather than queued behind.
const statementTimeoutMs = 10_000;
// The server ends a statement before this, and says so. Who says nothing has vanished: the kernel would wait for a quarter of an hour.
const silenceMsMaxDefault = statementTimeoutMs + 2_000;
// A connection that nobody uses is asked whether its other end lives; after ten questions without an answer (one a second, libuv's) it is gone.
const keepAliveMs = 5_000;
// Nothing but the network lies between two statements of a transaction, so an idle one is stuck.
const idleInTransactionTimeoutMs = 5_000;
const connectTimeoutMs = 3_000;
const connectionsMaxDefault = 16;
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

/**
 * Opens a pool; connections are made when needed, so this succeeds while the server is away. int8, timestamps, dates and intervals
 * come as text: a number and a Date cannot hold all of theirs.
 */
export function openPool(options: PoolOptions): pg.Pool {
  const pool = new pg.Pool({
    Client: NamingClient,
    connectionString: options.url,
    application_name: `tollbooth-${options.name}`,
    max: options.connectionsMax ?? connectionsMaxDefault,
    types: textTimes(),
    statement_timeout: statementTimeoutMs,
    idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveMs,
  });
  // Without a listener, the end of an idle connection would end the process.
  pool.on("error", (error) => options.log.warn(`PostgreSQL connection: ${error.message}`));
  releaseWhenDead(pool);
  endWhenSilent(pool, options.silenceMsMax ?? silenceMsMaxDefault);
  return pool;
}

/** What pg has of a connection and does not declare. */
interface Wire {
  /** False while a statement is under way. */
  readonly readyForQuery: boolean;
  readonly connection: { readonly stream: Socket };
}

/**
 * Breaks a connection whose server has vanished without a word, as when its machine is lost: the statement under way fails, as does what was to
 * follow it, and the pool makes a new connection.
 */
function endWhenSilent(pool: pg.Pool, silenceMsMax: number): void {
  pool.on("connect", (client) => {
    const wire = client as unknown as Wire;
    const { stream } = wire.connection;
    stream.setTimeout(silenceMsMax);
    stream.on("timeout", () => {
      if (!wire.readyForQuery) stream.destroy(new Error(`no answer within ${silenceMsMax} ms`));
    });
  });
}

// date, timestamp, timestamptz, interval (pg_type.oid).
const times = [1082, 1114, 1184, 1186];

function textTimes(): pg.CustomTypesConfig {
  const types = new pg.TypeOverrides();
  for (const oid of times) types.setTypeParser(oid, (text) => text);
  return types;
}

/**
 * Gives a connection back to the pool when it dies while in use. A holder whose commit and rollback both fail may not, and so
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
