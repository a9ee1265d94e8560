// Builds SQL from conditions with numbered parameters over a list's table `t`. The texts are few and fixed.
import type { TimeRange } from "./day-range.ts";

/** Values of a statement's `$1…`, in order. */
export class Params {
  readonly values: unknown[] = [];

  /** @returns the parameter, such as `$3` */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** A condition and its values, not numbered yet. */
export class Condition {
  readonly #text: string;
  readonly #values: readonly unknown[];

  /** @param text with a `?` for each value, in order */
  constructor(text: string, ...values: readonly unknown[]) {
    this.#text = text;
    this.#values = values;
  }

  and(text: string, ...values: readonly unknown[]): Condition {
    return new Condition(`${this.#text} and ${text}`, ...this.#values, ...values);
  }

  with(other: Condition): Condition {
    return new Condition(`${this.#text} and ${other.#text}`, ...this.#values, ...other.#values);
  }

  /** Also excludes rows for which `other` is null. */
  without(other: Condition): Condition {
    return new Condition(`${this.#text} and (${other.#text}) is not true`, ...this.#values, ...other.#values);
  }

  /** False for an empty list. */
  static anyOf(all: readonly Condition[]): Condition {
    const text = all.map((one) => `(${one.#text})`).join(" or ");
    return new Condition(all.length === 0 ? "false" : `(${text})`, ...all.flatMap((one) => one.#values));
  }

  /** The text with its values added as the next parameters. */
  in(params: Params): string {
    const values = this.#values.values();
    return this.#text.replaceAll("?", () => params.add(values.next().value));
  }
}

/** A time range that uses an index of the column. */
export function inTimeRange(column: string, { from, to }: TimeRange): Condition {
  const since = new Condition(`${column} >= ?`, from);
  return to === "infinity" ? since : since.and(`${column} < ?`, to);
}

/**
 * A literal prefix match that uses a pattern index by its two bounds. A pattern would be compared with each hit again,
 * a quarter more time.
 * @param indexed the index's predicate
 */
export function beginsWith(indexed: string, column: string, beginning: string): Condition {
  const since = new Condition(`${indexed} and ${column} ~>=~ ?`, beginning);
  const end = afterAllThatBegin(beginning);
  return end === undefined ? since : since.and(`${column} ~<~ ?`, end);
}

/** The first text after all with this prefix, by UTF-8 bytes; or undefined. */
export function afterAllThatBegin(beginning: string): string | undefined {
  const points = Array.from(beginning, (letter) => letter.codePointAt(0) ?? 0);
  while (points.at(-1) === pointMax) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  // Surrogates are not characters of their own.
  const next = last + 1 === 0xd800 ? 0xe000 : last + 1;
  return String.fromCodePoint(...points, next);
}

const pointMax = 0x10ffff;

/** Escapes a text for LIKE. */
export function literalPattern(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
