// Verifies Adyen's standard webhooks and converts their items to notices. The signature covers eight values only, so
// the sender must also know the password: https://docs.adyen.com/development-resources/webhooks/verify-hmac-signatures
import { createHash, createHmac } from "node:crypto";
import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { sameSecret } from "#platform/secrets/vault.ts";
import { Failure } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ProcessorAccount } from "../connector.ts";
import type { Notice, NoticeDetails } from "../notice-log.ts";

const Text = Type.String({ maxLength: 1_000 });
const Item = Type.Object({
  pspReference: Type.String({ minLength: 1, maxLength: 255 }),
  originalReference: Type.Optional(Type.Union([Text, Type.Null()])),
  merchantReference: Type.Optional(Type.Union([Text, Type.Null()])),
  merchantAccountCode: Text,
  eventCode: Type.String({ minLength: 1, maxLength: 100 }),
  eventDate: Text,
  success: Type.String({ maxLength: 5 }),
  reason: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  paymentMethod: Type.Optional(Type.Union([Text, Type.Null()])),
  amount: Type.Optional(
    Type.Object({
      currency: Type.Optional(Type.Union([Text, Type.Null()])),
      value: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    }),
  ),
  additionalData: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
export type WebhookItem = Static<typeof Item>;

const shape = Compile(
  Type.Object({
    live: Type.String(),
    notificationItems: Type.Array(Type.Object({ NotificationRequestItem: Item }), { minItems: 1, maxItems: 100 }),
  }),
);

/** @throws Failure UNAUTHORIZED (password, signature or account), INVALID_BODY (content). */
export function readItems(
  account: ProcessorAccount,
  body: Uint8Array,
  headers: Readonly<Record<string, string>>,
): readonly WebhookItem[] {
  const { webhook_user: user = "", webhook_password: password = "", hmac_key: keys = "" } = account.credentials;
  const expected = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  if (!sameSecret(headers.authorization ?? "", expected)) throw new Failure("UNAUTHORIZED");
  const parsed = parse(body);
  if (!shape.Check(parsed)) throw new Failure("INVALID_BODY", { cause: new Error("not a webhook of Adyen") });
  const items = parsed.notificationItems.map(({ NotificationRequestItem: item }) => item);
  const isSigned = items.every((item) => keys.split(",").some((key) => isSignedWith(item, key)));
  if (!isSigned) throw new Failure("UNAUTHORIZED");
  if ((parsed.live === "true") !== (account.environment === Environment.LIVE)) {
    throw new Failure("INVALID_BODY", { cause: new Error("a webhook of the other environment") });
  }
  if (items.some((item) => item.merchantAccountCode !== account.externalAccountId)) {
    throw new Failure("INVALID_BODY", { cause: new Error("a webhook of another merchant account") });
  }
  return items;
}

/** @param credentials `hmac_key`: hexadecimal */
function isSignedWith(item: WebhookItem, key: string): boolean {
  const signature = item.additionalData?.hmacSignature;
  if (typeof signature !== "string") return false;
  // Adyen escapes nothing.
  const signed = [
    item.pspReference,
    item.originalReference ?? "",
    item.merchantAccountCode,
    item.merchantReference ?? "",
    item.amount?.value ?? "",
    item.amount?.currency ?? "",
    item.eventCode,
    item.success,
  ].join(":");
  return sameSecret(signature, createHmac("sha256", Buffer.from(key, "hex")).update(signed).digest("base64"));
}

/** The item with the chosen fields of its data. */
export function noticeOf(item: WebhookItem): Notice {
  const { pspReference: ref, eventCode: kind, eventDate, success, reason, amount, additionalData = {} } = item;
  const details: Record<string, string | number | boolean> = { success: success === "true" };
  if (amount?.value != null) details.amount = amount.value;
  if (amount?.currency) details.currency = amount.currency;
  if (reason) details.reason = reason.slice(0, textMax);
  if (item.paymentMethod) details.method = item.paymentMethod;
  for (const name of keptData) {
    const value = additionalData[name];
    if (typeof value === "string" && value !== "") details[name] = value.slice(0, textMax);
  }
  const at = new Date(eventDate);
  if (Number.isNaN(at.getTime())) throw new Failure("INVALID_BODY", { cause: new Error("eventDate is not a time") });
  const originalRef = item.originalReference ?? "";
  const reference = item.merchantReference ?? "";
  const content = [kind, ref, originalRef, reference, at.toISOString(), JSON.stringify(details)];
  const id = createHash("sha256").update(content.join("\n")).digest("base64url");
  return { id, kind, ref, originalRef, reference, at, details: details satisfies NoticeDetails };
}

const textMax = 500;
// https://docs.adyen.com/development-resources/webhooks/additional-settings
export const keptData = [
  "cardSummary",
  "expiryDate",
  "paymentMethodVariant",
  "fundingSource",
  "alias",
  "authCode",
  "avsResult",
  "cvcResult",
  "threeDAuthenticated",
  "threeDOffered",
  "threeDSVersion",
  "fraudRiskLevel",
  "totalFraudScore",
  "modification.action",
  "disputeStatus",
  "defensePeriodEndsAt",
  "chargebackReasonCode",
  "chargebackSchemeCode",
  "tokenization.storedPaymentMethodId",
  "tokenization.shopperReference",
] as const;

function parse(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch (cause) {
    throw new Failure("INVALID_BODY", { cause });
  }
}
