// The log of API requests, by Request-Id or with filters. It holds no bodies and no secrets.
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { ApiRequest } from "#proto/merchant/v1/audit_pb.ts";
import type { ApiKey } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf, queryOf } from "../../http/address.ts";
import { dayStart, nextDayStart } from "../../http/day.ts";
import { merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { type Language, textsOf } from "../../texts/texts.ts";
import { filterForm, filterInput, filterSelect, searchInput } from "../../view/filter-form.ts";
import { cursorLinks, filterChips, renderCopyable, toneChip } from "../../view/pieces.ts";
import { loadSection } from "../../view/section.ts";
import { factList, htmlTable } from "../../view/table.ts";
import { countText, dateTimeText, dayShown } from "../../view/values.ts";

const pageSize = 50;

export function requestsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/requests", "logs.read", (visit) => requestsPage(context, visit));
  merchantPage(context, "/requests/:id", "logs.read", (visit) => requestPage(context, visit));
}

async function requestsPage(context: ConsoleContext, visit: MerchantVisit): Promise<Answer> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).logs;
  const path = `${base}/requests`;
  const query = queryOf(visit);
  const id = (query.get("id") ?? "").trim();
  if (isId("request", id)) return { go: `${path}/${id}` };
  const value = (name: string) => query.get(name) ?? "";
  const minStatus = value("outcome") === "500" ? 500 : value("outcome") === "400" ? 400 : 0;
  const [since, until] = [dayStart(value("from")), nextDayStart(value("to"))];
  const keys = await keysOf(context, visit);
  const load = () =>
    context.peers.audit.listApiRequests({
      merchantId,
      environment,
      apiKeyId: value("key"),
      minStatus,
      ...(since && { since }),
      ...(until && { until }),
      pageSize,
      pageToken: value("after"),
    });
  const isFiltered = ["key", "outcome", "from", "to"].some((name) => value(name) !== "");
  const shown = [
    { name: "key", label: texts.key, value: nameOf(keys, value("key")) },
    { name: "outcome", label: texts.outcome, value: minStatus === 500 ? texts.broken : minStatus ? texts.refused : "" },
    { name: "from", label: texts.from, value: dayShown(language, value("from")) },
    { name: "to", label: texts.to, value: dayShown(language, value("to")) },
  ];
  const list = await loadSection(language, texts.requests, load, ({ requests, nextPageToken }) => {
    return html`${requestTable(visit, requests, keys, isFiltered ? texts.noneFound : texts.noRequest)}
${cursorLinks(language, { path, query, next: nextPageToken, total: requests.length })}`;
  });
  return {
    title: texts.requests,
    body: html`<h1>${texts.requests}</h1><p class="muted">${texts.requestsAbout}</p>
${filterForm(path, texts.byId, texts.find, [searchInput({ name: "id", label: texts.byIdHint, value: id })])}${filters(visit, path, query, keys)}${filterChips(language, path, query, shown)}${list}`,
  };
}

function filters({ language }: MerchantVisit, path: string, query: URLSearchParams, keys: readonly ApiKey[]): Html {
  const texts = textsOf(language).logs;
  const value = (name: string) => query.get(name) ?? "";
  const outcomes = [
    { value: "", label: texts.anyOutcome },
    { value: "400", label: texts.refused },
    { value: "500", label: texts.broken },
  ];
  const named = keys.map(({ id, name, suffix }) => ({ value: id, label: `${name} ····${suffix}` }));
  const keyChoices = [{ value: "", label: texts.anyKey }, ...named];
  return filterForm(path, texts.filters, texts.filter, [
    filterSelect({ name: "outcome", label: texts.outcome, value: value("outcome"), choices: outcomes }),
    filterSelect({ name: "key", label: texts.key, value: value("key"), choices: keyChoices }),
    filterInput({ name: "from", label: texts.from, value: value("from"), type: "date" }),
    filterInput({ name: "to", label: texts.to, value: value("to"), type: "date" }),
  ]);
}

/** Keys by name. Without an answer the log shows ids. */
async function keysOf({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit) {
  const found = peers.apiKeys.listApiKeys({ merchantId, environment });
  return (await found.catch(() => ({ apiKeys: [] }))).apiKeys;
}

function nameOf(keys: readonly ApiKey[], id: string): string {
  const key = keys.find((each) => each.id === id);
  return key ? `${key.name} ····${key.suffix}` : id;
}

function requestTable(
  { language, base }: MerchantVisit,
  requests: readonly ApiRequest[],
  keys: readonly ApiKey[],
  empty: string,
): Html {
  const texts = textsOf(language).logs;
  return htmlTable({
    caption: texts.requests,
    rows: requests,
    empty,
    columns: [
      {
        heading: texts.request,
        cell: ({ requestId, method, path }) =>
          html`<a href="${base}/requests/${requestId}"><code>${method} ${path}</code></a>`,
      },
      { heading: texts.status, cell: (request) => statusOf(request) },
      { heading: texts.key, cell: ({ apiKeyId }) => nameOf(keys, apiKeyId) },
      { heading: texts.took, isNumber: true, cell: (request) => tookOf(language, request) },
      { heading: texts.at, cell: ({ at }) => dateTimeText(language, at) },
    ],
  });
}

function statusOf({ status, errorCode }: ApiRequest): Html {
  const tone = status < 400 ? "good" : status < 500 ? "wait" : "bad";
  return html`${toneChip(String(status), tone)} ${errorCode === "" ? "" : html`<code>${errorCode}</code>`}`;
}

function tookOf(language: Language, { durationMs }: ApiRequest): string {
  return `${countText(language, Math.round(durationMs))} ms`;
}

async function requestPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).logs;
  const { request } = await context.peers.audit.getApiRequest({ requestId: paramOf(visit, "id") });
  // The service finds a request by its id alone, also one of another merchant.
  if (request?.merchantId !== merchantId || request.environment !== environment) throw new Failure("NOT_FOUND");
  const keys = await keysOf(context, visit);
  const keyName = nameOf(keys, request.apiKeyId);
  const key = visit.may("keys.read") ? html`<a href="${base}/keys/${request.apiKeyId}">${keyName}</a>` : keyName;
  const [, paymentId] = /\/(pay_[0-9a-z]{26})\b/.exec(request.path) ?? [];
  return {
    title: `${request.method} ${request.path}`,
    body: html`<h1><code>${request.method} ${request.path}</code></h1>
${factList([
  [texts.status, statusOf(request)],
  [texts.byId, renderCopyable(language, request.requestId)],
  [texts.at, dateTimeText(language, request.at)],
  [texts.took, tookOf(language, request)],
  [texts.key, key],
  [
    texts.payment,
    paymentId && visit.may("payments.read") ? html`<a href="${base}/payments/${paymentId}">${paymentId}</a>` : "",
  ],
])}`,
  };
}
