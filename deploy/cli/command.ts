// The shape of a command: its arguments, its options, and a function that returns rows.
import type { OperatorPeers } from "./peers.ts";

/** One line of a table; JSON keeps the types of the values. */
export type Row = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** Rows, and a remark on standard error for people. */
export interface Answer {
  readonly rows: readonly Row[];
  /** Printed in place of the table, for a file or a pipe. */
  readonly text?: string;
  /** The command wrote to standard output itself. */
  readonly isWritten?: true;
  readonly remark?: string;
  /** True: the check failed; exit code 1. */
  readonly isBad?: boolean;
}

export interface Option {
  readonly about: string;
  /** Absent: a switch without a value. */
  readonly value?: string;
  readonly needed?: true;
  readonly multiple?: true;
}

export interface CommandInput {
  /** An argument by its name in `args`; empty if it is optional and missing. */
  arg(name: string): string;
  /** The option's value; empty if missing. */
  text(name: string): string;
  list(name: string): string[];
  has(name: string): boolean;
}

export interface Command {
  readonly about: string;
  /** Names of the arguments; the last one is optional if it is in brackets. */
  readonly args?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** Calls no service and needs no token. */
  readonly isAlone?: true;
  /** @param peers connected when first used */
  readonly run: (peers: OperatorPeers, input: CommandInput) => Promise<Answer>;
}

/** Commands of one noun by verb; `""`: the noun alone. */
export type Commands = Readonly<Record<string, Command>>;

/** The caller's mistake, printed in one line; exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
