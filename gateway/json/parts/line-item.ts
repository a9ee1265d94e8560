// Line items of a session as public JSON (docs/contract.md §4); merchant and buyer get them as they were sent.
import { Type } from "typebox";
import { displayLine } from "../../http/display-text.ts";
import { jsonComponent, textSchema } from "./field.ts";

const amountMax = 99_999_999;

const amount = {
  format: "int64",
  description: "Amount of the whole line, minor units; negative for a discount.",
  examples: [1050],
};

export const LineItemInput = jsonComponent(
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

export const LineItemJson = jsonComponent(
  "LineItem",
  Type.Object({
    name: textSchema("Name of the item.", "Lemon cookbook"),
    quantity: Type.Integer({ examples: [2] }),
    amount: Type.Integer(amount),
  }),
);
