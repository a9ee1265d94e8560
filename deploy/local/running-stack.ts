// What a caller of startStack chooses, and what it can do with the stack that it gets.
import type { StackSettings, StackShape } from "./settings.ts";
import type { StackInfo } from "./stack-file.ts";

/** What a stack is started with; see StackSettings for the defaults of `npm start`. */
export interface StackOptions extends Omit<StackSettings, "natsNamespace" | "shape"> {
  natsNamespace?: string;
  /** By default each process is one of its own. */
  shape?: StackShape;
  /** True: nothing is written to the terminal. */
  quiet?: boolean;
  /** Shown each warning or error that a process logs; absent: they stand in the logs alone. */
  warn?: (line: string) => void;
  /** Set for every process besides what the stack sets. */
  env?: Record<string, string>;
  /**
   * Set for one process over all of this, by what the stack sets; its NODE_OPTIONS are added to those that the process
   * has. Where the parts share a process, each is asked for by its name, and their process as `one`.
   */
  envOf?: (name: string, set: Readonly<Record<string, string>>) => Record<string, string>;
  /** Copies of each event stream; default 1. */
  streamReplicas?: number;
  /** The given NATS server has the accounts of this stack's identities. */
  natsKnowsUs?: boolean;
  /** False: the stack's own PostgreSQL does not wait for the disk; for tests that lose nothing by it. */
  durable?: boolean;
  /** False: the stack does not keep the event loop alive. */
  keepsParentAlive?: boolean;
  /** Ends a start that is under way, before its next step. */
  signal?: AbortSignal;
}

/** The same with nothing left open. */
export type WantedStack = StackOptions & StackSettings;

/** A stack that runs. Parts are `postgres`, `nats` and the processes by their names. */
export interface RunningStack {
  /** As in stack.json; `pids` follows the restarts. */
  stack: StackInfo;
  /** Starts the demo shop, which `npm start` has; resolves when it is open and `stack` names its address. */
  openShop(): Promise<void>;
  /** Starts both consoles and the mailbox, likewise; `stack` then names their addresses, and the first invitations. */
  openConsoles(): Promise<void>;
  /** Stops every part and frees the state directory. */
  stop(): Promise<void>;
  /** Stops parts and leaves them stopped. */
  halt(...names: string[]): Promise<void>;
  /** Starts a halted part again. */
  resume(name: string): Promise<void>;
  /** Stops a part in order and starts it again. */
  restart(name: string): Promise<void>;
  /** Kills a part with SIGKILL; resolves when its successor is ready. */
  kill9(name: string): Promise<void>;
}
