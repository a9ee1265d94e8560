// What one request costs the whole stack: processor time, switches and system calls of each process, and what
// PostgreSQL writes for it.
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { connect } from "./statements.ts";
import { type UsageEach, usageEach, usageOf } from "./usage.ts";

/** Of one request. */
export interface Cost {
  /** By process; PostgreSQL and NATS are among them. */
  readonly usage: Readonly<Record<string, UsageEach>>;
  /** Transactions that wrote something; each waits for the disk, or shares another's wait. */
  readonly transactions: number;
  /** Of the write-ahead log. */
  readonly logBytes: number;
}

export interface CostWatch {
  /** @returns tells what each of so many requests has cost since */
  begin(): Promise<(requests: number) => Promise<Cost>>;
  close(): Promise<void>;
}

export async function watchCost(stack: StackInfo): Promise<CostWatch> {
  const client = await connect(stack.database);
  const now = async () => {
    // Each transaction that writes takes the next number.
    const { rows } = await client.query<{ transactions: string; bytes: string }>(
      `select pg_snapshot_xmax(pg_current_snapshot())::text as transactions,
         pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as bytes`,
    );
    const [row] = rows;
    return { usage: usageOf(stack.pids), transactions: Number(row?.transactions), logBytes: Number(row?.bytes) };
  };
  return {
    begin: async () => {
      const before = await now();
      return async (requests) => {
        const after = await now();
        return {
          usage: usageEach(before.usage, after.usage, requests),
          transactions: (after.transactions - before.transactions) / requests,
          logBytes: (after.logBytes - before.logBytes) / requests,
        };
      };
    },
    close: () => client.end(),
  };
}

/** As it is printed: what, and how much. */
export function costLines({ usage, transactions, logBytes }: Cost): [string, string][] {
  const each = (what: keyof UsageEach, digits: number) =>
    Object.entries(usage)
      .map(([process, used]) => `${process} ${used[what].toFixed(digits)}`)
      .join(" · ");
  return [
    ["CPU µs per request", each("cpuUs", 0)],
    ["context switches per request", each("switches", 1)],
    ["reads and writes per request", each("calls", 1)],
    ["PostgreSQL per request", `${transactions.toFixed(1)} transactions write ${Math.round(logBytes)} bytes of log`],
  ];
}
