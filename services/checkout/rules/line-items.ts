// What a session sells, line by line (docs/contract.md §4). The form of each line is checked at the door; together they
// are exactly what is paid. Pure.
import { entryName, type Violation } from "#platform/values/failure.ts";

export interface LineItem {
  readonly name: string;
  readonly quantity: number;
  /** Of the whole line, minor units; negative for a discount. */
  readonly amount: bigint;
}

/** @param amount what the session asks for. No lines are right: the merchant does not say. */
export function lineItemViolations(lines: readonly LineItem[], amount: bigint): Violation[] {
  if (lines.length === 0) return [];
  const found: Violation[] = [];
  for (const [index, { name }] of lines.entries()) {
    // PostgreSQL's JSON holds every character but this one.
    const field = `${entryName("line_items", index)}.name`;
    if (name.includes("\0")) found.push({ field, problem: "must not contain NUL" });
  }
  const sum = lines.reduce((total, line) => total + line.amount, 0n);
  if (sum !== amount) {
    const relation = sum > amount ? "now they are more" : "now they are less";
    found.push({ field: "line_items", problem: `must sum to amount; ${relation}` });
  }
  return found;
}
