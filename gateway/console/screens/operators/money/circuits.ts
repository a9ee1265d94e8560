// The circuit breakers of processor accounts, as one payments replica sees them.
import { html } from "../../../../html.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { fillText, pluralText, textsOf } from "../../../texts/texts.ts";
import { pageNavigation, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { htmlTable } from "../../../view/table.ts";
import { countText, dateTimeText } from "../../../view/values.ts";

const limit = 200;

export function circuitsRoutes(context: ConsoleContext): void {
  operatorPage(context, "/circuits", "operations.read", (visit) => circuitsPage(context, visit));
}

async function circuitsPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).operations;
  const { replica, circuits, total } = await peers.operations.listCircuits({ limit });
  const state = (name: string) => {
    if (name === "closed") return toneChip(texts.closedCircuit, "good");
    return name === "open" ? toneChip(texts.openCircuit, "bad") : toneChip(texts.probing, "wait");
  };
  return {
    title: texts.circuits,
    body: html`<h1>${texts.circuits}</h1><p>${texts.circuitsText}</p><p class="muted">${fillText(texts.replica, { name: replica })}</p>
${htmlTable({
  caption: texts.circuits,
  rows: circuits,
  empty: texts.noCircuits,
  columns: [
    { heading: texts.account, cell: ({ connectorAccountId }) => renderCopyable(language, connectorAccountId) },
    { heading: texts.processor, cell: ({ connector }) => connector },
    { heading: texts.circuit, cell: (each) => state(each.state) },
    { heading: texts.since, cell: ({ since }) => dateTimeText(language, since) },
    {
      heading: texts.probeIn,
      isNumber: true,
      cell: ({ probeInMs }) => (probeInMs === 0 ? "" : `${countText(language, probeInMs)} ms`),
    },
  ],
})}
${pageNavigation(language, { total: pluralText(language, texts.accounts, total), next: undefined, first: undefined })}`,
  };
}
