// Finds the figures that grew during a soak. Pure.

/** The figures of one minute. */
export interface Minute {
  /** Of a whole order. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Resident memory, and open sockets and files, of each process. */
  readonly megabytes: Readonly<Record<string, number>>;
  readonly handles: Readonly<Record<string, number>>;
  /** Of the stack to PostgreSQL. */
  readonly connections: number;
  readonly bytesPerPayment: number;
  /** Webhooks that wait. */
  readonly waiting: number;
}

/**
 * By which the last third may be above the first and still be called flat: garbage is collected, tables are vacuumed
 * and plans change in waves.
 */
const tolerance = {
  megabytes: { share: 1.15, least: 16 },
  handles: { share: 1.2, least: 10 },
  p50Ms: { share: 1.3, least: 3 },
  p99Ms: { share: 2.6, least: 30 },
  connections: { share: 1.2, least: 10 },
  bytesPerPayment: { share: 1.1, least: 0 },
  waiting: { share: 2, least: 500 },
};

type Average = (values: readonly number[]) => number;
const leanest: Average = (values) => Math.min(...values);
const median: Average = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** Describes the figures that are above their level in the first third. */
export function describeGrowth(rows: readonly Minute[]): string[] {
  const third = Math.floor(rows.length / 3);
  const [first, last] = [rows.slice(0, third), rows.slice(-third)];
  const compare = (
    name: string,
    { share, least }: { share: number; least: number },
    of: (row: Minute) => number,
    averages: readonly Average[] = [median],
  ): string[] => {
    const isMore = averages.every((average) => {
      const [before, after] = [average(first.map(of)), average(last.map(of))];
      return after > before * share && after - before > least;
    });
    const [before, after] = [first, last].map((third) => Math.round(median(third.map(of))));
    return isMore ? [`${name}: ${before} in the first third, ${after} in the last`] : [];
  };
  const each = (what: "megabytes" | "handles", averages: readonly Average[]) =>
    Object.keys(rows[0]?.[what] ?? {}).flatMap((name) =>
      compare(`${what} of ${name}`, tolerance[what], (row) => row[what][name] ?? 0, averages),
    );
  const one = (what: "p50Ms" | "p99Ms" | "connections" | "bytesPerPayment" | "waiting") =>
    compare(what, tolerance[what], (row) => row[what]);
  return [
    // A leak shows in the median and in the leanest minute. Garbage that waits for its collection shows in the first
    // alone, warming up in the second.
    ...each("megabytes", [median, leanest]),
    ...each("handles", [median]),
    ...one("p50Ms"),
    ...one("p99Ms"),
    ...one("connections"),
    ...one("bytesPerPayment"),
    ...one("waiting"),
  ];
}
