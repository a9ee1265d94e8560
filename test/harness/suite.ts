// A test file's suite: uvu with time limits, hooks whose failure fails the tests, and a check for open handles at the
// end. (uvu alone passes a file whose `before` threw, and waits for a hanging test without end.)
import { ChildProcess } from "node:child_process";
import { Server, Socket } from "node:net";
import { type Test, suite as uvuSuite } from "uvu";

type Body = () => unknown;

/** Limits of one test; milliseconds. */
export interface TestLimits {
  timeoutMs?: number;
}

/** Collects the tests of one subject. */
export interface Suite {
  /** @param name the guarantee that the test proves, as a sentence */
  (name: string, body: Body, limits?: TestLimits): void;
  /** Leaves a test out; the closing line of the run counts it. @param reason printed */
  skip(name: string, reason: string): void;
  /** Runs this test alone, while working on it; refused in CI. */
  only(name: string, body: Body, limits?: TestLimits): void;
  before(body: Body): void;
  after(body: Body): void;
  beforeEach(body: Body): void;
  afterEach(body: Body): void;
  /** Last line of each suite. */
  run(): void;
}

// A flow through six processes takes under a second; longer than the limit of `eventually`, whose error has the cause.
const testMsDefault = 45_000;
const hookMsDefault = 60_000; // a hook may start servers
/** After its last test a file has this long to close what it opened; then the open handle is a failure. */
const leakMs = 5_000;

/** Begins a suite. */
export function suite(name: string, limits: TestLimits & { hookTimeoutMs?: number } = {}): Suite {
  const tests: Test = uvuSuite(name);
  tests.before(pauseLeakCheck); // before the suite's own hooks, which may take long
  let count = 0;
  let skipped = 0;
  const failed: { hook?: Error } = {};
  const guarded = (body: Body, own?: TestLimits) => async () => {
    if (failed.hook) throw new Error("a hook of this suite failed", { cause: failed.hook });
    await bounded("the test", own?.timeoutMs ?? limits.timeoutMs ?? testMsDefault, body);
  };
  const hook = (label: string, body: Body) => async () => {
    if (skipped === count) return; // a browser that is not there cannot be prepared
    try {
      await bounded(label, limits.hookTimeoutMs ?? hookMsDefault, body);
    } catch (error) {
      failed.hook ??= asError(error);
      hookFailures++;
      console.error(`\n[${name}] ${label} failed:`, error);
    }
  };
  const add = (testName: string, body: Body, own?: TestLimits) => {
    count++;
    tests(testName, guarded(body, own));
  };
  return Object.assign(add, {
    skip(testName: string, reason: string) {
      count++;
      skipped++;
      console.log(`  skipped: ${testName} (${reason})`);
      tests.skip(testName);
    },
    only(testName: string, body: Body, own?: TestLimits) {
      if (process.env.CI) throw new Error(`"${testName}" is marked only`);
      count++;
      tests.only(testName, guarded(body, own));
    },
    before: (body: Body) => tests.before(hook("before", body)),
    after: (body: Body) => tests.after(hook("after", body)),
    beforeEach: (body: Body) => tests.before.each(hook("beforeEach", body)),
    afterEach: (body: Body) => tests.after.each(hook("afterEach", body)),
    run() {
      if (count === 0) throw new Error(`suite ${name} has no tests`);
      tests.after(startLeakCheck);
      tests.run();
    },
  });
}

const stops = new WeakMap<Suite, (() => unknown)[]>();

/**
 * Starts what the tests of a suite share, before its first test, and stops it after the last one, latest first.
 * @param start its result is usable within hooks and tests
 * @param stop by default the result's `stop`, `close`, `end` or `drop`
 */
export function fixture<T extends object>(
  test: Suite,
  start: () => T | Promise<T>,
  stop: (started: T) => unknown = stopByName,
): T {
  let started: T | undefined;
  const current = () => {
    if (started === undefined) throw new Error("the fixture is used before the suite has started it");
    return started;
  };
  if (!stops.has(test)) {
    const own: (() => unknown)[] = [];
    stops.set(test, own);
    test.after(async () => {
      for (const each of own.toReversed()) await each();
    });
  }
  test.before(async () => {
    started = await start();
  });
  stops.get(test)?.push(async () => started && (await stop(started)));
  // Methods are bound, since those of classes with private fields refuse the proxy as their `this`.
  return new Proxy({} as T, {
    get: (_, name) => {
      const value: unknown = Reflect.get(current(), name);
      return typeof value === "function" ? value.bind(current()) : value;
    },
    set: (_, name, value) => Reflect.set(current(), name, value),
    has: (_, name) => Reflect.has(current(), name),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_, name) => {
      const descriptor = Reflect.getOwnPropertyDescriptor(current(), name);
      return descriptor && { ...descriptor, configurable: true };
    },
  });
}

function stopByName(started: object): unknown {
  for (const name of ["stop", "close", "end", "drop"]) {
    const stop: unknown = Reflect.get(started, name);
    if (typeof stop === "function") return stop.call(started);
  }
  return undefined;
}

/** Runs the body within the limit. The timer also keeps the process alive, so that a test that never settles fails. */
async function bounded(what: string, ms: number, body: Body): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took more than ${ms} ms`)), ms);
  });
  try {
    await Promise.race([body(), late]);
  } catch (error) {
    throw asError(error); // uvu cannot print anything else
  } finally {
    clearTimeout(timer);
  }
}

/** The same error; its causes go to the terminal, since uvu shows the outermost message only. */
function asError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error.cause !== undefined) console.error("\ncause:", error.cause);
  return error;
}

const ends = new Set<() => Promise<void>>();

/** Ends what the files of a process share: after the last of them, or after the suite of a file that runs alone. */
export function atEndOfFiles(test: Suite, end: () => Promise<void>): void {
  if ("UVU_DEFER" in globalThis) ends.add(end);
  else test.after(end);
}

/** For the runner, after the last file. */
export async function endShared(): Promise<void> {
  for (const end of ends) await end();
}

let hookFailures = 0;

/** How many hooks have failed since the last call: a file whose tests all passed fails by one. */
export function takeHookFailures(): number {
  const failures = hookFailures;
  hookFailures = 0;
  return failures;
}

process.once("exit", () => {
  if (hookFailures > 0) process.exitCode = 1;
});

let leakTimer: NodeJS.Timeout | undefined;

/** While something runs, what is open is in use. */
export function pauseLeakCheck(): void {
  clearTimeout(leakTimer);
}

/** From now on what stays open is a failure. */
export function startLeakCheck(): void {
  leakTimer = setTimeout(() => {
    console.error(`\nstill open ${leakMs / 1000} s after the last test:\n  ${openHandles().join("\n  ")}`);
    process.exit(1);
  }, leakMs).unref();
}

process.once("beforeExit", pauseLeakCheck); // nothing is open: what runs now is orderly stopping

/**
 * A text for each open handle, and the names of what Node cannot describe, such as timers. Node lists handles only in
 * an internal call, which tests may use and the product may not.
 */
function openHandles(): string[] {
  const list: unknown = Reflect.get(process, "_getActiveHandles");
  const handles: unknown = typeof list === "function" ? list.call(process) : [];
  return [...process.getActiveResourcesInfo(), ...(Array.isArray(handles) ? handles.map(described) : [])];
}

function described(handle: unknown): string {
  if (handle instanceof Socket) {
    if (handle === process.stdout || handle === process.stderr) return "own output";
    const state = `${handle.readyState}${handle.connecting ? ", connecting" : ""}`;
    if (handle.remotePort === undefined && handle.localPort === undefined) return `pipe (${state})`;
    const ends = `${handle.localAddress}:${handle.localPort} to ${handle.remoteAddress}:${handle.remotePort}`;
    return `socket ${ends} (${state}, read ${handle.bytesRead}, written ${handle.bytesWritten} bytes)`;
  }
  if (handle instanceof Server) return `server on ${JSON.stringify(handle.address())}`;
  if (handle instanceof ChildProcess) return `child ${handle.pid} (${handle.spawnargs.slice(0, 3).join(" ")})`;
  return handle?.constructor?.name ?? typeof handle;
}
