// The simulator's failure codes in the words of docs/contract.md §5; those that are the same are not listed.
import type { FailureNames } from "../../rules/failure-code.ts";

export const simulatorFailureNames: FailureNames = {
  blocked_high_risk: "blocked",
  canceled: "canceled_by_buyer",
  debit_returned: "returned",
};
