// Which rows of the fault table a run draws, and how often it drew each: a row that is never drawn proves nothing.
import { type Culprit, type FaultName, type FaultRow, faultTable } from "./fault-table.ts";

const rows: readonly FaultRow[] = faultTable;

/** Weight of a row that was never drawn. */
const firstTimes = 10;

export class Drawn {
  readonly #counts = new Map<FaultName, number>();
  readonly #chosen: (row: FaultRow) => boolean;

  /** @param only names of rows or of culprits; empty: every row */
  constructor(only: readonly string[] = []) {
    for (const name of only) {
      if (!rows.some((row) => row.name === name || row.who === name)) throw new RangeError(`no fault "${name}"`);
    }
    this.#chosen = (row) => only.length === 0 || only.includes(row.name) || only.includes(row.who);
  }

  /** Whether this run draws the row at all. */
  may(name: FaultName): boolean {
    return rows.some((row) => row.name === name && this.#chosen(row));
  }

  count(name: FaultName, times = 1): void {
    if (times > 0) this.#counts.set(name, this.countOf(name) + times);
  }

  countOf(name: FaultName): number {
    return this.#counts.get(name) ?? 0;
  }

  /** Whether this run draws the row, and has not yet. */
  awaits(name: FaultName): boolean {
    return this.may(name) && this.countOf(name) === 0;
  }

  /** Weights by which rows that were never drawn come first: a run of minutes would miss the rarest now and then. */
  eager<Name extends FaultName>(weights: readonly (readonly [Name, number])[]): (readonly [Name, number])[] {
    return weights.map(([name, weight]) => [name, this.awaits(name) ? weight * firstTimes : weight] as const);
  }

  get total(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Rows that this kind of run draws by the table, and did not. */
  missing(by: "walk" | "chaos"): FaultName[] {
    return faultTable
      .filter((row) => (row.drawnBy === by || row.drawnBy === "both") && this.#chosen(row))
      .map((row) => row.name)
      .filter((name) => this.countOf(name) === 0);
  }

  /** A line for each culprit: its rows with their counts. */
  lines(by: "walk" | "chaos"): string[] {
    const culprits = new Set<Culprit>(rows.map((row) => row.who));
    return [...culprits].flatMap((who) => {
      const own = faultTable.filter((row) => row.who === who && (row.drawnBy === by || row.drawnBy === "both"));
      const counted = own.map((row) => `${row.name} ${this.countOf(row.name)}`);
      return counted.length === 0 ? [] : [`  ${who.padEnd(17)} ${counted.join(" · ")}`];
    });
  }
}
