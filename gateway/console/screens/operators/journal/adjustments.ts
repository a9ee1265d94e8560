// The list of adjustments, proposals first, and one adjustment, which can be approved, rejected or withdrawn.
import type { Adjustment } from "#proto/payments/v1/journal_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { paramOf, queryOf } from "../../../http/address.ts";
import type { Form } from "../../../http/form.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { type Problems, problemOf, textField } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import {
  backTo,
  formatEnvironment,
  formPanel,
  merchantLink,
  noProblems,
  partLinks,
  problemBox,
  renderDetails,
  showRefusal,
  storyLink,
} from "../../../view/operator-forms.ts";
import { addressWith, cursorLinks, renderCopyable, toneChip } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { dateTimeText, moneyText } from "../../../view/values.ts";
import { peopleOf } from "../../settings/audit.ts";

const pageSize = 50;
const states = ["proposed", "approved", "rejected"] as const;

export function adjustmentsRoutes(context: ConsoleContext): void {
  const { journal } = context.peers;
  const decides = { action: "journal.approve", proof: () => true };
  operatorPage(context, "/journal/adjustments", "journal.read", (visit) => listPage(context, visit));
  operatorPage(context, "/journal/adjustments/:adjustmentId", "journal.read", (visit) => onePage(context, visit));
  operatorForm(context, "/journal/adjustments/:adjustmentId/approve", decides, async (visit, form) => {
    const adjustmentId = paramOf(visit, "adjustmentId");
    const approve = async () => {
      await journal.approveAdjustment({ adjustmentId, note: form.text("approve_note") });
      return { go: `/journal/adjustments/${adjustmentId}`, done: "adjustment-approved" };
    };
    return await showRefusal(visit, approve, (problems) => onePage(context, visit, problems));
  });
  // The proposer can withdraw an adjustment here.
  operatorForm(context, "/journal/adjustments/:adjustmentId/reject", { proof: () => true }, (visit, form) =>
    reject(context, visit, form),
  );
}

async function reject(context: ConsoleContext, visit: OperatorVisit, form: Form): Promise<Answer> {
  const adjustmentId = paramOf(visit, "adjustmentId");
  const { adjustment } = await context.peers.journal.getAdjustment({ adjustmentId });
  if (!adjustment || !mayReject(visit, adjustment)) return { go: `/journal/adjustments/${adjustmentId}` };
  const note = form.text("note");
  if (note === "") {
    const problem = textsOf(visit.language).journal.rejectNeeded;
    return { ...(await onePage(context, visit, [["note", problem]])), status: 422 };
  }
  const end = async () => {
    await context.peers.journal.rejectAdjustment({ adjustmentId, note });
    return { go: `/journal/adjustments/${adjustmentId}`, done: "adjustment-rejected" };
  };
  return await showRefusal(visit, end, (problems) => onePage(context, visit, problems));
}

const isOwn = ({ session }: OperatorVisit, { proposedBy }: Adjustment) => session.person?.id === proposedBy;
const mayReject = (visit: OperatorVisit, adjustment: Adjustment) =>
  isOwn(visit, adjustment) ? visit.may("journal.propose") : visit.may("journal.approve");

async function listPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).journal;
  const query = queryOf(visit);
  const state = states.find((each) => each === query.get("state")) ?? "proposed";
  const pageToken = query.get("page") ?? "";
  const { adjustments, nextPageToken } = await peers.journal.listAdjustments({ state, limit: pageSize, pageToken });
  const tabs = states.map((each) => {
    const path = addressWith("/journal/adjustments", { state: each });
    return [path, formatState(visit, each), each === state] as const;
  });
  return {
    title: texts.adjustments,
    body: html`${backTo("/journal", texts.title)}<h1>${texts.adjustments}</h1><p>${texts.adjustmentsText}</p>
${visit.may("journal.propose") ? html`<p><a class="button" href="/journal/propose">${texts.propose}</a></p>` : ""}
${partLinks(texts.adjustments, tabs)}
${htmlTable({
  caption: texts.adjustments,
  rows: adjustments,
  empty: texts.noAdjustments,
  columns: [
    {
      heading: texts.proposedAt,
      cell: (each) => html`<a href="/journal/adjustments/${each.id}">${dateTimeText(language, each.proposedAt)}</a>`,
    },
    { heading: texts.reason, cell: ({ reason }) => reason },
    {
      heading: texts.lines,
      cell: (each) =>
        html`<ul class="plain">${each.lines.map((line) => html`<li>${formatLine(visit, line)}</li>`)}</ul>`,
    },
    { heading: textsOf(language).operatorForms.merchant, cell: (each) => merchantLink(visit, each.merchantId) },
  ],
})}
${cursorLinks(language, { path: "/journal/adjustments", query, next: nextPageToken, total: adjustments.length, cursor: "page" })}`,
  };
}

function formatState({ language }: OperatorVisit, state: string): string {
  const texts = textsOf(language).journal;
  return state === "approved" ? texts.approved : state === "rejected" ? texts.rejected : texts.waiting;
}

function formatLine(
  { language }: OperatorVisit,
  { amount, currency, debit, credit }: Adjustment["lines"][number],
): string {
  return `${moneyText(language, amount, currency)}: ${translateCode(language, "journalAccounts", debit)} → ${translateCode(language, "journalAccounts", credit)}`;
}

async function onePage(context: ConsoleContext, visit: OperatorVisit, problems: Problems = noProblems): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).journal;
  const { adjustment } = await context.peers.journal.getAdjustment({ adjustmentId: paramOf(visit, "adjustmentId") });
  if (!adjustment) throw new Error("payments returned no adjustment");
  const people = await peopleOf(context, visit, [adjustment.proposedBy, adjustment.decidedBy]);
  const name = (id: string) => people.get(id) ?? id;
  const tone = adjustment.state === "approved" ? "good" : adjustment.state === "rejected" ? "quiet" : "wait";
  return {
    title: texts.adjustment,
    body: html`${backTo("/journal/adjustments", texts.adjustments)}
<h1>${texts.adjustment} ${toneChip(formatState(visit, adjustment.state), tone)}</h1>${problemBox(visit, problems)}
${formPanel(
  texts.adjustment,
  factList([
    ["Id", renderCopyable(language, adjustment.id)],
    [textsOf(language).operatorForms.merchant, merchantLink(visit, adjustment.merchantId)],
    [textsOf(language).operatorForms.environment, formatEnvironment(language, adjustment.environment)],
    [texts.about, storyLink(adjustment.aboutPaymentId)],
    [texts.reason, adjustment.reason],
    [texts.proposedBy, name(adjustment.proposedBy)],
    [texts.proposedAt, dateTimeText(language, adjustment.proposedAt)],
    [texts.decidedBy, name(adjustment.decidedBy)],
    [texts.decidedAt, dateTimeText(language, adjustment.decidedAt)],
    [texts.note, adjustment.note],
  ]),
)}
${htmlTable({
  caption: texts.lines,
  rows: adjustment.lines,
  empty: "",
  columns: [
    { heading: texts.from, cell: ({ debit }) => translateCode(language, "journalAccounts", debit) },
    { heading: texts.to, cell: ({ credit }) => translateCode(language, "journalAccounts", credit) },
    { heading: texts.amount, isNumber: true, cell: ({ amount, currency }) => moneyText(language, amount, currency) },
  ],
})}
${adjustment.state === "proposed" ? decisionForms(visit, adjustment, problems) : ""}`,
  };
}

function decisionForms(visit: OperatorVisit, adjustment: Adjustment, problems: Problems): Html {
  const texts = textsOf(visit.language).journal;
  const path = `/journal/adjustments/${adjustment.id}`;
  const isMine = isOwn(visit, adjustment);
  const approve = postForm(visit, {
    action: `${path}/approve`,
    fields: [textField({ name: "approve_note", label: texts.approveNote, value: "", maxlength: 2_000 })],
    button: texts.approve,
  });
  const rejection = postForm(visit, {
    action: `${path}/reject`,
    fields: [
      textField({
        name: "note",
        label: texts.reason,
        value: "",
        maxlength: 2_000,
        problem: problemOf(problems, "note"),
      }),
    ],
    button: isMine ? texts.takeBack : texts.reject,
    tone: "danger",
  });
  const approval = visit.may("journal.approve")
    ? renderDetails(texts.approve, html`<p>${texts.approveText}</p>${approve}`)
    : "";
  const end = renderDetails(
    isMine ? texts.takeBack : texts.reject,
    html`<p>${texts.rejectText}</p>${rejection}`,
    problemOf(problems, "note") !== "",
  );
  return html`${isMine ? html`<p class="muted">${texts.own}</p>` : approval}${mayReject(visit, adjustment) ? end : ""}`;
}
