// What PostgreSQL does for each flow: its costliest statements, by pg_stat_statements, which is loaded by a restart of
// the stack's server.
import pg from "pg";
import type { RunningStack } from "../../deploy/local/running-stack.ts";

export interface Statements {
  /** Forgets what was counted so far. */
  reset(): Promise<void>;
  /**
   * @returns a line for each statement by its time for one request, which includes waiting for locks; costliest first.
   */
  costliest(requests: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

// Those of less than a hundredth of the whole explain nothing.
const linesMax = 40;

/** Restarts the server with statement statistics. */
export async function watchStatements(running: RunningStack): Promise<Statements> {
  const admin = await connect(running.stack.database);
  await admin.query("alter system set shared_preload_libraries = 'pg_stat_statements'");
  await admin.end();
  await running.restart("postgres");
  const client = await connect(running.stack.database);
  await client.query("create extension if not exists pg_stat_statements");
  return {
    reset: async () => void (await client.query("select pg_stat_statements_reset()")),
    costliest: async (requests) => {
      const { rows } = await client.query<{ line: string }>(
        `select format('%s µs: %s calls of %s µs, %s blocks, %s bytes of log each; %s: %s',
           round((total_exec_time * 1000 / $1)::numeric), round(calls / $1::numeric, 2), round((total_exec_time * 1000 / calls)::numeric),
           (shared_blks_hit + shared_blks_read) / calls, wal_bytes::bigint / calls, datname,
           left(regexp_replace(query, '\\s+', ' ', 'g'), 110)) as line
         from pg_stat_statements s join pg_database d on d.oid = s.dbid
         where total_exec_time > 0.01 * (select sum(total_exec_time) from pg_stat_statements)
         order by total_exec_time desc limit ${linesMax}`,
        [requests],
      );
      return rows.map((row) => row.line);
    },
    close: () => client.end(),
  };
}

/** A client of the superuser, whose loss ends nothing. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}
