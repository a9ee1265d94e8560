// SQL put together of conditions with numbered parameters, over a list's table `t`. The texts are few and fixed.
import type { TimeRange } from "./day-range.ts";

/** The values of a statement's `$1…`, in their order. */
export class Params {
  readonly values: unknown[] = [];

  /** @returns the value's place, such as `$3` */
  add(value: unknown): string {
    return `$${this.values.push(value)}`;
  }
}

/** A condition and its values, not numbered yet. */
export class Condition {
  readonly #text: string;
  readonly #values: readonly unknown[];

  /** @param text with a `?` for each value, in their order */
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

  /** Also false where nothing is known of the other. */
  without(other: Condition): Condition {
    return new Condition(`${this.#text} and (${other.#text}) is not true`, ...this.#values, ...other.#values);
  }

  /** Any of them; of none: false. */
  static anyOf(all: readonly Condition[]): Condition {
    const text = all.map((one) => `(${one.#text})`).join(" or ");
    return new Condition(all.length === 0 ? "false" : `(${text})`, ...all.flatMap((one) => one.#values));
  }

  /** The text with its values numbered as the statement's next. */
  in(params: Params): string {
    const values = this.#values.values();
    return this.#text.replaceAll("?", () => params.add(values.next().value));
  }
}

/** Within a range of time, as an index of the column finds it. */
export function inTimeRange(column: string, { from, to }: TimeRange): Condition {
  const since = new Condition(`${column} >= ?`, from);
  return to === "infinity" ? since : since.and(`${column} < ?`, to);
}

/**
 * Begins so, literally, as an index of patterns finds it: by the two ends alone, which takes a quarter less time a hit
 * than a pattern, since that is compared with each of them again.
 * @param indexed what the index holds
 */
export function beginsWith(indexed: string, column: string, beginning: string): Condition {
  const since = new Condition(`${indexed} and ${column} ~>=~ ?`, beginning);
  const end = afterAllThatBegin(beginning);
  return end === undefined ? since : since.and(`${column} ~<~ ?`, end);
}

/** The first text, by its bytes in UTF-8, behind all that begin so; undefined: there is none. */
export function afterAllThatBegin(beginning: string): string | undefined {
  const points = Array.from(beginning, (letter) => letter.codePointAt(0) ?? 0);
  while (points.at(-1) === pointMax) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  // Halves of pairs are no letters of their own.
  const next = last + 1 === 0xd800 ? 0xe000 : last + 1;
  return String.fromCodePoint(...points, next);
}

const pointMax = 0x10ffff;

/** A text that a pattern takes for itself. */
export function literalPattern(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
