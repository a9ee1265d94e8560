// The audit log of all merchants and of the installation, with the names of the people of this door.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AuditEntry } from "#proto/merchant/v1/audit_pb.ts";
import { Door } from "#proto/merchant/v1/people_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { operatorPage } from "../../../routes.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { textsOf } from "../../../texts/texts.ts";
import { textField } from "../../../view/fields.ts";
import { address, dayOf } from "../../../view/operator-forms.ts";
import { filterChips, pages } from "../../../view/pieces.ts";
import { facts, table } from "../../../view/table.ts";
import { moment } from "../../../view/values.ts";

const pageSize = 50;
const dayMs = 86_400_000;

interface Filters {
  readonly merchant: string;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly since: string;
  readonly until: string;
}

export function auditRoutes(context: ConsoleContext): void {
  operatorPage(context, "/audit", "audit.read", async (visit) => await auditPage(context, visit));
}

async function auditPage(context: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).people;
  const query = queryOf(visit);
  const of = (name: string) => (query.get(name) ?? "").trim().slice(0, 64);
  const filters = {
    merchant: of("merchant"),
    actor: of("actor"),
    action: of("action"),
    object: of("object"),
    since: of("since"),
    until: of("until"),
  };
  const [since, until] = [dayOf(filters.since), dayOf(filters.until)];
  const { entries, nextPageToken } = await context.peers.audit.listAuditEntries({
    merchantId: filters.merchant,
    actor: filters.actor,
    action: filters.action,
    objectId: filters.object,
    ...(since && { since: timestampFromDate(since) }),
    // The day that is named is in.
    ...(until && { until: timestampFromDate(new Date(until.getTime() + dayMs)) }),
    pageSize,
    pageToken: query.get("page") ?? "",
  });
  const names = await namesOf(context, visit, entries);
  return {
    title: texts.audit,
    body: html`<h1>${texts.audit}</h1>${filterForm(visit, filters)}
${filterChips(language, "/audit", query, shownFilters(visit, filters))}
${table({
  caption: texts.audit,
  rows: entries,
  empty: texts.auditNone,
  columns: [
    { heading: textsOf(language).operatorForms.at, cell: ({ occurredAt }) => moment(language, occurredAt) },
    { heading: texts.who, cell: (entry) => whoOf(visit, names, entry) },
    { heading: texts.what, cell: ({ action }) => html`<code>${action}</code>` },
    { heading: texts.object, cell: (entry) => objectOf(visit, entry) },
    { heading: texts.details, cell: (entry) => detailsOf(visit, entry) },
  ],
})}
${pages(language, { path: "/audit", query, next: nextPageToken, total: entries.length, cursor: "page" })}`,
  };
}

function shownFilters({ language }: OperatorVisit, filters: Filters) {
  const texts = textsOf(language).people;
  return [
    { name: "merchant", label: textsOf(language).operatorForms.merchant, value: filters.merchant },
    { name: "actor", label: texts.who, value: filters.actor },
    { name: "action", label: texts.what, value: filters.action },
    { name: "object", label: texts.object, value: filters.object },
    { name: "since", label: texts.since, value: filters.since },
    { name: "until", label: texts.until2, value: filters.until },
  ];
}

function filterForm({ language }: OperatorVisit, filters: Filters): Html {
  const texts = textsOf(language).people;
  const field = (name: keyof Filters, label: string, type: "text" | "date" = "text") =>
    textField({ name, label, value: filters[name], type, maxlength: 64 });
  return html`<details class="more panel"><summary>${textsOf(language).operatorForms.find}</summary><form method="get" action="/audit" class="grid">
${field("merchant", texts.ofMerchant)}${field("actor", texts.actor)}${field("action", texts.actionFilter)}${field("object", texts.objectFilter)}${field("since", texts.since, "date")}${field("until", texts.until2, "date")}
<button class="button secondary">${textsOf(language).operatorForms.find}</button></form></details>`;
}

/** People of merchants are known by their ids here: who they are is their merchants' business. */
async function namesOf({ peers }: ConsoleContext, visit: OperatorVisit, entries: readonly AuditEntry[]) {
  const personIds = [...new Set(entries.map(({ actor }) => actor).filter((actor) => actor.startsWith("usr_")))];
  if (personIds.length === 0) return new Map<string, string>();
  const request = { sessionSecret: visit.secret, door: Door.OPERATORS, merchantId: "", personIds };
  const { people } = await peers.people.listNames(request).catch(() => ({ people: [] }));
  return new Map(people.map(({ id, name, email }) => [id, name || email] as const));
}

function whoOf({ language }: OperatorVisit, names: ReadonlyMap<string, string>, { actor }: AuditEntry): Html | string {
  if (actor === "") return textsOf(language).people.itself;
  const name = names.get(actor);
  const link = html`<a href="${address("/audit", { actor })}"><code>${actor}</code></a>`;
  return name === undefined ? link : html`<span>${name}<br>${link}</span>`;
}

function objectOf(visit: OperatorVisit, { objectId, merchantId }: AuditEntry): Html {
  const merchant =
    merchantId === "" || merchantId === objectId
      ? ""
      : html`<br><a class="muted" href="/merchants/${merchantId}">${merchantId}</a>`;
  return html`<span><a href="${address("/audit", { object: objectId })}"><code>${objectId}</code></a>${visit.may("merchants.read") ? merchant : ""}</span>`;
}

function detailsOf({ language }: OperatorVisit, { details, status, requestId }: AuditEntry): Html | string {
  const texts = textsOf(language).people;
  const pairs = [...(status === "" ? [] : [["status", status] as const]), ...Object.entries(details)];
  if (requestId !== "") pairs.push([texts.request, requestId]);
  if (pairs.length === 0) return "";
  return html`<details class="more"><summary>${texts.details}</summary>${facts(pairs)}</details>`;
}
