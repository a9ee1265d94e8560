// The minutes of a soak as a table, and what of them grew. Pure.

/** What one minute came to. */
export interface Minute {
  readonly orders: number;
  /** Of all cores, everything on the machine; 0 to 1. */
  readonly busy: number;
  /** Of each kind of request, milliseconds. */
  readonly latencies: Readonly<Record<string, { readonly p50Ms: number; readonly p99Ms: number }>>;
  /** Resident memory of each process. */
  readonly megabytes: Readonly<Record<string, number>>;
  /** Of the stack to PostgreSQL. */
  readonly connections: number;
  /** Of all rows of tables that change, in percent. */
  readonly deadRows: number;
  /** By which the databases grew, divided by all payments so far. */
  readonly bytesPerPayment: number;
  /** Of sockets and files of each process. */
  readonly handles: Readonly<Record<string, number>>;
  /** Events and webhooks that wait. */
  readonly waiting: number;
}

// What a third of the run may be above another and still be called flat: garbage is collected, tables are vacuumed and
// plans change in waves.
const memoryShare = 1.15;
const memoryMbMin = 16;
const latencyShare = 1.3;
const latencyMsMin = 3;
const handleShare = 1.2;
const handlesMin = 10;
const deadRowsMax = 30;
const bytesShare = 1.1;

const leanest = (values: readonly number[]) => Math.min(...values);

/** What is above where it was in the first third, in words. */
export function grown(rows: readonly Minute[]): string[] {
  const third = Math.floor(rows.length / 3);
  const [first, last] = [rows.slice(0, third), rows.slice(-third)];
  const compare = (
    name: string,
    of: (row: Minute) => number,
    share: number,
    least: number,
    ...also: ((values: readonly number[]) => number)[]
  ): string[] => {
    const isMore = [median, ...also].every((typical) => {
      const [before, after] = [typical(first.map(of)), typical(last.map(of))];
      return after > before * share && after - before > least;
    });
    const [before, after] = [median(first.map(of)), median(last.map(of))];
    return isMore ? [`${name}: ${rounded(before)} in the first third, ${rounded(after)} in the last`] : [];
  };
  const names = (of: (row: Minute) => Readonly<Record<string, unknown>>) => Object.keys(rows[0] ? of(rows[0]) : {});
  return [
    ...names((row) => row.megabytes).flatMap((name) =>
      // What leaks is in the typical minute and in the leanest: garbage that waits for its collection is in the first
      // alone, warming up in the second.
      compare(`memory of ${name}, MB`, (row) => row.megabytes[name] ?? 0, memoryShare, memoryMbMin, leanest),
    ),
    ...names((row) => row.handles).flatMap((name) =>
      compare(`open handles of ${name}`, (row) => row.handles[name] ?? 0, handleShare, handlesMin),
    ),
    ...names((row) => row.latencies).flatMap((name) => [
      ...compare(`p50 of ${name}, ms`, (row) => row.latencies[name]?.p50Ms ?? 0, latencyShare, latencyMsMin),
      ...compare(`p99 of ${name}, ms`, (row) => row.latencies[name]?.p99Ms ?? 0, 2 * latencyShare, 10 * latencyMsMin),
    ]),
    ...compare("connections to PostgreSQL", (row) => row.connections, handleShare, handlesMin),
    ...compare("bytes a payment", (row) => row.bytesPerPayment, bytesShare, 0),
    ...compare("what waits to be told", (row) => row.waiting, 2, 500),
    ...(median(last.map((row) => row.deadRows)) > deadRowsMax
      ? [`more than ${deadRowsMax} % of the rows are dead`]
      : []),
  ];
}

/** Six rows of Markdown, each the median of a sixth of the run. */
export function soakTable(rows: readonly Minute[]): string {
  const processes = Object.keys(rows[0]?.megabytes ?? {});
  const requests = Object.keys(rows[0]?.latencies ?? {});
  const head = [
    "minutes",
    "orders/s",
    "busy",
    ...requests.map((name) => `${name} p50 / p99 ms`),
    ...processes.map((name) => `${name} MB`),
    "connections",
    "dead rows",
    "bytes a payment",
    "waiting",
  ];
  const parts = Math.min(6, rows.length);
  const lines = Array.from({ length: parts }, (_, i) => {
    const [from, to] = [Math.floor((i * rows.length) / parts), Math.floor(((i + 1) * rows.length) / parts)];
    const part = rows.slice(from, to);
    const of = (read: (row: Minute) => number) => median(part.map(read));
    return [
      `${from + 1}–${to}`,
      rounded(of((row) => row.orders / 60)),
      `${Math.round(of((row) => row.busy) * 100)} %`,
      ...requests.map((name) =>
        [of((row) => row.latencies[name]?.p50Ms ?? 0), of((row) => row.latencies[name]?.p99Ms ?? 0)]
          .map(rounded)
          .join(" / "),
      ),
      ...processes.map((name) => rounded(of((row) => row.megabytes[name] ?? 0))),
      rounded(of((row) => row.connections)),
      `${rounded(of((row) => row.deadRows))} %`,
      rounded(of((row) => row.bytesPerPayment)),
      rounded(of((row) => row.waiting)),
    ];
  });
  const rule = head.map((_, i) => (i === 0 ? "---" : "--:"));
  return [head, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}

function rounded(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(1);
}
