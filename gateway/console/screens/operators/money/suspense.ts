// The list of unexpected funds, and one item with its possible actions.
import { type Suspense, SuspenseAction } from "#proto/payments/v1/operator_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { paramOf, queryOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { fillText, textsOf } from "../../../texts/texts.ts";
import { hiddenField, type Problems, problemOf, textField } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import {
  backTo,
  formatEnvironment,
  formPanel,
  merchantLink,
  noProblems,
  operatorName,
  problemBox,
  renderDetails,
  showRefusal,
  storyLink,
} from "../../../view/operator-forms.ts";
import { addressWith, pageNavigation, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { countText, dateTimeText, moneyText } from "../../../view/values.ts";

const pageSize = 50;
const needs = { action: "suspense.resolve", proof: () => true };
const actions = {
  refund: SuspenseAction.GIVE_BACK,
  accept: SuspenseAction.TAKE,
  close: SuspenseAction.CLOSE,
} as const;
type ActionName = keyof typeof actions;
const actionNames: readonly ActionName[] = ["refund", "accept", "close"];

export function suspenseRoutes(context: ConsoleContext): void {
  operatorPage(context, "/suspense", "operations.read", (visit) => listPage(context, visit));
  operatorPage(context, "/suspense/:suspenseId", "operations.read", (visit) => onePage(context, visit));
  operatorForm(context, "/suspense/:suspenseId/resolve", needs, (visit, form) => resolve(context, visit, form));
}

async function resolve(context: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const suspenseId = paramOf(visit, "suspenseId");
  const name = actionNames.find((each) => each === form.text("action"));
  const note = form.text(`note_${name ?? ""}`);
  if (name === undefined || note === "") {
    const problem = textsOf(visit.language).operatorForms.noteNeeded;
    return { ...(await onePage(context, visit, [[`note_${name ?? "close"}`, problem]])), status: 422 };
  }
  const end = async () => {
    const resolution = { action: actions[name], operator: operatorName(visit), note };
    const { item } = await context.peers.operations.resolveSuspense({ suspenseId, ...resolution });
    const done = item?.state === "refunding" ? "suspense-under-way" : "suspense-resolved";
    return { go: `/suspense/${suspenseId}`, done };
  };
  return await showRefusal(visit, end, (problems) => onePage(context, visit, problems));
}

async function listPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).operations;
  const query = queryOf(visit);
  const withClosed = query.get("closed") === "yes";
  const closed = withClosed ? "yes" : "";
  const pageToken = query.get("page") ?? "";
  const page = { limit: pageSize, pageToken, withClosed };
  const { items, nextPageToken, open } = await peers.operations.listSuspense(page);
  const other = withClosed
    ? html`<a href="/suspense">${texts.onlyOpen}</a>`
    : html`<a href="/suspense?closed=yes">${texts.withClosed}</a>`;
  return {
    title: texts.suspense,
    body: html`<h1>${texts.suspense}</h1><p>${texts.suspenseText} ${other}</p>
${htmlTable({
  caption: texts.suspense,
  rows: items,
  empty: withClosed ? texts.noSuspenseEver : texts.noSuspense,
  columns: [
    {
      heading: texts.kind,
      cell: ({ id, kind }) => html`<a href="/suspense/${id}">${translateCode(language, "operationWords", kind)}</a>`,
    },
    { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => moneyText(language, amount, currency) },
    { heading: texts.state, cell: (item) => stateChip(visit, item) },
    {
      heading: texts.processor,
      cell: ({ connector, environment }) => `${connector} · ${formatEnvironment(language, environment)}`,
    },
    { heading: texts.payment, cell: ({ paymentId }) => storyLink(paymentId, true) },
    { heading: texts.found, cell: ({ foundAt }) => dateTimeText(language, foundAt) },
  ],
})}
${pageNavigation(language, {
  total: fillText(texts.open, { count: countText(language, open) }),
  next: nextPageToken === "" ? undefined : addressWith("/suspense", { closed, page: nextPageToken }),
  first: pageToken === "" ? undefined : addressWith("/suspense", { closed }),
})}`,
  };
}

function stateChip({ language }: OperatorVisit, { state, resolution }: Suspense): Html {
  return toneChip(
    translateCode(language, "operationWords", state === "closed" ? resolution : state),
    state === "open" ? "bad" : "quiet",
  );
}

async function onePage(context: ConsoleContext, visit: OperatorVisit, problems: Problems = noProblems): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).operations;
  const suspenseId = paramOf(visit, "suspenseId");
  const { item } = await context.peers.operations.getSuspense({ suspenseId });
  if (!item) throw new Error("payments returned no item");
  const title = translateCode(language, "operationWords", item.kind);
  return {
    title,
    body: html`${backTo("/suspense", texts.suspense)}
<h1>${title} ${stateChip(visit, item)}</h1>${problemBox(visit, problems)}
${formPanel(
  texts.item,
  factList([
    ["Id", renderCopyable(language, item.id)],
    [texts.amount, moneyText(language, item.amount, item.currency)],
    [texts.returned, item.returnedAmount === 0n ? "" : moneyText(language, item.returnedAmount, item.currency)],
    [texts.movedOut, item.closedAmount === 0n ? "" : moneyText(language, item.closedAmount, item.currency)],
    [textsOf(language).operatorForms.environment, formatEnvironment(language, item.environment)],
    [texts.merchant, merchantLink(visit, item.merchantId)],
    [texts.payment, storyLink(item.paymentId)],
    [texts.refund, item.refundId],
    [texts.processor, item.connector],
    [texts.account, renderCopyable(language, item.connectorAccountId)],
    [texts.atProcessor, renderCopyable(language, item.connectorRef)],
    [texts.found, dateTimeText(language, item.foundAt)],
    [texts.closed, dateTimeText(language, item.closedAt)],
    [textsOf(language).operatorForms.by, item.operator],
    [texts.note, item.note],
  ]),
)}
${visit.may("suspense.resolve") ? html`${actionNames.map((name) => actionForm(visit, item, name, problems))}` : ""}`,
  };
}

function actionForm(visit: OperatorVisit, item: Suspense, name: ActionName, problems: Problems): Html {
  if (!item.actions.includes(actions[name])) return html``;
  const texts = textsOf(visit.language).operations;
  const ownTexts = textsOf(visit.language).operatorForms;
  const labels = { refund: texts.refundNow, accept: texts.accept, close: texts.close } as const;
  const explanations = { refund: texts.refundText, accept: texts.acceptText, close: texts.closeText } as const;
  const problem = problemOf(problems, `note_${name}`);
  const form = postForm(visit, {
    action: `/suspense/${item.id}/resolve`,
    fields: [
      hiddenField("action", name),
      textField({
        ...{ name: `note_${name}`, label: ownTexts.note, hint: ownTexts.noteHint },
        ...{ value: "", maxlength: 2_000, problem },
      }),
    ],
    button: labels[name],
    ...(name === "close" ? {} : { tone: "danger" }),
  });
  return renderDetails(labels[name], html`<p>${explanations[name]} ${ownTexts.proofNext}</p>${form}`, problem !== "");
}
