// A small file that may change at runtime, such as a rotated token or a mounted secret. It is checked on access, at
// most once a second; invalid content is reported and the last good content stays in use.
import { readFileSync, statSync } from "node:fs";

// Delay until a change is seen. A check costs microseconds.
const checkEveryMs = 1_000;
// Junk from an unknown caller must not cause a read per call.
const hurryEveryMs = 100;

export class LiveFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  #value: T;
  #seen: string;
  #checkedAt: number;

  /**
   * @param parse throws a short reason ("must …") without repeating the text
   * @throws when the file cannot be read or parsed now
   */
  constructor(path: string, parse: (text: string) => T) {
    this.#path = path;
    this.#parse = parse;
    this.#seen = this.#stamp();
    this.#checkedAt = performance.now();
    this.#value = parse(this.#read());
  }

  /** Why the newest content is not used; undefined if it is. */
  problem: string | undefined;

  get value(): T {
    if (performance.now() - this.#checkedAt > checkEveryMs) this.#check(false);
    return this.#value;
  }

  /** Reads the file now, unless it was read a moment ago. */
  refresh(): void {
    if (performance.now() - this.#checkedAt > hurryEveryMs) this.#check(true);
  }

  #check(read: boolean): void {
    this.#checkedAt = performance.now();
    try {
      const stamp = this.#stamp();
      if (!read && stamp === this.#seen) return;
      this.#value = this.#parse(this.#read());
      this.#seen = stamp;
      this.problem = undefined;
    } catch (error) {
      this.problem = `${this.#path} ${error instanceof Error ? error.message : "cannot be used"}`;
    }
  }

  /** Follows symbolic links: a mounted secret changes by swapping one. */
  #stamp(): string {
    try {
      const { ino, mtimeMs, size } = statSync(this.#path);
      return `${ino}:${mtimeMs}:${size}`;
    } catch {
      throw new Error("must name a file that can be read");
    }
  }

  #read(): string {
    try {
      return readFileSync(this.#path, "utf8");
    } catch {
      throw new Error("must name a file that can be read");
    }
  }
}
