// Options of `startStack`, and the handle of a running stack.
import type { StackSettings, StackShape } from "./settings.ts";
import type { StackInfo } from "./stack-file.ts";

/** See StackSettings for the defaults of `npm start`. */
export interface StackOptions extends Omit<StackSettings, "natsNamespace" | "shape"> {
  natsNamespace?: string;
  /** Default: `separate`. */
  shape?: StackShape;
  /** True: prints nothing. */
  quiet?: boolean;
  /** Called for each warning or error that a process logs; absent: only the logs have them. */
  warn?: (line: string) => void;
  /** Added to the environment of every process. */
  env?: Record<string, string>;
  /**
   * Environment of one process, which overrides the rest; its NODE_OPTIONS are added. With one process it is called for
   * each part by its name, and for the process as `one`.
   */
  envOf?: (name: string, set: Readonly<Record<string, string>>) => Record<string, string>;
  /** Replicas of each event stream; default 1. */
  streamReplicas?: number;
  /** The given NATS server has accounts for this stack's identities. */
  natsKnowsUs?: boolean;
  /** False: the stack's PostgreSQL does not wait for the disk; for tests. */
  durable?: boolean;
  /** False: the stack does not keep the event loop alive. */
  keepsParentAlive?: boolean;
  /** Aborts a start before its next step. */
  signal?: AbortSignal;
}

/** All options resolved. */
export type WantedStack = StackOptions & StackSettings;

/** Parts are `postgres`, `nats` and the processes by name. */
export interface RunningStack {
  /** Content of stack.json; `pids` follows restarts. */
  stack: StackInfo;
  /** Starts the demo shop; resolves when it serves and `stack` has its address. */
  openShop(): Promise<void>;
  /** Starts both consoles and the mailbox; `stack` then has their addresses and the first invitations. */
  openConsoles(): Promise<void>;
  /** Stops every part and releases the state directory. */
  stop(): Promise<void>;
  /** Stops parts until `resume`. */
  halt(...names: string[]): Promise<void>;
  /** Starts a halted part again. */
  resume(name: string): Promise<void>;
  /** Stops a part in order and starts it again. */
  restart(name: string): Promise<void>;
  /** Kills a part with SIGKILL; resolves when its successor is ready. */
  kill9(name: string): Promise<void>;
}
