// What a command is: its words, its options, and work that answers rows to print.
import type { OperatorPeers } from "./peers.ts";

/** One line of a table; values are shown as text, and kept as they are in JSON. */
export type Row = Readonly<Record<string, string | number | boolean | readonly string[]>>;

/** What a command has to say: rows, and a remark for people (on standard error). */
export interface Answer {
  readonly rows: readonly Row[];
  /** The same for a file or a pipe, printed as it is in place of a table. */
  readonly text?: string;
  readonly remark?: string;
  /** True: what was asked about is not as it should be; exit code 1. */
  readonly isBad?: boolean;
}

export interface Option {
  readonly about: string;
  /** Absent: a switch without a value. */
  readonly value?: string;
  readonly needed?: true;
  readonly multiple?: true;
}

/** The words that came with a command. */
export interface CommandInput {
  /** A word by its name in `args`; empty: one in brackets that was not given. */
  arg(name: string): string;
  /** The option's value; empty: not given. */
  text(name: string): string;
  list(name: string): string[];
  has(name: string): boolean;
}

export interface Command {
  readonly about: string;
  /** Names of the words that follow the command: all needed, but a last one in brackets. */
  readonly args?: readonly string[];
  readonly options?: Readonly<Record<string, Option>>;
  /** It calls no service, and needs no token. */
  readonly isAlone?: true;
  /** @param peers connected when first used */
  readonly run: (peers: OperatorPeers, input: CommandInput) => Promise<Answer>;
}

/** Commands of one noun, by their verb; `""`: what the noun does by itself. */
export type Commands = Readonly<Record<string, Command>>;

/** The caller's own mistake, told in one line; exit code 2. */
export class UsageError extends Error {
  override name = "UsageError";
}
