// The list of parked operations, and one operation with its history. An operator retries it or resolves it with proof.
import { type Operation, type OperationFact, Resolution } from "#proto/payments/v1/operator_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { paramOf, queryOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { fillText, pluralText, textsOf } from "../../../texts/texts.ts";
import { choiceField, type Problems, problemOf, textArea, textField, textFields } from "../../../view/fields.ts";
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
import { cursorLinks, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { countText, dateTimeText, moneyText } from "../../../view/values.ts";

const pageSize = 50;
const needs = { action: "operations.resolve", proof: () => true };
const proofMin = 10;

export function operationsRoutes(context: ConsoleContext): void {
  operatorPage(context, "/operations", "operations.read", (visit) => listPage(context, visit));
  operatorPage(context, "/operations/:operationId", "operations.read", (visit) => onePage(context, visit));
  operatorForm(context, "/operations/:operationId/retry", needs, async (visit, form) => {
    const operationId = paramOf(visit, "operationId");
    const retry = async () => {
      const note = form.text("note");
      await context.peers.operations.retryOperation({ operationId, operator: operatorName(visit), note });
      return { go: `/operations/${operationId}`, done: "operation-retried" };
    };
    return await showRefusal(visit, retry, (problems) => onePage(context, visit, problems));
  });
  operatorForm(context, "/operations/:operationId/resolve", needs, (visit, form) => resolve(context, visit, form));
}

async function resolve(context: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const input: ResolutionInput = {
    resolution: form.text("resolution"),
    connectorRef: form.text("connector_ref"),
    proof: form.text("proof"),
  };
  const problems = problemsOf(visit, input);
  if (problems.length > 0) return { ...(await onePage(context, visit, problems, input)), status: 422 };
  const operationId = paramOf(visit, "operationId");
  const end = async () => {
    const resolution = input.resolution === "happened" ? Resolution.HAPPENED : Resolution.NEVER_HAPPENED;
    const { connectorRef, proof } = input;
    const operator = operatorName(visit);
    await context.peers.operations.resolveOperation({ operationId, resolution, connectorRef, operator, proof });
    return { go: `/operations/${operationId}`, done: "operation-resolved" };
  };
  return await showRefusal(visit, end, (refused) => onePage(context, visit, refused, input));
}

function problemsOf({ language }: OperatorVisit, { resolution, connectorRef, proof }: ResolutionInput): Problems {
  const texts = textsOf(language).operations;
  const problems: [string, string][] = [];
  const happened = resolution === "happened";
  if (!happened && resolution !== "never") problems.push(["resolution", texts.outcomeNeeded]);
  if (happened !== (connectorRef !== "")) problems.push(["connector_ref", texts.connectorRefNeeded]);
  if (proof.length < proofMin) problems.push(["proof", texts.proofNeeded]);
  return problems;
}

async function listPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).operations;
  const query = queryOf(visit);
  const page = { limit: pageSize, pageToken: query.get("page") ?? "" };
  const { operations, nextPageToken, total } = await peers.operations.listParkedOperations(page);
  return {
    title: texts.operations,
    body: html`<h1>${texts.operations}</h1><p>${texts.operationsText}</p>
${htmlTable({
  caption: texts.operations,
  rows: operations,
  empty: texts.noOperations,
  columns: [
    {
      heading: texts.kind,
      cell: ({ id, kind }) => html`<a href="/operations/${id}">${translateCode(language, "operationWords", kind)}</a>`,
    },
    { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => moneyText(language, amount, currency) },
    {
      heading: texts.processor,
      cell: ({ connector, environment }) => `${connector} · ${formatEnvironment(language, environment)}`,
    },
    { heading: texts.payment, cell: (each) => storyLink(each.paymentId, true) },
    { heading: texts.lastError, cell: ({ lastError }) => lastError },
    { heading: texts.since, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
  ],
})}
${cursorLinks(language, { path: "/operations", query, next: nextPageToken, total: fillText(texts.total, { count: countText(language, total) }), cursor: "page" })}`,
  };
}

async function onePage(
  { peers }: ConsoleContext,
  visit: OperatorVisit,
  problems: Problems = noProblems,
  input: ResolutionInput = emptyInput,
): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).operations;
  const { operation, history } = await peers.operations.getOperation({ operationId: paramOf(visit, "operationId") });
  if (!operation) throw new Error("payments returned no operation");
  const isParked = operation.state === "parked";
  const title = translateCode(language, "operationWords", operation.kind);
  return {
    title,
    body: html`${backTo("/operations", texts.operations)}
<h1>${title} ${toneChip(translateCode(language, "operationWords", operation.state), isParked ? "bad" : "quiet")}</h1>
${problemBox(visit, problems)}
${formPanel(texts.operation, operationFacts(visit, operation))}
<h2>${texts.history}</h2>${historyTable(visit, history)}
${isParked && visit.may("operations.resolve") ? resolutionForms(visit, operation.id, problems, input) : ""}`,
  };
}

function operationFacts(visit: OperatorVisit, operation: Operation): Html {
  const { language } = visit;
  const texts = textsOf(language).operations;
  return factList([
    ["Id", renderCopyable(language, operation.id)],
    [texts.amount, moneyText(language, operation.amount, operation.currency)],
    [textsOf(language).operatorForms.environment, formatEnvironment(language, operation.environment)],
    [texts.merchant, merchantLink(visit, operation.merchantId)],
    [texts.payment, storyLink(operation.paymentId)],
    [texts.refund, renderCopyable(language, operation.refundId)],
    [texts.processor, operation.connector],
    [texts.account, renderCopyable(language, operation.connectorAccountId)],
    [texts.reference, renderCopyable(language, operation.reference)],
    [texts.attempts, pluralText(language, texts.times, operation.tries)],
    [texts.lastError, operation.lastError],
    [texts.nextTry, operation.state === "started" ? dateTimeText(language, operation.nextTryAt) : ""],
    [texts.since, dateTimeText(language, operation.createdAt)],
  ]);
}

function historyTable({ language }: OperatorVisit, history: readonly OperationFact[]): Html {
  const texts = textsOf(language).operations;
  return htmlTable({
    caption: texts.history,
    rows: history,
    empty: texts.noHistory,
    columns: [
      { heading: textsOf(language).operatorForms.at, cell: ({ at }) => dateTimeText(language, at) },
      { heading: texts.fact, cell: ({ fact }) => translateCode(language, "operationWords", fact) },
      { heading: textsOf(language).operatorForms.by, cell: ({ operator }) => operator || texts.service },
      { heading: texts.note, cell: ({ note }) => note },
    ],
  });
}

interface ResolutionInput {
  /** `happened` or `never`. */
  readonly resolution: string;
  readonly connectorRef: string;
  readonly proof: string;
}
const emptyInput: ResolutionInput = { resolution: "", connectorRef: "", proof: "" };

function resolutionForms(visit: OperatorVisit, operationId: string, problems: Problems, input: ResolutionInput): Html {
  const texts = textsOf(visit.language).operations;
  const ownTexts = textsOf(visit.language).operatorForms;
  const retry = postForm(visit, {
    action: `/operations/${operationId}/retry`,
    fields: [textField({ name: "note", label: ownTexts.note, hint: ownTexts.noteHint, value: "", maxlength: 2_000 })],
    button: texts.retry,
  });
  const field = textFields({ connector_ref: input.connectorRef }, problems);
  const outcome = choiceField({
    ...{ name: "resolution", label: texts.outcome, values: [input.resolution], one: true },
    problem: problemOf(problems, "resolution"),
    choices: [
      { value: "happened", label: texts.happened, hint: texts.happenedHint },
      { value: "never", label: texts.never, hint: texts.neverHint },
    ],
  });
  const proof = textArea({
    ...{ name: "proof", label: texts.proof, hint: texts.proofHint, value: input.proof },
    ...{ maxlength: 2_000, problem: problemOf(problems, "proof") },
  });
  const connectorRef = field("connector_ref", texts.connectorRef, { hint: texts.connectorRefHint, maxlength: 255 });
  const resolve = postForm(visit, {
    action: `/operations/${operationId}/resolve`,
    fields: [outcome, connectorRef, proof],
    button: texts.resolve,
    tone: "danger",
  });
  return html`${renderDetails(texts.retry, html`<p>${texts.retryText}</p>${retry}`)}
${renderDetails(texts.resolve, html`<p>${texts.resolveText} ${ownTexts.proofNext}</p>${resolve}`, problems.length > 0)}`;
}
