// Sends the buyer's receipt again, once for each form that a person sends.
import { asFailure } from "#platform/values/failure.ts";
import type { Payment } from "#proto/payments/v1/payments_pb.ts";
import type { Html } from "../../../../html.ts";
import { idParam } from "../../../http/address.ts";
import { freshKey, onceField, onceOf } from "../../../http/once.ts";
import { merchantForm } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { hiddenField } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";

const action = "payments.note";
const about = "receipt";

export function receiptRoutes(context: ConsoleContext): void {
  const { peers, log } = context;
  merchantForm(context, "/payments/:paymentId/receipt", { action }, async (visit, form) => {
    const { merchantId, environment, base, request } = visit;
    const paymentId = idParam(visit, "paymentId", "payment");
    const { key: requestKey } = onceOf(form, [about, paymentId], []);
    const input = { merchantId, environment, sessionId: paymentId.replace("pay_", "cs_"), requestKey };
    const answer = await peers.checkout.resendReceipt(input).catch((error: unknown) => {
      const failure = asFailure(error);
      if (failure.reason === "NOT_FOUND") throw failure;
      log.warn({ err: failure, request_id: request.call.requestId }, "receipt not sent again");
      return undefined;
    });
    return { go: `${base}/payments/${paymentId}`, done: answer?.queued ? "receipt-sent" : "receipt-not-sent" };
  });
}

/** For a captured payment of a session whose buyer has an e-mail. */
export function receiptForm(visit: MerchantVisit, payment: Payment): Html | string {
  const { id, sessionId, customerEmail, capturedAmount } = payment;
  if (!visit.may(action) || sessionId === "" || customerEmail === "" || capturedAmount === 0n) return "";
  return postForm(visit, {
    action: `${visit.base}/payments/${id}/receipt`,
    fields: [hiddenField(onceField, freshKey(about, id))],
    button: textsOf(visit.language).payment.sendReceipt,
    tone: "secondary",
  });
}
