// The audit log of a merchant, with the names of people, keys and endpoints.
import { isId, type Noun } from "#platform/values/id.ts";
import type { AuditEntry } from "#proto/merchant/v1/audit_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../html.ts";
import { queryOf } from "../../http/address.ts";
import { dayStart, nextDayStart } from "../../http/day.ts";
import { merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page, PersonVisit } from "../../session/visit.ts";
import { codesOf, translateCode } from "../../texts/labels.ts";
import { fillText, textsOf } from "../../texts/texts.ts";
import { filterForm, filterInput, filterSelect } from "../../view/filter-form.ts";
import { cursorLinks, filterChips, withFilter } from "../../view/pieces.ts";
import { loadSection } from "../../view/section.ts";
import { factList, htmlTable } from "../../view/table.ts";
import { dateTimeText, dayShown } from "../../view/values.ts";
import { eraseAction } from "./privacy.ts";

const pageSize = 50;

export function auditRoutes(context: ConsoleContext): void {
  merchantPage(context, "/audit", "audit.read", (visit) => auditPage(context, visit));
}

async function auditPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).audit;
  const path = `${base}/audit`;
  const query = queryOf(visit);
  const value = (name: string) => query.get(name)?.trim() ?? "";
  const [since, until] = [dayStart(value("from")), nextDayStart(value("to"))];
  const load = () =>
    context.peers.audit.listAuditEntries({
      merchantId,
      environment,
      action: value("action"),
      actor: value("actor"),
      objectId: value("object"),
      ...(since && { since }),
      ...(until && { until }),
      pageSize,
      pageToken: value("after"),
    });
  const found = await loadSection(
    language,
    texts.title,
    () => withNames(context, visit, load),
    ({ entries, next, names }) => {
      const isFiltered = ["action", "actor", "object", "from", "to"].some((name) => value(name) !== "");
      const shown = [
        { name: "action", label: texts.action, value: translateCode(language, "auditActs", value("action")) },
        { name: "actor", label: texts.actor, value: value("actor") && actorText(visit, names, value("actor")) },
        { name: "object", label: texts.object, value: value("object") },
        { name: "from", label: texts.from, value: dayShown(language, value("from")) },
        { name: "to", label: texts.to, value: dayShown(language, value("to")) },
      ];
      return html`${filterChips(language, path, query, shown)}
${entryTable(visit, entries, names, isFiltered ? texts.noneFound : texts.none)}
${cursorLinks(language, { path, query, next, total: entries.length })}`;
    },
  );
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><p class="muted">${texts.about}</p>${filters(visit, path, value)}${found}`,
  };
}

async function withNames(
  context: ConsoleContext,
  visit: MerchantVisit,
  load: () => ReturnType<ConsoleContext["peers"]["audit"]["listAuditEntries"]>,
) {
  const { entries, nextPageToken: next } = await load();
  const chosen = queryOf(visit).get("actor") ?? "";
  const ids = [chosen, ...entries.flatMap(({ actor, objectId }) => [actor, objectId])];
  return { entries, next, names: await namesOf(context, visit, ids) };
}

function filters({ language }: MerchantVisit, path: string, value: (name: string) => string): Html {
  const texts = textsOf(language).audit;
  const acts = codesOf("auditActs").map((act) => ({ value: act, label: translateCode(language, "auditActs", act) }));
  const choices = [
    { value: "", label: texts.anyAction },
    ...acts.toSorted((a, b) => a.label.localeCompare(b.label, language)),
  ];
  const { action, object, actor, from, to } = texts;
  return filterForm(path, texts.filters, texts.filter, [
    filterSelect({ name: "action", label: action, value: value("action"), choices }),
    filterInput({ name: "object", label: object, value: value("object"), type: "text", placeholder: "ak_…, whk_…" }),
    filterInput({ name: "actor", label: actor, value: value("actor"), type: "text", placeholder: "usr_…, ak_…" }),
    filterInput({ name: "from", label: from, value: value("from"), type: "date" }),
    filterInput({ name: "to", label: to, value: value("to"), type: "date" }),
  ]);
}

function entryTable(visit: MerchantVisit, entries: readonly AuditEntry[], names: Names, empty: string): Html {
  const { language, base } = visit;
  const texts = textsOf(language).audit;
  return htmlTable({
    caption: texts.title,
    rows: entries,
    empty,
    columns: [
      { heading: texts.at, cell: ({ occurredAt }) => dateTimeText(language, occurredAt) },
      {
        heading: texts.who,
        cell: ({ actor }) =>
          actor === ""
            ? texts.service
            : html`<a href="${withFilter(`${base}/audit`, new URLSearchParams(), { actor })}">${actorText(visit, names, actor)}</a>`,
      },
      {
        heading: texts.what,
        cell: (entry) =>
          html`<div>${translateCode(language, "auditActs", entry.action)}${detailsOf(visit, entry)}</div>`,
      },
      { heading: texts.object, cell: ({ objectId }) => objectOf(visit, names, objectId) },
    ],
  });
}

function actorText({ language }: MerchantVisit, { people, keys }: Names, actor: string): string {
  const texts = textsOf(language).audit;
  if (actor === "operator") return texts.operator;
  if (actor === "reader") return texts.reader;
  if (isId("person", actor)) return people.get(actor) ?? texts.formerMember;
  return isId("apiKey", actor) ? fillText(texts.key, { name: keys.get(actor) ?? actor }) : actor;
}

function detailsOf(visit: MerchantVisit, { details, status, requestId, environment }: AuditEntry): Html {
  const { language, base } = visit;
  const texts = textsOf(language).audit;
  const request =
    isId("request", requestId) && visit.may("logs.read")
      ? html`<a href="${base}/requests/${requestId}"><code>${requestId}</code></a>`
      : html`<code>${requestId}</code>`;
  const rows = Object.entries(details).map(([name, text]): [string, string] => [
    translateCode(language, "auditDetails", name),
    text,
  ]);
  return html`<details class="more"><summary class="muted">${texts.details}</summary>${factList([
    ...rows,
    [texts.status, status],
    [texts.both, environment === Environment.UNSPECIFIED ? "✓" : ""],
    [texts.request, requestId === "" ? "" : request],
  ])}</details>`;
}

/** A link if the object has a page that the person may see. */
function objectOf(visit: MerchantVisit, { people, keys, endpoints }: Names, objectId: string): Html | string {
  const text = people.get(objectId) ?? keys.get(objectId) ?? endpoints.get(objectId) ?? objectId;
  if (objectId === "" || objectId === visit.merchantId) return "";
  const objectPage = objectPages.find(({ noun, action }) => isId(noun, objectId) && visit.may(action));
  // A deleted endpoint has no page.
  const isGone = isId("endpoint", objectId) && !endpoints.has(objectId);
  const shown = text === objectId ? html`<code>${objectId}</code>` : html`${text}`;
  return objectPage && !isGone ? html`<a href="${visit.base}${objectPage.path}/${objectId}">${shown}</a>` : shown;
}

interface Names {
  readonly people: ReadonlyMap<string, string>;
  readonly keys: ReadonlyMap<string, string>;
  /** Existing endpoints only. */
  readonly endpoints: ReadonlyMap<string, string>;
}

interface ObjectPage {
  readonly noun: Noun;
  readonly action: string;
  readonly path: string;
}

const objectPages: readonly ObjectPage[] = [
  { noun: "apiKey", action: "keys.read", path: "/keys" },
  { noun: "endpoint", action: "webhooks.read", path: "/webhooks" },
  { noun: "connector", action: "connectors.read", path: "/processors" },
  { noun: "payment", action: "payments.read", path: "/payments" },
  { noun: "dispute", action: "payments.read", path: "/disputes" },
  { noun: "erasure", action: eraseAction, path: "/privacy/erasures" },
];

const idsMax = 200;

/** Names of people, API keys and endpoints. Without an answer the log shows ids. */
async function namesOf(context: ConsoleContext, visit: MerchantVisit, ids: readonly string[]): Promise<Names> {
  const [people, keys, endpoints] = await Promise.all([
    peopleOf(context, visit, ids),
    keysOf(context, visit),
    endpointsOf(context, visit),
  ]);
  return { people, keys, endpoints };
}

/** @param merchantId empty: people of the operators' console */
export async function peopleOf(
  { peers, door }: ConsoleContext,
  { secret: sessionSecret, merchantId = "" }: PersonVisit & { readonly merchantId?: string },
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const personIds = [...new Set(ids.filter((id) => isId("person", id)))].slice(0, idsMax);
  if (personIds.length === 0) return new Map();
  const request = { sessionSecret, door, merchantId, personIds };
  const { people } = await peers.people.listNames(request).catch(() => ({ people: [] }));
  return new Map(people.map(({ id, name, email }) => [id, name || email]));
}

async function keysOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit) {
  const found = peers.apiKeys.listApiKeys({ merchantId, environment });
  const { apiKeys } = await found.catch(() => ({ apiKeys: [] }));
  return new Map(apiKeys.map(({ id, name, suffix }) => [id, `${name} ····${suffix}`]));
}

/** URLs of the merchant's endpoints by id; empty during an outage. */
export async function endpointsOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit) {
  const found = peers.webhooks.listEndpoints({ merchantId, environment });
  const { endpoints } = await found.catch(() => ({ endpoints: [] }));
  return new Map(endpoints.map(({ id, url }) => [id, url]));
}
