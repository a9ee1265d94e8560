// Differences between processors' statements and our ledger. A day can be compared immediately.
import type { StatementDifference } from "#proto/payments/v1/statement_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { dayStart, nextDayStart } from "../../../http/day.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { type Problems, textFields } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { noProblems, problemBox, renderDetails, showRefusal, storyLink } from "../../../view/operator-forms.ts";
import { addressWith, onThisPage, pageNavigation, toneChip } from "../../../view/pieces.ts";
import { htmlTable } from "../../../view/table.ts";
import { dateTimeText } from "../../../view/values.ts";

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
    { heading: texts.payment, cell: ({ paymentId }) => storyLink(paymentId, true) },
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
