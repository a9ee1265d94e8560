// Payments with a stored card, without the buyer. Adyen answers with the issuer's decision, and repeats it in a
// webhook.

import Type from "typebox";
import { Compile } from "typebox/compile";
import { clockNow } from "#platform/values/clock.ts";
import { declinedAnswer } from "../answer.ts";
import { type IntentReport, isKnown, type ProcessorAccount, type ProcessorAnswer } from "../connector.ts";
import type { NoticeDetails } from "../notice-log.ts";
import type { PaymentOrder } from "../order.ts";
import { toAdyen } from "./amount.ts";
import { type AdyenClient, commandAnswer } from "./client.ts";
import { answerKinds, foldIntent } from "./intent.ts";
import type { AnswerLog, AnswerNotice } from "./notices.ts";
import { paymentBody } from "./orders.ts";
import { keptData } from "./webhook.ts";

const Answer = Compile(
  Type.Object({
    resultCode: Type.String(),
    pspReference: Type.Optional(Type.String()),
    refusalReason: Type.Optional(Type.String()),
    paymentMethod: Type.Optional(Type.Object({ brand: Type.Optional(Type.String()) })),
    additionalData: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
);

export async function payWithToken(
  client: AdyenClient,
  log: AnswerLog,
  account: ProcessorAccount,
  order: PaymentOrder,
  key: string,
): Promise<ProcessorAnswer<IntentReport>> {
  const value = toAdyen(order.amount, order.currency);
  if (typeof value !== "number") return declinedAnswer("amount_not_accepted", `the amount ${value.refused}`);
  const amount = { currency: order.currency, value };
  const json = paymentBody(account, order, amount);
  if (!/^[^/]+\/[^/]+$/.test(order.paymentMethod))
    return declinedAnswer("unknown_payment_method", "is not a token of Adyen");
  const ordered = { amount: value, currency: order.currency, manual: order.captureMethod === "manual" };
  // A webhook can come before the answer, and does not contain the capture method.
  const at = client.time() ?? clockNow();
  const noted = { kind: answerKinds.order, ref: "", originalRef: "", reference: order.reference, details: ordered };
  await log.keep(account, { ...noted, id: `order:${key}`, at });
  const answer = await log.answerOnce(account, key, async () => {
    const call = { method: "POST", path: "/payments", json, key } as const;
    return commandAnswer(await client.call(account.environment, account.credentials, call), (body) =>
      readAnswer(body, order.reference, ordered),
    );
  });
  if (!isKnown(answer)) return answer;
  const { ref } = answer.value;
  const report = foldIntent(ref, await log.ofReference(account, order.reference));
  if (!report) return { kind: "unknown", cause: new Error("Adyen has not decided the payment") };
  return { kind: "succeeded", value: report };
}

/** Also of a payment that its buyer has authenticated at the bank. */
export function readAnswer(body: unknown, reference: string, ordered: NoticeDetails): AnswerNotice {
  if (!Answer.Check(body)) throw new Error("not a payment of Adyen");
  const { resultCode, pspReference: ref, refusalReason, paymentMethod, additionalData = {} } = body;
  // A payment that asks for its buyer has no id yet, and ends there.
  if (!ref) throw new Error(`the payment has no id: ${resultCode}`);
  const data = Object.fromEntries(
    keptData.flatMap((name) => {
      const field = additionalData[name];
      return typeof field === "string" ? [[name, field] as const] : [];
    }),
  );
  const method = paymentMethod?.brand ? { method: paymentMethod.brand } : {};
  const details = { ...ordered, ...data, ...method };
  const notice = { ref, originalRef: "", reference } as const;
  if (pendingCodes.has(resultCode)) return { ...notice, kind: answerKinds.order, details };
  const success = resultCode === "Authorised";
  const reason = actionCodes.has(resultCode) ? "Authentication required" : (refusalReason ?? resultCode);
  return { ...notice, kind: "AUTHORISATION", details: { ...details, success, ...(success ? {} : { reason }) } };
}

/** A webhook decides; `Error` is no answer of the bank. */
const pendingCodes: ReadonlySet<string> = new Set(["Received", "Pending", "Error"]);
/** The issuer asks for the buyer, who is absent. */
const actionCodes: ReadonlySet<string> = new Set(["RedirectShopper", "IdentifyShopper", "ChallengeShopper"]);
