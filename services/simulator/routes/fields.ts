// Reads members of a request's body or query. A wrong one is a 400 with the field's name, never its value.
import { badField } from "../failure.ts";

export class Fields {
  readonly members: Readonly<Record<string, unknown>>;

  /** @param source a value that is not an object has no members */
  constructor(source: unknown) {
    this.members = { ...(typeof source === "object" && !Array.isArray(source) ? source : {}) };
  }

  text(name: string, max: number, shape?: RegExp): string {
    const value = this.optionalText(name, max, shape);
    if (value === null) throw badField(name, "is required");
    return value;
  }

  /** Absent, null and empty are null. */
  optionalText(name: string, max: number, shape?: RegExp): string | null {
    const value = this.members[name];
    if (value === undefined || value === null || value === "") return null;
    if (typeof value !== "string") throw badField(name, "must be a string");
    // Counts code points, as JSON Schema does.
    if ([...value].length > max) throw badField(name, `must have at most ${max} characters`);
    // PostgreSQL stores neither NUL nor lone surrogates.
    if (value.includes("\0") || !value.isWellFormed()) throw badField(name, "is malformed");
    if (shape && !shape.test(value)) throw badField(name, "is malformed");
    return value;
  }

  integer(name: string, min: number, max: number): number {
    const value = this.optionalInteger(name, min, max);
    if (value === null) throw badField(name, "is required");
    return value;
  }

  optionalInteger(name: string, min: number, max: number): number | null {
    const value = this.members[name];
    if (value === undefined || value === null) return null;
    if (!Number.isSafeInteger(value) || Number(value) < min || Number(value) > max)
      throw badField(name, `must be an integer from ${min} to ${max}`);
    return Number(value);
  }

  optionalList(name: string, max: number): readonly Fields[] | null {
    const value = this.members[name];
    if (value === undefined || value === null) return null;
    if (!Array.isArray(value) || value.length === 0 || value.length > max)
      throw badField(name, `must be a list of 1 to ${max}`);
    return value.map((entry) => new Fields(entry));
  }

  optionalFraction(name: string): number | null {
    const value = this.members[name];
    if (value === undefined || value === null) return null;
    if (typeof value !== "number" || !(value >= 0 && value <= 1)) throw badField(name, "must be a number from 0 to 1");
    return value;
  }

  oneOf<const W extends string>(name: string, words: readonly W[]): W {
    const value = this.optionalOneOf(name, words);
    if (value === null) throw badField(name, "is required");
    return value;
  }

  optionalOneOf<const W extends string>(name: string, words: readonly W[]): W | null {
    const value = this.members[name];
    if (value === undefined || value === null) return null;
    const match = words.find((known) => known === value);
    if (match === undefined) throw badField(name, `must be one of ${words.join(", ")}`);
    return match;
  }

  /** A whole number as text, as in a query. */
  queryInteger(name: string, min: number, max: number, fallback: number): number {
    const text = this.optionalText(name, 10, /^\d+$/);
    if (text === null) return fallback;
    if (Number(text) < min || Number(text) > max) throw badField(name, `must be an integer from ${min} to ${max}`);
    return Number(text);
  }

  /** An RFC 3339 instant. */
  queryTime(name: string): Date | null {
    const text = this.optionalText(name, 40, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/);
    if (text === null) return null;
    const time = new Date(text);
    if (Number.isNaN(time.getTime())) throw badField(name, "is malformed");
    return time;
  }
}
