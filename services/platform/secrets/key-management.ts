// The port to whoever keeps the key around our keys, so that these can be given wrapped: what it does, how its refusals
// are told, and how often a call is tried. Keys and what wraps them are never told.
import { setTimeout as pause } from "node:timers/promises";

/** Keeps the key around our keys. Every call is safe to repeat. */
export interface KeyManagement {
  /** The text stands for the key where it is configured. */
  wrap(key: Buffer): Promise<string>;
  unwrap(wrapped: string): Promise<Buffer>;
  /** The same key under the newest version of the key around it; the key itself is not seen. */
  rewrap(wrapped: string): Promise<string>;
  close(): Promise<void>;
}

/**
 * What became of a call: whether the same one can do better later, and what to tell, without anything that was sent or
 * answered.
 */
export class KeyManagementError extends Error {
  override name = "KeyManagementError";
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super(message);
    this.mayPass = mayPass;
  }
}

/** Everything is in the environment, so that there is nothing to open. */
export const environment: KeyManagement = {
  wrap: () => refuse(),
  unwrap: () => refuse(),
  rewrap: () => refuse(),
  close: async () => {},
};

async function refuse(): Promise<never> {
  throw new KeyManagementError("KMS=environment wraps and opens nothing", false);
}

// A server that restarts or elects a leader is back within seconds; past these the supervisor should see the process
// fail.
const triesMax = 5;
const pauseMs = 500;

/** @param firstPauseMs the pauses after it are each twice as long */
export async function tryAgain<T>(call: () => Promise<T>, firstPauseMs = pauseMs): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries === triesMax || !(error instanceof KeyManagementError) || !error.mayPass) throw error;
      await pause(firstPauseMs * 2 ** (tries - 1));
    }
  }
}
