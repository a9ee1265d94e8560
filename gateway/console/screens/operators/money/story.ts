// The history of a payment in time order, by its own id or that of a refund or session.
import { html } from "../../../../html.ts";
import { paramOf } from "../../../http/address.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { stateOf } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { formatEnvironment, formPanel, merchantLink } from "../../../view/operator-forms.ts";
import { renderCopyable, toneChip } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { dateTimeText } from "../../../view/values.ts";

export function storyRoutes(context: ConsoleContext): void {
  operatorPage(context, "/stories/:objectId", "operations.read", (visit) => storyPage(context, visit));
}

async function storyPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).operations;
  const story = await peers.operations.tellPayment({ objectId: paramOf(visit, "objectId") });
  const { text, tone } = stateOf(language, "paymentStates", story.status);
  const journal = html`<a href="/journal?payment=${story.paymentId}">${story.paymentId}</a>`;
  return {
    title: texts.story,
    body: html`<h1>${texts.story} ${toneChip(text, tone)}</h1>
${formPanel(
  texts.payment,
  factList([
    ["Id", renderCopyable(language, story.paymentId)],
    [texts.merchant, merchantLink(visit, story.merchantId)],
    [textsOf(language).operatorForms.environment, formatEnvironment(language, story.environment)],
    ["Session", story.sessionId],
    [texts.refund, story.refundIds.join(", ")],
    ["Journal", visit.may("journal.read") ? journal : ""],
  ]),
)}
${htmlTable({
  caption: texts.story,
  rows: story.lines,
  empty: texts.noStory,
  columns: [
    { heading: textsOf(language).operatorForms.at, cell: ({ at }) => dateTimeText(language, at) },
    { heading: texts.part, cell: ({ part }) => part },
    { heading: texts.fact, cell: ({ what }) => what },
    { heading: "Id", cell: ({ id }) => html`<code>${id}</code>` },
  ],
})}`,
  };
}
