// Evidence against a dispute as public JSON: texts, and files that were uploaded before (docs/contract.md §5).
import { type Static, Type } from "typebox";
import { displayText, notBlank } from "../http/display-text.ts";
import { strict } from "../operation.ts";
import { component, idSchema } from "./parts/field.ts";

// Payments leaves blanks around a text away and refuses what is then empty; the pattern tells callers.
const text = (maxLength: number, description: string, example: string) =>
  Type.Optional(
    Type.String({
      format: displayText,
      minLength: 1,
      maxLength,
      pattern: notBlank,
      description,
      examples: [example],
    }),
  );
const file = (description: string) => Type.Optional(idSchema("file", description));
const [line, address, long] = [500, 2_000, 20_000];

const texts = {
  product_description: text(long, "What was sold.", "One lemon tree, 120 cm, in a pot."),
  customer_name: text(line, "The customer's name.", "Zoë Miller"),
  customer_email_address: text(line, "The customer's e-mail address.", "buyer@example.com"),
  customer_purchase_ip: text(line, "The address that the customer bought from.", "203.0.113.7"),
  billing_address: text(address, "The customer's billing address.", "1 Lemon Lane, 10115 Berlin, DE"),
  service_date: text(line, "When the customer got the service, in words.", "2025-11-03"),
  shipping_carrier: text(line, "Who carried it.", "DHL"),
  shipping_tracking_number: text(line, "The carrier's number.", "00340434161094042557"),
  shipping_date: text(line, "When it left, in words.", "2025-11-04"),
  shipping_address: text(address, "Where it went.", "1 Lemon Lane, 10115 Berlin, DE"),
  refund_policy: text(
    long,
    "The refund policy, and how the customer saw it before the purchase.",
    "Within 30 days, as the order page says above its button.",
  ),
  refund_refusal_explanation: text(long, "Why the customer is owed no refund.", "The tree was never sent back."),
  cancellation_policy: text(
    long,
    "The cancellation policy, and how the customer saw it before the purchase.",
    "At any time to the month's end, as the order page says above its button.",
  ),
  cancellation_rebuttal: text(long, "Why the subscription was not canceled.", "Nobody had canceled it by November 1."),
  duplicate_charge_explanation: text(
    long,
    "What tells this charge from the one that it looks like.",
    "Two orders, 1042 and 1043, of one tree each.",
  ),
  access_activity_log: text(
    long,
    "Log lines that show the customer's use of what was sold.",
    "2025-11-03T09:12:44Z 203.0.113.7 signed in",
  ),
  uncategorized_text: text(
    long,
    "Anything else. In the sandbox `winning_evidence` wins the dispute and `losing_evidence` loses it.",
    "winning_evidence",
  ),
};
const files = {
  receipt_file: file("What the customer got as a receipt."),
  customer_communication_file: file("What the customer wrote."),
  customer_signature_file: file("The customer's signature."),
  shipping_documentation_file: file("Proof that it was shipped to the customer."),
  service_documentation_file: file("Proof that the service was given."),
  refund_policy_file: file("The refund policy as the customer saw it."),
  cancellation_policy_file: file("The cancellation policy as the customer saw it."),
  uncategorized_file: file("Anything else."),
};

/** Texts and files as they stand in an answer. */
export const evidenceFields = {
  ...Object.fromEntries(
    Object.keys(texts).map((name) => [name, Type.Optional(Type.String({ description: "As it was sent." }))]),
  ),
  ...Object.fromEntries(Object.keys(files).map((name) => [name, Type.Optional(idSchema("file", "As it was sent."))])),
};

export const NewEvidence = component(
  "NewEvidence",
  Type.Object({ ...texts, ...files }, { minProperties: 1, ...strict }),
);

/** The texts and the files of a body, apart. */
export function splitEvidence(body: Static<typeof NewEvidence>) {
  const entries = Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return {
    texts: Object.fromEntries(entries.filter(([name]) => name in texts)),
    files: Object.fromEntries(entries.filter(([name]) => name in files)),
  };
}
