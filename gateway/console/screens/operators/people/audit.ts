// The audit log of all merchants and of the installation, with the names of people and merchants and acts in words.
import type { FastifyReply } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import type { AuditEntry } from "#proto/merchant/v1/audit_pb.ts";
import { csvHeading, csvRow } from "../../../../../services/public-json/csv.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { dayStart, nextDayStart } from "../../../http/day.ts";
import { operatorPage } from "../../../routes.ts";
import { admitOperator, admitPerson } from "../../../session/admit.ts";
import { Downloads, sendCsv } from "../../../session/download.ts";
import type { ConsoleContext, OperatorVisit, Page } from "../../../session/visit.ts";
import { codeChoices, codesOf, translateCode } from "../../../texts/labels.ts";
import { textsOf } from "../../../texts/texts.ts";
import { filterForm, filterInput, filterSelect } from "../../../view/filter-form.ts";
import { downloadLink, environmentCell, shortId, timeCell } from "../../../view/operator-forms.ts";
import { addressWith, cursorLinks, filterChips, withFilter } from "../../../view/pieces.ts";
import { factList, htmlTable } from "../../../view/table.ts";
import { dateTimeText, dayShown } from "../../../view/values.ts";
import { peopleOf } from "../../settings/audit.ts";
import { chooseMerchant, merchantNames } from "../merchants/find-merchant.ts";

const right = "audit.read";
const pageSize = 50;
// The service's limit.
const fileSize = 200;

interface Filters {
  readonly merchant: string;
  readonly actor: string;
  readonly action: string;
  readonly object: string;
  readonly since: string;
  readonly until: string;
}

/** Names by id. */
interface Names {
  readonly people: ReadonlyMap<string, string>;
  readonly merchants: ReadonlyMap<string, string>;
}

export function auditRoutes(context: ConsoleContext): void {
  operatorPage(context, "/audit", right, (visit) => auditPage(context, visit));
  const downloads = new Downloads();
  operatorPage(context, "/audit.csv", right, (visit) => sendEntries(context, downloads, visit));
}

async function sendEntries(context: ConsoleContext, downloads: Downloads, visit: OperatorVisit): Promise<FastifyReply> {
  const { filters, choice } = await readFilters(context, visit);
  if (choice !== "") throw new Failure("NOT_FOUND");
  return await sendCsv(visit, downloads, {
    name: "audit",
    owner: "operators",
    head: csvHeading(entryColumns),
    load: async (pageToken) => {
      const request = { ...requestOf(filters, pageToken), pageSize: fileSize };
      const { entries, nextPageToken } = await context.peers.audit.listAuditEntries(request);
      return { entries, nextPageToken, names: await namesOf(context, visit, filters, entries) };
    },
    linesOf: ({ entries, names }) => entries.map((entry) => entryRow(entry, names)).join(""),
    nextOf: ({ nextPageToken }) => nextPageToken || undefined,
    assertStillMay: async () => admitOperator(await admitPerson(context, visit.request, visit.reply), right),
  });
}

const entryColumns = [
  ...["at", "environment", "merchant_id", "merchant_name", "actor", "actor_name"],
  ...["action", "object_id", "status", "request_id", "details"],
];

function entryRow(entry: AuditEntry, { people, merchants }: Names): string {
  const { occurredAt, environment, merchantId, actor, action, objectId, status, requestId, details } = entry;
  return csvRow([
    ...[timeCell(occurredAt), environmentCell(environment), merchantId, merchants.get(merchantId) ?? ""],
    ...[actor, people.get(actor) ?? "", action, objectId, status, requestId, JSON.stringify(details)],
  ]);
}

async function auditPage(context: ConsoleContext, visit: OperatorVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).audit;
  const query = queryOf(visit);
  const { typed, filters, choice } = await readFilters(context, visit);
  const { entries, nextPageToken } =
    choice === ""
      ? await context.peers.audit.listAuditEntries(requestOf(filters, query.get("page") ?? ""))
      : { entries: [], nextPageToken: "" };
  const names = await namesOf(context, visit, filters, entries);
  const team = await teamOf(context, visit, filters.merchant);
  const actors = new Map([...team, ...names.people]);
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1>${renderFilters(visit, typed, actors)}${choice}
${filterChips(language, "/audit", query, shownFilters(visit, filters, { ...names, people: actors }))}
${choice === "" ? html`${entryTable(visit, entries, names)}${downloadLink(visit, withFilter("/audit.csv", query, { merchant: filters.merchant }))}` : ""}
${cursorLinks(language, { path: "/audit", query, next: nextPageToken, total: entries.length, cursor: "page" })}`,
  };
}

async function readFilters(context: ConsoleContext, visit: OperatorVisit) {
  const query = queryOf(visit);
  const of = (name: string) => (query.get(name) ?? "").trim().slice(0, 64);
  const typed: Filters = {
    ...{ merchant: of("merchant"), actor: of("actor"), action: of("action") },
    ...{ object: of("object"), since: of("since"), until: of("until") },
  };
  const { id: merchant, choice } = await chooseMerchant(context, visit, { path: "/audit", query, name: "merchant" });
  return { typed, filters: { ...typed, merchant }, choice };
}

function requestOf({ merchant, actor, action, object, since: from, until: to }: Filters, pageToken: string) {
  const [since, until] = [dayStart(from), nextDayStart(to)];
  const filter = { merchantId: merchant, actor, action, objectId: object };
  return { ...filter, ...(since && { since }), ...(until && { until }), pageSize, pageToken };
}

// A page rarely has entries of more merchants; the people of further ones are shown by id.
const teamsMax = 20;

async function namesOf(
  context: ConsoleContext,
  visit: OperatorVisit,
  filters: Filters,
  entries: readonly AuditEntry[],
): Promise<Names> {
  const ids = [filters.actor, ...entries.flatMap(({ actor, objectId }) => [actor, objectId])];
  const merchantIds = [...new Set([filters.merchant, ...entries.map(({ merchantId }) => merchantId)])];
  const teams = ["", ...merchantIds.filter((id) => id !== "").slice(0, teamsMax)];
  const [merchants, ...people] = await Promise.all([
    merchantNames(context, merchantIds),
    ...teams.map((merchantId) => peopleOf(context, { ...visit, merchantId }, ids)),
  ]);
  return { merchants, people: new Map(people.flatMap((found) => [...found])) };
}

/** Operators, and the chosen merchant's people: the choices of the filter. */
async function teamOf(
  { peers, door }: ConsoleContext,
  { secret: sessionSecret }: OperatorVisit,
  merchant: string,
): Promise<ReadonlyMap<string, string>> {
  const load = async (merchantId: string) => {
    const found = peers.people.listMembers({ sessionSecret, door, merchantId });
    const { members } = await found.catch(() => ({ members: [] }));
    return members.flatMap(({ person }) => (person ? [[person.id, person.name || person.email] as const] : []));
  };
  const teams = await Promise.all(["", ...(merchant === "" ? [] : [merchant])].map(load));
  return new Map(teams.flat());
}

function shownFilters({ language }: OperatorVisit, filters: Filters, { people, merchants }: Names) {
  const texts = textsOf(language).audit;
  const { merchant, actor, action, object, since, until } = filters;
  return [
    { name: "merchant", label: texts.merchant, value: merchants.get(merchant) ?? merchant },
    { name: "actor", label: texts.who, value: actorText(language, people, actor) },
    { name: "action", label: texts.what, value: translateCode(language, "auditActs", action) },
    { name: "object", label: texts.object, value: object },
    { name: "since", label: texts.from, value: dayShown(language, since) },
    { name: "until", label: texts.to, value: dayShown(language, until) },
  ];
}

function renderFilters({ language }: OperatorVisit, filters: Filters, people: ReadonlyMap<string, string>): Html {
  const texts = textsOf(language).audit;
  const { merchant, actor, action, object, since, until } = filters;
  const known = [...people].map(([value, label]) => ({ value, label }));
  const commands = ["operator", "reader"].map((value) => ({ value, label: actorText(language, people, value) }));
  const others = actor === "" || people.has(actor) || ["operator", "reader"].includes(actor) ? [] : [actor];
  const actors = [
    { value: "", label: texts.anyone },
    ...known.toSorted((a, b) => a.label.localeCompare(b.label, language)),
    ...commands,
    ...others.map((value) => ({ value, label: value })),
  ];
  const acts = codeChoices(language, "auditActs", codesOf("auditActs"), texts.anyAction);
  const { search } = textsOf(language).merchants;
  return filterForm("/audit", texts.filters, texts.filter, [
    filterInput({ name: "merchant", label: texts.merchant, value: merchant, type: "text", placeholder: search }),
    filterSelect({ name: "actor", label: texts.who, value: actor, choices: actors }),
    filterSelect({
      ...{ name: "action", label: texts.action, value: action },
      choices: acts.toSorted(
        (a, b) => Number(a.value !== "") - Number(b.value !== "") || a.label.localeCompare(b.label, language),
      ),
    }),
    filterInput({ name: "object", label: textsOf(language).people.objectFilter, value: object, type: "text" }),
    filterInput({ name: "since", label: texts.from, value: since, type: "date" }),
    filterInput({ name: "until", label: texts.to, value: until, type: "date" }),
  ]);
}

function entryTable(visit: OperatorVisit, entries: readonly AuditEntry[], names: Names): Html {
  const { language } = visit;
  const texts = textsOf(language).audit;
  return htmlTable({
    caption: texts.title,
    rows: entries,
    empty: texts.noneFound,
    columns: [
      { heading: texts.at, cell: ({ occurredAt }) => dateTimeText(language, occurredAt) },
      { heading: texts.who, cell: (entry) => actorCell(visit, names, entry) },
      {
        heading: texts.what,
        cell: (entry) =>
          html`<div>${translateCode(language, "auditActs", entry.action)}${detailsOf(visit, entry)}</div>`,
      },
      { heading: texts.object, cell: (entry) => objectOf(visit, names, entry) },
    ],
  });
}

function actorText(language: OperatorVisit["language"], people: ReadonlyMap<string, string>, actor: string): string {
  const texts = textsOf(language).audit;
  if (actor === "operator") return texts.command;
  if (actor === "reader") return texts.reader;
  return people.get(actor) ?? actor;
}

function actorCell({ language }: OperatorVisit, { people }: Names, { actor }: AuditEntry): Html | string {
  if (actor === "") return textsOf(language).audit.service;
  const text = actorText(language, people, actor);
  return html`<a href="${addressWith("/audit", { actor })}">${text === actor ? shortId(actor) : text}</a>`;
}

function objectOf(visit: OperatorVisit, { people, merchants }: Names, { objectId, merchantId }: AuditEntry): Html {
  const name = people.get(objectId) ?? merchants.get(objectId);
  const merchant =
    merchantId === "" || merchantId === objectId
      ? ""
      : html`<br><a class="muted" href="/merchants/${merchantId}">${merchants.get(merchantId) ?? shortId(merchantId)}</a>`;
  return html`<span><a href="${addressWith("/audit", { object: objectId })}">${name ?? shortId(objectId)}</a>${visit.may("merchants.read") ? merchant : ""}</span>`;
}

function detailsOf({ language }: OperatorVisit, entry: AuditEntry): Html {
  const texts = textsOf(language).audit;
  const { action, details, status, requestId, objectId, actor } = entry;
  const pairs = Object.entries(details).map(
    ([name, text]) => [translateCode(language, "auditDetails", name), text] as const,
  );
  const ids = [
    [texts.action, action],
    [texts.object, objectId],
    [texts.who, actor],
    [texts.request, requestId],
  ] as const;
  return html`<details class="more"><summary class="muted">${texts.details}</summary>${factList([...pairs, [texts.status, status], ...ids])}</details>`;
}
