// The options of proofs and benchmarks: numbers within a range, and words.
import { endWithUsageError, readOptions } from "../../deploy/local/options.ts";

export interface NumberRange {
  readonly fallback: number;
  readonly least: number;
  readonly most: number;
  /** Fractions too. */
  readonly isFraction?: true;
}

/** Of decisions; by default one by chance. */
export const seedRange = (): NumberRange => ({
  fallback: Math.floor(Math.random() * 1_000_000),
  least: 0,
  most: Number.MAX_SAFE_INTEGER,
});

/** Exits with a message when a number is out of its range. @param words names of the other options */
export function optionsOf<Name extends string, Word extends string = never>(
  ranges: Readonly<Record<Name, NumberRange>>,
  ...words: Word[]
): Record<Name, number> & Partial<Record<Word, string>> {
  const given = readOptions<Name | Word>(...(Object.keys(ranges) as Name[]), ...words);
  const found: Record<string, number | string> = Object.fromEntries(given);
  for (const [name, range] of Object.entries(ranges) as [Name, NumberRange][]) {
    const { fallback, least, most, isFraction = false } = range;
    const value = Number(given.get(name) ?? fallback);
    if (!(value >= least && value <= most && (isFraction || Number.isInteger(value))))
      endWithUsageError(`--${name} takes a ${isFraction ? "" : "whole "}number from ${least} to ${most}`);
    found[name] = value;
  }
  return found as Record<Name, number> & Partial<Record<Word, string>>;
}
