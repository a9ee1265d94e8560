// Evidence of disputes as merchants send it (docs/contract.md §5).
import { type Static, Type } from "typebox";
import type { evidenceFiles, evidenceTexts } from "../../services/public-json/dispute.ts";
import { idSchema, jsonComponent } from "../../services/public-json/field.ts";
import { displayText, notBlank } from "../http/display-text.ts";
import { strict } from "../operation.ts";

// Payments trims texts and refuses empty ones; the pattern documents it.
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
  product_description: text(long, "Description of the product or service.", "One lemon tree, 120 cm, in a pot."),
  customer_name: text(line, "The customer's name.", "Zoë Miller"),
  customer_email_address: text(line, "The customer's e-mail address.", "buyer@example.com"),
  customer_purchase_ip: text(line, "The IP address that the customer bought from.", "203.0.113.7"),
  billing_address: text(address, "The customer's billing address.", "1 Lemon Lane, 10115 Berlin, DE"),
  service_date: text(line, "Date of the service, as free text.", "2025-11-03"),
  shipping_carrier: text(line, "The carrier.", "DHL"),
  shipping_tracking_number: text(line, "The carrier's tracking number.", "00340434161094042557"),
  shipping_date: text(line, "Shipping date, as free text.", "2025-11-04"),
  shipping_address: text(address, "The shipping address.", "1 Lemon Lane, 10115 Berlin, DE"),
  refund_policy: text(
    long,
    "The refund policy, and how it was shown to the customer before the purchase.",
    "Within 30 days, as the order page states above its button.",
  ),
  refund_refusal_explanation: text(
    long,
    "Why the customer is not entitled to a refund.",
    "The tree was never returned.",
  ),
  cancellation_policy: text(
    long,
    "The cancellation policy, and how it was shown to the customer before the purchase.",
    "At any time to the end of the month, as the order page states above its button.",
  ),
  cancellation_rebuttal: text(long, "Why the subscription was not canceled.", "It was not canceled before November 1."),
  duplicate_charge_explanation: text(
    long,
    "How this charge differs from the one that it appears to duplicate.",
    "Two orders, 1042 and 1043, of one tree each.",
  ),
  access_activity_log: text(
    long,
    "Log lines that show the customer's use of the product or service.",
    "2025-11-03T09:12:44Z 203.0.113.7 signed in",
  ),
  uncategorized_text: text(
    long,
    "Other evidence. In the sandbox `winning_evidence` wins the dispute and `losing_evidence` loses it.",
    "winning_evidence",
  ),
} satisfies Record<(typeof evidenceTexts)[number], unknown>;
const files = {
  receipt_file: file("The customer's receipt."),
  customer_communication_file: file("Communication with the customer."),
  customer_signature_file: file("The customer's signature."),
  shipping_documentation_file: file("Proof that it was shipped to the customer."),
  service_documentation_file: file("Proof that the service was provided."),
  refund_policy_file: file("The refund policy as shown to the customer."),
  cancellation_policy_file: file("The cancellation policy as shown to the customer."),
  uncategorized_file: file("Other evidence."),
} satisfies Record<(typeof evidenceFiles)[number], unknown>;

export const NewEvidence = jsonComponent(
  "NewEvidence",
  Type.Object({ ...texts, ...files }, { minProperties: 1, ...strict }),
);

export function splitEvidence(body: Static<typeof NewEvidence>) {
  const entries = Object.entries(body).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return {
    texts: Object.fromEntries(entries.filter(([name]) => name in texts)),
    files: Object.fromEntries(entries.filter(([name]) => name in files)),
  };
}
