// A phase of the webhook benchmark, and the output of its figures.
import type { Rig } from "./webhook-rig.ts";

export interface Phase {
  /** All phases together, with their stacks, take less than eight minutes at their limits. */
  readonly limitSeconds: number;
  /** Settings of the service that differ from the usual ones. */
  readonly serviceEnv: Readonly<Record<string, string>>;
  readonly run: (rig: Rig, report: Report) => Promise<void>;
}

export interface Report {
  /** A line of the table. */
  row(what: string, value: string): void;
  /** Prints the phase's progress. */
  progress(text: string): void;
  /** The phase's limit; loops end with it. */
  readonly deadline: AbortSignal;
  /** How much of the usual amount is to be done, 0 to 1. */
  readonly share: number;
}
