// How much CPU a connection's own process at the server has used (Linux): what a statement takes on a busy machine, on
// which its time is mostly waiting for a turn. Parallel workers are not in it.
import { readFileSync } from "node:fs";
import type { Database } from "#platform/database/database.ts";

/**
 * @param db of one connection, to a server on this machine
 * @returns tells the milliseconds since the connection began; not a number elsewhere than on Linux
 */
export async function watchBackend(db: Database): Promise<() => number> {
  const [row] = await db.rows<{ pid: number }>("select pg_backend_pid() as pid");
  const path = `/proc/${row?.pid}/schedstat`;
  return () => {
    try {
      return Number(readFileSync(path, "utf8").split(" ")[0]) / 1_000_000;
    } catch {
      return Number.NaN;
    }
  };
}
