// Chance that can be repeated: the same seed draws the same numbers (mulberry32).

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** 0 up to 1, without 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number from min to max, both included. */
  int(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  /** True this often, 0…1. */
  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Draws one of the entries by weight. */
  pick<T>(weighted: readonly (readonly [T, number])[]): T {
    const total = weighted.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.next() * total;
    for (const [value, weight] of weighted) {
      left -= weight;
      if (left < 0) return value;
    }
    const last = weighted.at(-1);
    if (!last) throw new RangeError("nothing to pick from");
    return last[0];
  }
}
