// The metrics of a process for Prometheus, and of each of its parts apart from the others': a metric is declared once,
// in a module, and counted by whoever's work it is. What it began with when its module was loaded, every part begins
// with.
import {
  type CounterConfiguration,
  collectDefaultMetrics,
  type GaugeConfiguration,
  type HistogramConfiguration,
  type LabelValues,
  Counter as PromCounter,
  Gauge as PromGauge,
  Histogram as PromHistogram,
  Registry,
  register,
} from "prom-client";
import { currentPart, ownState } from "./part.ts";

interface Declared {
  /** Who declared it; undefined: everybody has it. */
  readonly part: string | undefined;
  /** Makes the caller's own, if it is not there yet. */
  readonly begin: () => void;
}

const declared: Declared[] = [];
let declaring: string | undefined;
let isFirst = true;
const registry = ownState(() => {
  const chosen = isFirst ? register : new Registry();
  isFirst = false;
  return chosen;
});

/** Loads modules whose metrics are of this part alone. One at a time, and nothing else is loaded meanwhile. */
export async function declaredBy<T>(part: string, load: () => Promise<T>): Promise<T> {
  declaring = part;
  try {
    return await load();
  } finally {
    declaring = undefined;
  }
}

// How often the event loop's lag is looked at, which it counts in; each look wakes the process.
const lagEveryMs = 50;

/** What the process, or the part, tells Prometheus: its own, and with `ofMachine` what Node knows of the process. */
export function ownMetrics(options: { ofMachine: boolean }): { contentType: string; text(): Promise<string> } {
  const own = registry();
  const part = currentPart();
  for (const each of declared) if (part && (each.part ?? part.name) === part.name) each.begin();
  if (options.ofMachine) collectDefaultMetrics({ register: own, eventLoopMonitoringPrecision: lagEveryMs });
  return { contentType: own.contentType, text: () => own.metrics() };
}

/** @param make one more of the metric in the registry. @returns what answers the caller's own */
function declare<M extends object>(make: (registers: Registry[]) => M): () => M {
  const own = ownState(() => make([registry()]));
  declared.push({ part: declaring, begin: own });
  return own;
}

export class Counter<L extends string> {
  readonly #own: () => PromCounter<L>;
  /** What was counted as 0 while modules were loaded, so that a first step counts. */
  readonly #told: LabelValues<L>[] = [];

  constructor(config: CounterConfiguration<L>) {
    this.#own = declare((registers) => {
      const made = new PromCounter<L>({ ...config, registers });
      for (const labels of this.#told) made.inc(labels, 0);
      return made;
    });
  }

  inc(labels: LabelValues<L> | number = {}, value = 1): void {
    const [named, step] = typeof labels === "number" ? [{}, labels] : [labels, value];
    if (step === 0 && currentPart() === undefined) this.#told.push(named);
    this.#own().inc(named, step);
  }

  get(): ReturnType<PromCounter<L>["get"]> {
    return this.#own().get();
  }
}

export class Gauge<L extends string> {
  readonly #own: () => PromGauge<L>;

  constructor(config: GaugeConfiguration<L>) {
    this.#own = declare((registers) => new PromGauge<L>({ ...config, registers }));
  }

  set(labels: LabelValues<L> | number, value?: number): void {
    if (typeof labels === "number") this.#own().set(labels);
    else this.#own().set(labels, value ?? 0);
  }

  inc(labels: LabelValues<L>, value: number): void {
    this.#own().inc(labels, value);
  }

  reset(): void {
    this.#own().reset();
  }
}

export class Histogram<L extends string> {
  readonly #own: () => PromHistogram<L>;

  constructor(config: HistogramConfiguration<L>) {
    this.#own = declare((registers) => new PromHistogram<L>({ ...config, registers }));
  }

  observe(labels: LabelValues<L> | number, value?: number): void {
    if (typeof labels === "number") this.#own().observe(labels);
    else this.#own().observe(labels, value ?? 0);
  }

  get(): ReturnType<PromHistogram<L>["get"]> {
    return this.#own().get();
  }
}
