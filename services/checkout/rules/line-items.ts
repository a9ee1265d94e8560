// Validates the line items of a session (docs/contract.md §4), whose sum must be the amount. Pure.
import { entryName, type Violation } from "#platform/values/failure.ts";

export interface LineItem {
  readonly name: string;
  readonly quantity: number;
  /** Amount of the line, minor units; negative for a discount. */
  readonly amount: bigint;
}

/** @param lines may be empty @param amount of the session */
export function lineItemViolations(lines: readonly LineItem[], amount: bigint): Violation[] {
  if (lines.length === 0) return [];
  const found: Violation[] = [];
  for (const [index, { name }] of lines.entries()) {
    // PostgreSQL's jsonb cannot store NUL.
    const field = `${entryName("line_items", index)}.name`;
    if (name.includes("\0")) found.push({ field, problem: "must not contain NUL" });
  }
  const sum = lines.reduce((total, line) => total + line.amount, 0n);
  if (sum !== amount) {
    const relation = sum > amount ? "the sum is greater" : "the sum is less";
    found.push({ field: "line_items", problem: `must sum to amount; ${relation}` });
  }
  return found;
}
