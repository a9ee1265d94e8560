// A wrong clock: preloaded into a process by NODE_OPTIONS=--import, it shifts Date by the milliseconds in a small file,
// as a stepped system clock does. performance.now() and timers are monotonic and unchanged. Without the file it does
// nothing.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** How soon a running process notices a step, milliseconds. */
export const noticedWithinMs = 100;

/** The wrong clocks of several processes. */
export interface FalseClocks<Name extends string = string> {
  readonly names: readonly Name[];
  /** Environment of a process whose clock can be stepped. */
  environmentOf(name: string): Record<string, string>;
  /**
   * From now on this process's clock is off by so much; negative: behind. A successor of the process starts with it.
   */
  step(name: Name, offsetMs: number): void;
  offsetOf(name: Name): number;
  /** All of them are right again. */
  mend(): void;
}

/** @param dir holds a file for each of the processes */
export function falseClocks<Name extends string>(dir: string, names: readonly Name[]): FalseClocks<Name> {
  const offsets = new Map<string, number>();
  const fileOf = (name: string) => join(dir, `clock-${name}`);
  const step = (name: Name, offsetMs: number) => {
    offsets.set(name, offsetMs);
    writeFileSync(fileOf(name), String(Math.round(offsetMs)));
  };
  const mend = () => {
    for (const name of names) step(name, 0);
  };
  mend();
  const isOurs = (name: string): name is Name => names.some((own) => own === name);
  return {
    names,
    environmentOf: (name) =>
      isOurs(name) ? { FALSE_CLOCK_FILE: fileOf(name), NODE_OPTIONS: `--import=${import.meta.url}` } : {},
    step,
    offsetOf: (name) => offsets.get(name) ?? 0,
    mend,
  };
}

function replaceDate(file: string): void {
  const True = Date;
  let offsetMs = readOffset(file, 0);
  setInterval(() => (offsetMs = readOffset(file, offsetMs)), noticedWithinMs).unref();
  const now = () => True.now() + offsetMs;
  const False: DateConstructor = new Proxy(True, {
    construct: (target, args, caller) =>
      Reflect.construct(target, args.length === 0 ? [now()] : args, caller === False ? target : caller),
    apply: () => new True(now()).toString(),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
  True.prototype.constructor = False;
  globalThis.Date = False;
}

/** @param known what holds while the file is half written */
function readOffset(file: string, known: number): number {
  try {
    const text = readFileSync(file, "utf8");
    return /^-?\d+$/.test(text) ? Number(text) : known;
  } catch {
    return known;
  }
}

if (process.env.FALSE_CLOCK_FILE) replaceDate(process.env.FALSE_CLOCK_FILE);
