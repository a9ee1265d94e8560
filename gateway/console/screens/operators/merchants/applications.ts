// Onboarding applications, submitted ones first. Drafts are not listed, because a draft's id is the applicant's secret.
import type { Application } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { paramOf, queryOf } from "../../../http/address.ts";
import { operatorForm, operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { stateOf } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import type { Problems } from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import {
  backTo,
  formPanel,
  noProblems,
  partLinks,
  problemBox,
  renderDetails,
  showRefusal,
} from "../../../view/operator-forms.ts";
import { addressWith, cursorLinks, renderCopyable } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { dateTimeText } from "../../../view/values.ts";
import { renderMerchantStatus } from "./merchants.ts";

const pageSize = 50;
const statuses = ["submitted", "approved", "rejected", "all"] as const;
const decides = { action: "applications.decide" };

export function applicationsRoutes(context: ConsoleContext): void {
  operatorPage(context, "/applications", "applications.read", (visit) => listPage(context, visit));
  operatorPage(context, "/applications/:applicationId", "applications.read", (visit) => onePage(context, visit));
  const { applications } = context.peers;
  const decide = (path: string, done: string, call: (input: { applicationId: string }) => Promise<unknown>) =>
    operatorForm(context, `/applications/:applicationId/${path}`, decides, async (visit) => {
      const applicationId = paramOf(visit, "applicationId");
      const act = async () => {
        await call({ applicationId });
        return { go: `/applications/${applicationId}`, done };
      };
      return await showRefusal(visit, act, (problems) => onePage(context, visit, problems));
    });
  decide("approve", "application-approved", applications.approveApplication);
  decide("reject", "application-rejected", applications.rejectApplication);
}

async function listPage({ peers }: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).merchants;
  const query = queryOf(visit);
  const shown = statuses.find((each) => each === query.get("status")) ?? "submitted";
  const pageToken = query.get("page") ?? "";
  const status = shown === "all" ? "" : shown;
  const { applications, nextPageToken } = await peers.applications.listApplications({ status, pageSize, pageToken });
  const tabs = statuses.map((each) => {
    const text = each === "all" ? textsOf(language).operatorForms.all : stateOf(language, "merchantStates", each).text;
    return [addressWith("/applications", { status: each }), text, each === shown] as const;
  });
  return {
    title: texts.applications,
    body: html`<h1>${texts.applications}</h1>${partLinks(texts.status, tabs)}
${htmlTable({
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
    { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
  ],
})}
${cursorLinks(language, { path: "/applications", query, next: nextPageToken, total: applications.length, cursor: "page" })}`,
  };
}

async function onePage(context: ConsoleContext, visit: OperatorVisit, problems: Problems = noProblems): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).merchants;
  const applicationId = paramOf(visit, "applicationId");
  const { application } = await context.peers.applications.reviewApplication({ applicationId });
  if (!application) throw new Error("merchant returned no application");
  const { merchantId } = application;
  return {
    title: texts.application,
    body: html`${backTo("/applications", texts.applications)}
<h1>${application.tradingName || texts.application} ${renderMerchantStatus(visit, application.status)}</h1>
${problemBox(visit, problems)}
${formPanel(
  texts.application,
  factList([
    ["Id", renderCopyable(language, application.id)],
    [texts.applicant, application.applicantEmail],
    [texts.tradingName, application.tradingName],
    [texts.legalName, application.legalName],
    [texts.country, application.countryCode],
    [texts.currency, application.currencyCode],
    [texts.created, dateTimeText(language, application.createdAt)],
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
  const approve = postForm(visit, { action: `/applications/${id}/approve`, button: texts.approve });
  const reject = postForm(visit, { action: `/applications/${id}/reject`, button: texts.reject, tone: "danger" });
  return html`${renderDetails(texts.approve, html`<p>${texts.approveText}</p>${approve}`)}
${renderDetails(texts.reject, html`<p>${texts.rejectText}</p>${reject}`)}`;
}
