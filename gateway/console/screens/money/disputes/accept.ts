// Accepts a dispute, on a page of its own that says what is given up.
import { asFailure } from "#platform/values/failure.ts";
import type { DisputeRecord } from "#proto/payments/v1/disputes_pb.ts";
import { html } from "../../../../docs/html.ts";
import { formFields } from "../../../http/form.ts";
import { onceField, onceKey, onceOf } from "../../../http/once.ts";
import { merchantForm, merchantPage } from "../../../session/routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { disputeTexts } from "../../../texts/money/disputes.ts";
import { hidden, problemSummary } from "../../../view/fields.ts";
import { money } from "../../../view/values.ts";

const action = "disputes.answer";

const refusals = {
  DISPUTE_NOT_ANSWERABLE: "over",
  IDEMPOTENCY_CONFLICT: "busy",
  CONNECTOR_ERROR: "processorNo",
  SERVICE_UNAVAILABLE: "unknown",
} as const;

export function acceptRoutes(
  context: ConsoleContext,
  find: (context: ConsoleContext, visit: MerchantVisit) => Promise<DisputeRecord>,
): void {
  const path = "/disputes/:disputeId/accept";
  merchantPage(context, path, action, async (visit) => acceptPage(visit, await find(context, visit)));
  merchantForm(context, path, { action }, async (visit, form) => {
    const { merchantId, environment, base, language } = visit;
    const record = await find(context, visit);
    const disputeId = record.dispute?.id ?? "";
    const idempotency = onceOf(form, ["accept", disputeId], []);
    try {
      const { dispute } = await context.peers.disputes.acceptDispute({
        merchantId,
        environment,
        disputeId,
        idempotency,
      });
      const done = dispute?.acceptance === "accepted" ? "dispute-accepted" : "acceptance-pending";
      return { go: `${base}/disputes/${disputeId}`, done };
    } catch (error) {
      const text = new Map(Object.entries(refusals)).get(asFailure(error).reason);
      if (!text) throw error;
      return acceptPage(visit, record, disputeTexts[language][text]);
    }
  });
}

function acceptPage(visit: MerchantVisit, { dispute, currency }: DisputeRecord, problem = ""): Page {
  const { language, base, token } = visit;
  const texts = disputeTexts[language];
  const id = dispute?.id ?? "";
  return {
    title: texts.accept,
    status: problem === "" ? 200 : 422,
    body: html`<div class="panel form-panel"><h1>${texts.accept}</h1>${problemSummary(texts.wrong, problem === "" ? [] : [["accept", problem]])}<p>${texts.acceptText}</p>
<form method="post">${hidden(formFields.token, token)}${hidden(onceField, onceKey("accept", id, 0))}
<div class="actions"><button class="button danger" id="accept">${texts.acceptNow(money(language, dispute?.amount ?? 0n, currency))}</button><a href="${base}/disputes/${id}">${texts.back}</a></div></form></div>`,
  };
}
