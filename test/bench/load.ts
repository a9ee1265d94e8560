// Closed-loop load: each connection sends its next request when the last one is answered.

/** One request to the gateway. */
export interface Request {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LoadResult {
  readonly count: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/**
 * @param options.next the next piece of work; undefined ends the measurement early.
 * @throws the error of a piece of work: a benchmark of failures measures nothing.
 */
export async function measureLoad(options: {
  connections: number;
  seconds: number;
  next: () => (() => Promise<unknown>) | undefined;
}): Promise<LoadResult> {
  const warm = options.next();
  if (warm) await warm();
  const times: number[] = [];
  const began = performance.now();
  const end = began + options.seconds * 1_000;
  await Promise.all(
    Array.from({ length: options.connections }, async () => {
      for (let now = performance.now(); now < end; now = performance.now()) {
        const work = options.next();
        if (!work) return;
        await work();
        times.push(performance.now() - now);
      }
    }),
  );
  const elapsed = (performance.now() - began) / 1_000;
  times.sort((a, b) => a - b);
  const [p50Ms, p99Ms] = [quantileOf(times, 0.5), quantileOf(times, 0.99)];
  return { count: times.length, perSecond: times.length / elapsed, p50Ms, p99Ms };
}

/** @param sorted in ascending order */
export function quantileOf(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
