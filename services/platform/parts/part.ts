// A part: what is a process of its own elsewhere, and here runs in one process with others (deploy/one). What a process
// has once, its clock, its ids, its metrics, its tracer, each part has for itself. Outside of parts there is the
// process's own, and nothing here costs anything.
import { AsyncLocalStorage } from "node:async_hooks";

/** One part of the process. It goes with whatever it starts: calls, timers, sockets, jobs. */
export class Part {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  /** Runs the work, and what it starts, as this part's. */
  run<T>(work: () => T): T {
    return current.run(this, work);
  }
}

const current = new AsyncLocalStorage<Part>();

const scheme = "part:";

/** The address of a part of this process, where what runs elsewhere has `http://host:port`. */
export function addressOfPart(name: string): string {
  return `${scheme}${name}`;
}

/** @returns the part's name; undefined: the address is outside of this process */
export function partAt(url: string): string | undefined {
  return url.startsWith(scheme) ? url.slice(scheme.length) : undefined;
}

/** The part whose work runs now; undefined: the process is not made of parts. */
export function currentPart(): Part | undefined {
  return current.getStore();
}

/** The same function, which will run as part of whatever runs now, whoever calls it. */
export function boundHere<F extends (...args: never[]) => unknown>(work: F): F {
  return AsyncLocalStorage.bind(work);
}

/**
 * State that a process has once and a part for itself.
 * @param begin makes it
 * @returns what answers the caller's own
 */
export function ownState<T extends object>(begin: () => T): () => T {
  const ofProcess = begin();
  const ofParts = new WeakMap<Part, T>();
  return () => {
    const part = current.getStore();
    if (part === undefined) return ofProcess;
    const known = ofParts.get(part);
    if (known !== undefined) return known;
    const begun = begin();
    ofParts.set(part, begun);
    return begun;
  };
}
