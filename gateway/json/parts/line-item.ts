// A line of what a session sells as public JSON (docs/contract.md §4): what a merchant sends is what it and its buyer
// read.
import { type Static, Type } from "typebox";
import type { LineItem } from "#proto/payments/v1/payments_pb.ts";
import { displayLine } from "../../http/display-text.ts";
import { component, numberOf, textSchema } from "./field.ts";

const amountMax = 99_999_999;

const amount = {
  format: "int64",
  description: "Of the whole line, in minor units; negative for a discount.",
  examples: [1050],
};

/** As a merchant sends it. */
export const LineItemInput = component(
  "NewLineItem",
  Type.Object(
    {
      name: Type.String({ format: displayLine, minLength: 1, maxLength: 200, examples: ["Lemon cookbook"] }),
      quantity: Type.Integer({ minimum: 1, maximum: 9_999, examples: [2] }),
      amount: Type.Integer({ ...amount, minimum: -amountMax, maximum: amountMax }),
    },
    { additionalProperties: false },
  ),
);

export const LineItemJson = component(
  "LineItem",
  Type.Object({
    name: textSchema("What is bought.", "Lemon cookbook"),
    quantity: Type.Integer({ examples: [2] }),
    amount: Type.Integer(amount),
  }),
);

/** The field, or nothing when the merchant did not say what it sells. */
export function presentLines(lines: readonly LineItem[]): { line_items?: Static<typeof LineItemJson>[] } {
  if (lines.length === 0) return {};
  return {
    line_items: lines.map(({ name, quantity, amount }) => ({ name, quantity, amount: numberOf(amount) })),
  };
}
