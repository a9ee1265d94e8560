// What PostgreSQL does for each flow: its costliest statements, by pg_stat_statements, which is loaded by a restart of
// the stack's server.
import pg from "pg";
import type { RunningStack } from "../../deploy/local/running-stack.ts";
import { plainStatement } from "./step-table.ts";

export interface Statements {
  /** Forgets what was counted so far. */
  reset(): Promise<void>;
  /**
   * @returns a line for all together, and one for each statement by its time for one request, which includes waiting
   * for locks; costliest first.
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
      const all = await client.query<{ line: string }>(
        `select format('%s µs in %s statements', round((sum(total_exec_time) * 1000 / $1)::numeric), round(sum(calls) / $1::numeric, 1)) as line
         from pg_stat_statements`,
        [requests],
      );
      return [...all.rows, ...rows].map((row) => row.line);
    },
    close: () => client.end(),
  };
}

/** Mean time of each statement at the server since the counts were forgotten, milliseconds, by its plain text. */
export async function serverTimes(url: string): Promise<ReadonlyMap<string, number>> {
  const client = await connect(url);
  const { rows } = await client.query<{ query: string; ms: number }>(
    "select query, sum(total_exec_time) / sum(calls) as ms from pg_stat_statements group by query",
  );
  await client.end();
  return new Map(rows.map(({ query, ms }) => [plainStatement(query), Number(ms)]));
}

/** A client of the superuser, whose loss ends nothing. */
export async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  return client;
}
