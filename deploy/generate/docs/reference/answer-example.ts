// Example responses, from the first example of each field. `stories` omits or overrides fields that would contradict
// each other. A test checks every example against its schema.
import { type Members, membersOf } from "#platform/values/unchecked.ts";
import { textsOf } from "../../clients/shape.ts";
import { referredName, resolveSchema } from "./api-operation.ts";

// Payments with refunds have 2 levels; this only guards against recursive schemas.
const depthMax = 6;

interface Story {
  readonly leaveOut?: readonly string[];
  readonly overrides?: Members;
}

const paidAt = "2025-11-21T08:30:04.000Z";
const paidCard = { brand: "visa", last4: "4242", funding: "credit" };

/** By the component's name. */
const stories: Readonly<Record<string, Story>> = {
  Payment: {
    leaveOut: ["failed_at", "failure", "dispute", "capture_before"],
    overrides: { refunds: [], attempts: [{ outcome: "succeeded", card: paidCard, created_at: paidAt }] },
  },
  CheckoutSession: { leaveOut: ["line_items"], overrides: { status: "completed", payment_status: "succeeded" } },
  Checkout: { leaveOut: ["payment_id", "payment_status", "receipt_url"] },
  Render: {
    leaveOut: [
      ...["publishable_key", "script_url", "script_integrity", "style_url", "style_integrity", "options"],
      "redirect_url",
    ],
    overrides: { frame_url: "https://processor.example/fields/pi_…", client_secret: "pi_…_secret_…" },
  },
  Refund: { leaveOut: ["failure_code", "failure_message"] },
  RefundItem: { leaveOut: ["failure_code", "failure_message"] },
  Dispute: { leaveOut: ["outcome"] },
  DisputeItem: { leaveOut: ["outcome", "acceptance"] },
  DisputeRecord: { leaveOut: ["outcome", "acceptance"] },
  WebhookDelivery: { leaveOut: ["last_error", "next_attempt_at"] },
  PaymentWebhookDelivery: { leaveOut: ["last_error", "next_attempt_at"] },
  WebhookDeliveryWithAttempts: { leaveOut: ["last_error", "next_attempt_at"] },
  DeliveryAttempt: { leaveOut: ["error_code"], overrides: { status_code: 200 } },
  ApiRequest: { leaveOut: ["error_code"] },
  Application: { leaveOut: ["merchant_id"] },
};

/** A response's example. @param schema of the document */
export function answerExample(document: Members, schema: Members, depth = 0): unknown {
  const name = referredName(schema) ?? "";
  const whole = resolveSchema(document, schema);
  if (Array.isArray(whole.examples)) return whole.examples[0];
  if ("const" in whole) return whole.const;
  if (Array.isArray(whole.enum)) return whole.enum[0];
  const type = [whole.type].flat()[0];
  if (type === "array") return [answerExample(document, membersOf(whole.items), depth + 1)];
  if (type === "boolean") return true;
  if (type !== "object") return undefined;
  if (depth > depthMax) throw new Error(`${name}: too deep for an example`);
  const { leaveOut = [], overrides = {} } = stories[name] ?? {};
  const required = textsOf(whole.required);
  const fields = Object.entries(membersOf(whole.properties)).flatMap(([field, inner]) => {
    if (field in overrides) return [[field, overrides[field]] as const];
    if (leaveOut.includes(field)) return [];
    const example = answerExample(document, membersOf(inner), depth + 1);
    // An optional text field without an example adds nothing and is omitted.
    if (example === undefined) return required.includes(field) ? [[field, "…"] as const] : [];
    return [[field, example] as const];
  });
  return Object.fromEntries(fields);
}
