// Onboarding applications: those that wait first, and no drafts, whose ids are their applicants' secrets; each
// decided on a page of its own, behind a line that says what the decision does.
import type { Application } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { stateOf } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import {
  address,
  backTo,
  noProblems,
  type Problems,
  panel,
  pathParam,
  postForm,
  problemBox,
  renderDetails,
  showRefusal,
} from "../../../view/operator-forms.ts";
import { pages, renderCopyable } from "../../../view/pieces.ts";
import { facts, table } from "../../../view/table.ts";
import { moment } from "../../../view/values.ts";
import { renderMerchantStatus } from "./merchants.ts";

const pageSize = 50;
/** The ones to decide come first; "all" has every other one too. */
const statuses = ["submitted", "approved", "rejected", "all"] as const;
const decides = { action: "applications.decide" };

export function applicationsRoutes(context: ConsoleContext): void {
  operatorPage(context, "/applications", "applications.read", async (visit) => await listPage(context, visit));
  operatorPage(
    context,
    "/applications/:applicationId",
    "applications.read",
    async (visit) => await onePage(context, visit),
  );
  operatorForm(context, "/applications/:applicationId/approve", decides, async (visit) => {
    const applicationId = pathParam(visit, "applicationId");
    const approve = async () => {
      await context.peers.applications.approveApplication({ applicationId });
      return { go: `/applications/${applicationId}`, done: "application-approved" };
    };
    return await showRefusal(visit, approve, (problems) => onePage(context, visit, problems));
  });
  operatorForm(context, "/applications/:applicationId/reject", decides, async (visit) => {
    const applicationId = pathParam(visit, "applicationId");
    const reject = async () => {
      await context.peers.applications.rejectApplication({ applicationId });
      return { go: `/applications/${applicationId}`, done: "application-rejected" };
    };
    return await showRefusal(visit, reject, (problems) => onePage(context, visit, problems));
  });
}

async function listPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).merchants;
  const query = queryOf(visit);
  const shown = statuses.find((each) => each === query.get("status")) ?? "submitted";
  const pageToken = query.get("page") ?? "";
  const status = shown === "all" ? "" : shown;
  const { applications, nextPageToken } = await peers.applications.listApplications({ status, pageSize, pageToken });
  return {
    title: texts.applications,
    body: html`<h1>${texts.applications}</h1>${tabs(visit, shown)}
${table({
  caption: texts.applications,
  rows: applications,
  empty: texts.noApplications,
  columns: [
    {
      heading: texts.tradingName,
      cell: (each) => html`<a href="/applications/${each.id}">${each.tradingName || each.id}</a>`,
    },
    { heading: texts.applicant, cell: ({ applicantEmail }) => applicantEmail },
    { heading: texts.status, cell: (each) => renderMerchantStatus(visit, each.status) },
    { heading: texts.country, cell: ({ countryCode }) => countryCode },
    { heading: texts.created, cell: ({ createdAt }) => moment(language, createdAt) },
  ],
})}
${pages(language, { path: "/applications", query, next: nextPageToken, total: applications.length, cursor: "page" })}`,
  };
}

function tabs({ language }: OperatorVisit, shown: string): Html {
  const links = statuses.map((each) => {
    const text = each === "all" ? textsOf(language).operatorForms.all : stateOf(language, "merchantStates", each).text;
    return html`<a href="${address("/applications", { status: each })}"${each === shown ? html` aria-current="true"` : ""}>${text}</a>`;
  });
  return html`<nav class="part-links" aria-label="${textsOf(language).merchants.status}">${links}</nav>`;
}

async function onePage(
  { peers }: ConsoleContext,
  visit: OperatorVisit,
  problems: Problems = noProblems,
): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).merchants;
  const { application } = await peers.applications.reviewApplication({
    applicationId: pathParam(visit, "applicationId"),
  });
  if (!application) throw new Error("merchant answered no application");
  const { merchantId } = application;
  return {
    title: texts.application,
    body: html`${backTo("/applications", texts.applications)}
<h1>${application.tradingName || texts.application} ${renderMerchantStatus(visit, application.status)}</h1>
${problemBox(visit, problems)}
${panel(
  texts.application,
  facts([
    ["Id", renderCopyable(language, application.id)],
    [texts.applicant, application.applicantEmail],
    [texts.tradingName, application.tradingName],
    [texts.legalName, application.legalName],
    [texts.country, application.countryCode],
    [texts.currency, application.currencyCode],
    [texts.created, moment(language, application.createdAt)],
    [texts.missing, application.missing.join(", ")],
    [texts.itsMerchant, merchantId === "" ? "" : html`<a href="/merchants/${merchantId}">${merchantId}</a>`],
  ]),
)}
${decision(visit, application)}`,
  };
}

function decision(visit: OperatorVisit, { id, status }: Application): Html {
  const texts = textsOf(visit.language).merchants;
  if (status !== "submitted")
    return html`<p class="muted">${texts.decided}${status === "approved" ? ` ${texts.howInvited}` : ""}</p>`;
  if (!visit.may("applications.decide")) return html``;
  const approve = postForm(visit, { action: `/applications/${id}/approve`, fields: [], button: texts.approve });
  const reject = postForm(visit, {
    action: `/applications/${id}/reject`,
    fields: [],
    button: texts.reject,
    tone: "danger",
  });
  return html`${renderDetails(texts.approve, html`<p>${texts.approveText}</p>${approve}`)}
${renderDetails(texts.reject, html`<p>${texts.rejectText}</p>${reject}`)}`;
}
