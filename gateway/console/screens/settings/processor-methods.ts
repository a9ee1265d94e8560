// The payment methods of a processor account: their terms, and those that new payments offer.
import { methodName } from "#platform/values/money.ts";
import type { MethodTerms } from "#proto/payments/v1/payments_pb.ts";
import { type Html, html } from "../../../html.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { choiceField } from "../../view/fields.ts";
import { postForm } from "../../view/forms.ts";
import { htmlTable } from "../../view/table.ts";
import { connectorOf, processorNeeds } from "./processors.ts";

export function processorMethodRoutes(context: ConsoleContext): void {
  merchantPage(context, "/processors/:id/methods", "connectors.read", (visit) => methodsPage(context, visit));
  merchantForm(context, "/processors/:id/methods", processorNeeds, async (visit, form) => {
    const { merchantId, environment, base } = visit;
    const { id: connectorId } = await connectorOf(context, visit);
    const named = { merchantId, environment, connectorId };
    const { methods } = await context.peers.payments.listPaymentMethods(named);
    const chosen = form.all("methods");
    const paymentMethods = methods.map(({ type }) => type).filter((type) => chosen.includes(type));
    if (paymentMethods.length === 0) return await methodsPage(context, visit, true);
    await context.peers.payments.choosePaymentMethods({ ...named, paymentMethods });
    return { go: `${base}/processors/${connectorId}/methods`, done: "processor-saved" };
  });
}

async function methodsPage({ peers }: ConsoleContext, visit: MerchantVisit, isEmpty = false): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).processors;
  const { id: connectorId } = await connectorOf({ peers }, visit);
  const { methods, chosen } = await peers.payments.listPaymentMethods({ merchantId, environment, connectorId });
  const action = `${base}/processors/${connectorId}/methods`;
  const field = choiceField({
    ...{ name: "methods", label: texts.methodsOffered, values: isEmpty ? [] : chosen },
    problem: isEmpty ? texts.methodsNone : "",
    choices: methods.map(({ type }) => ({ value: type, label: methodName(type) })),
  });
  const form = postForm(visit, { action, fields: [field], button: texts.save, layout: "panel" });
  return {
    title: texts.methods,
    status: isEmpty ? 422 : 200,
    body: html`<h1>${texts.methods}</h1><p class="muted">${texts.methodsText}</p>
${visit.may("connectors.write") ? form : ""}${termsTable(visit, methods, chosen)}
<p><a class="button secondary" href="${base}/processors/${connectorId}">${texts.toAccount}</a></p>`,
  };
}

function termsTable({ language }: MerchantVisit, methods: readonly MethodTerms[], chosen: readonly string[]): Html {
  const texts = textsOf(language).processors;
  const refunds: Readonly<Record<string, string>> = { full: texts.refundFull, partial: texts.yes, none: texts.never };
  const yesNo = (is: boolean) => (is ? texts.yes : texts.never);
  return htmlTable({
    caption: texts.methods,
    rows: methods,
    empty: "",
    columns: [
      { heading: texts.method, cell: ({ type }) => methodName(type) },
      { heading: texts.status, cell: ({ type }) => (chosen.includes(type) ? texts.switchedOn : texts.inactive) },
      { heading: texts.currencies, cell: ({ currencies }) => currencies.join(", ") || texts.everyCurrency },
      { heading: texts.refunds, cell: ({ refund }) => refunds[refund] ?? refund },
      { heading: texts.delayed, cell: ({ delayed }) => yesNo(delayed) },
      { heading: texts.disputes, cell: ({ disputes }) => yesNo(disputes) },
      { heading: texts.capturesLater, cell: ({ manualCapture }) => yesNo(manualCapture) },
    ],
  });
}
