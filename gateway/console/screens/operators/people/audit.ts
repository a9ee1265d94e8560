// The audit log of all merchants and of the installation. Operators have names; merchants' people are shown by id.
import type { AuditEntry } from "#proto/merchant/v1/audit_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { dayStart, nextDayStart } from "../../../http/day.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { textFields } from "../../../view/fields.ts";
import { addressWith, cursorLinks, filterChips } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { dateTimeText } from "../../../view/values.ts";
import { peopleOf } from "../../settings/audit.ts";

const pageSize = 50;

interface Filters {
  readonly merchant: string;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly since: string;
  readonly until: string;
}

export function auditRoutes(context: ConsoleContext): void {
  operatorPage(context, "/audit", "audit.read", (visit) => auditPage(context, visit));
}

async function auditPage(context: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).audit;
  const query = queryOf(visit);
  const of = (name: string) => (query.get(name) ?? "").trim().slice(0, 64);
  const filters = {
    ...{ merchant: of("merchant"), actor: of("actor"), action: of("action") },
    ...{ object: of("object"), since: of("since"), until: of("until") },
  };
  const [since, until] = [dayStart(filters.since), nextDayStart(filters.until)];
  const { entries, nextPageToken } = await context.peers.audit.listAuditEntries({
    merchantId: filters.merchant,
    actor: filters.actor,
    action: filters.action,
    objectId: filters.object,
    ...(since && { since }),
    ...(until && { until }),
    pageSize,
    pageToken: query.get("page") ?? "",
  });
  const names = await peopleOf(
    context,
    visit,
    entries.map(({ actor }) => actor),
  );
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1>${filterForm(visit, filters)}
${filterChips(language, "/audit", query, shownFilters(visit, filters))}
${htmlTable({
  caption: texts.title,
  rows: entries,
  empty: texts.noneFound,
  columns: [
    { heading: textsOf(language).operatorForms.at, cell: ({ occurredAt }) => dateTimeText(language, occurredAt) },
    { heading: texts.who, cell: (entry) => actorCell(visit, names, entry) },
    { heading: texts.what, cell: ({ action }) => html`<code>${action}</code>` },
    { heading: texts.object, cell: (entry) => objectOf(visit, entry) },
    { heading: texts.details, cell: (entry) => detailsOf(visit, entry) },
  ],
})}
${cursorLinks(language, { path: "/audit", query, next: nextPageToken, total: entries.length, cursor: "page" })}`,
  };
}

function shownFilters({ language }: OperatorVisit, filters: Filters) {
  const texts = textsOf(language).audit;
  return [
    { name: "merchant", label: textsOf(language).operatorForms.merchant, value: filters.merchant },
    { name: "actor", label: texts.who, value: filters.actor },
    { name: "action", label: texts.what, value: filters.action },
    { name: "object", label: texts.object, value: filters.object },
    { name: "since", label: texts.from, value: filters.since },
    { name: "until", label: texts.to, value: filters.until },
  ];
}

function filterForm({ language }: OperatorVisit, filters: Filters): Html {
  const [texts, { from, to }] = [textsOf(language).people, textsOf(language).audit];
  const field = textFields({ ...filters }, []);
  const maxlength = 64;
  return html`<details class="more panel"><summary>${textsOf(language).operatorForms.find}</summary><form method="get" action="/audit" class="grid">
${field("merchant", textsOf(language).merchants.idSearch, { maxlength })}${field("actor", texts.actor, { maxlength })}
${field("action", texts.actionFilter, { maxlength })}${field("object", texts.objectFilter, { maxlength })}
${field("since", from, { type: "date" })}${field("until", to, { type: "date" })}
<button class="button secondary">${textsOf(language).operatorForms.find}</button></form></details>`;
}

function actorCell(
  { language }: OperatorVisit,
  names: ReadonlyMap<string, string>,
  { actor }: AuditEntry,
): Html | string {
  if (actor === "") return textsOf(language).audit.service;
  const name = names.get(actor);
  const link = html`<a href="${addressWith("/audit", { actor })}"><code>${actor}</code></a>`;
  return name === undefined ? link : html`<span>${name}<br>${link}</span>`;
}

function objectOf(visit: OperatorVisit, { objectId, merchantId }: AuditEntry): Html {
  const merchant =
    merchantId === "" || merchantId === objectId
      ? ""
      : html`<br><a class="muted" href="/merchants/${merchantId}">${merchantId}</a>`;
  return html`<span><a href="${addressWith("/audit", { object: objectId })}"><code>${objectId}</code></a>${visit.may("merchants.read") ? merchant : ""}</span>`;
}

function detailsOf({ language }: OperatorVisit, { details, status, requestId }: AuditEntry): Html | string {
  const texts = textsOf(language).audit;
  const pairs = [...(status === "" ? [] : [["status", status] as const]), ...Object.entries(details)];
  if (requestId !== "") pairs.push([texts.request, requestId]);
  if (pairs.length === 0) return "";
  return html`<details class="more"><summary>${texts.details}</summary>${factList(pairs)}</details>`;
}
