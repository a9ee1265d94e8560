// The history of a payment in time order, by its own id or that of a refund or session; the circuit breakers of
// processor accounts, as one payments replica sees them; and differences between processors' statements and our ledger.

import type { StatementDifference } from "#proto/payments/v1/statement_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { paramOf, queryOf } from "../../../http/address.ts";
import { dayStart, nextDayStart } from "../../../http/day.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { stateOf, translateCode } from "../../../texts/labels.ts";
import { fillText, pluralText, textsOf } from "../../../texts/texts.ts";
import { type Problems, textFields } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import {
  formatEnvironment,
  formPanel,
  merchantLink,
  noProblems,
  problemBox,
  renderDetails,
  showRefusal,
  storyLink,
} from "../../../view/operator-forms.ts";
import { addressWith, onThisPage, pageNavigation, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { countText, dateTimeText } from "../../../view/values.ts";

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

const pageSize = 50;

interface FormValues {
  readonly account: string;
  readonly day: string;
}

export function statementsRoutes(context: ConsoleContext): void {
  operatorPage(context, "/statements", "statements.read", (visit) => statementsPage(context, visit));
  // A comparison records payments that we missed, so it needs more than read access, but the processor's data is proof.
  operatorForm(context, "/statements/match", { action: "operations.resolve" }, (visit, form) =>
    match(context, visit, form),
  );
}

async function match(context: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const texts = textsOf(visit.language).operations;
  const typed = { account: form.text("account"), day: form.text("day") };
  const [from, to] = [dayStart(typed.day), nextDayStart(typed.day)];
  const problems: [string, string][] = [];
  if (!typed.account.startsWith("mco_")) problems.push(["account", texts.accountNeeded]);
  if (!from || !to) problems.push(["day", texts.dayNeeded]);
  if (problems.length > 0 || !from || !to)
    return { ...(await statementsPage(context, visit, problems, typed)), status: 422 };
  const compare = async () => {
    await context.peers.statements.matchStatement({ connectorAccountId: typed.account, from, to });
    return { go: addressWith("/statements", { account: typed.account }), done: "statement-matched" };
  };
  return await showRefusal(visit, compare, (refused) => statementsPage(context, visit, refused, typed));
}

async function statementsPage(
  { peers }: ConsoleContext,
  visit: OperatorVisit,
  problems: Problems = noProblems,
  typed?: FormValues,
): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).operations;
  const query = queryOf(visit);
  const account = query.get("account") ?? "";
  const includeResolved = query.get("resolved") === "yes";
  const before = query.get("before") ?? "";
  const { differences } = await peers.statements.listStatementDifferences({
    connectorAccountId: account,
    includeResolved,
    limit: pageSize,
    beforeId: /^\d{1,18}$/.test(before) ? BigInt(before) : 0n,
  });
  const kept = { account, resolved: includeResolved ? "yes" : "" };
  const last = differences.length === pageSize ? differences.at(-1)?.id : undefined;
  const other = includeResolved
    ? html`<a href="${addressWith("/statements", { account })}">${texts.onlyUnresolved}</a>`
    : html`<a href="${addressWith("/statements", { account, resolved: "yes" })}">${texts.withResolved}</a>`;
  return {
    title: texts.statements,
    body: html`<h1>${texts.statements}</h1>${problemBox(visit, problems)}<p>${texts.statementsText} ${other}</p>
${htmlTable({
  caption: texts.statements,
  rows: differences,
  empty: texts.noDifferences,
  columns: [
    { heading: texts.kind, cell: (each) => kindOf(visit, each) },
    { heading: texts.ours, cell: ({ ours }) => ours },
    { heading: texts.theirs, cell: ({ theirs }) => theirs },
    { heading: texts.payment, cell: ({ paymentId }) => storyLink(paymentId) },
    { heading: texts.account, cell: accountLink },
    { heading: texts.found, cell: ({ foundAt }) => dateTimeText(language, foundAt) },
    { heading: texts.resolvedAt, cell: ({ resolvedAt }) => dateTimeText(language, resolvedAt) },
  ],
})}
${pageNavigation(language, {
  total: onThisPage(language, differences.length),
  next: last === undefined ? undefined : addressWith("/statements", { ...kept, before: String(last) }),
  first: before === "" ? undefined : addressWith("/statements", kept),
})}
${visit.may("operations.resolve") ? compareForm(visit, problems, typed ?? { account, day: "" }) : ""}`,
  };
}

function kindOf({ language }: OperatorVisit, { kind, object, ref, resolvedAt }: StatementDifference): Html {
  const tone = resolvedAt ? "quiet" : "bad";
  return html`<span>${toneChip(translateCode(language, "operationWords", kind), tone)}<br>${translateCode(language, "operationWords", object)} <code>${ref}</code></span>`;
}

function accountLink({ connectorAccountId }: StatementDifference): Html {
  return html`<a href="${addressWith("/statements", { account: connectorAccountId })}"><code>${connectorAccountId}</code></a>`;
}

function compareForm(visit: OperatorVisit, problems: Problems, typed: FormValues): Html {
  const texts = textsOf(visit.language).operations;
  const field = textFields({ ...typed }, problems);
  const form = postForm(visit, {
    action: "/statements/match",
    fields: [field("account", texts.accountId, { maxlength: 64 }), field("day", texts.day, { type: "date" })],
    button: texts.compare,
    tone: "secondary",
  });
  return renderDetails(texts.compare, html`<p>${texts.compareText}</p>${form}`, problems.length > 0);
}
