// API keys of a merchant, and one key with its permissions and use. It can be rolled, limited to addresses and revoked.

import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { type ApiKey, Environment, type KeyNetwork } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf, queryOf } from "../../http/address.ts";
import { type Form, refusedFields, unlessRefused } from "../../http/form.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { fillText, type Language, textsOf } from "../../texts/texts.ts";
import { problemSummary, selectField, textArea } from "../../view/fields.ts";
import { postForm, questionPage } from "../../view/forms.ts";
import { cursorLinks, renderCopyable, toneChip } from "../../view/pieces.ts";
import { loadSection } from "../../view/section.ts";
import { factList, htmlTable } from "../../view/table.ts";
import { countText, dateTimeText, momentText } from "../../view/values.ts";
import { keyNeeds, linesOf, newKeyPage } from "./key-form.ts";

const pageSize = 50;

export function keysRoutes(context: ConsoleContext): void {
  merchantPage(context, "/keys", "keys.read", (visit) => keysPage(context, visit));
}

async function keysPage({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).keys;
  const path = `${base}/keys`;
  const query = queryOf(visit);
  const afterId = query.get("after") ?? "";
  const load = () => peers.apiKeys.listApiKeys({ merchantId, environment, limit: pageSize, afterId });
  const list = await loadSection(language, texts.title, load, ({ apiKeys, total, offset }) => {
    const hasMore = Number(offset) + apiKeys.length < Number(total);
    const next = hasMore ? apiKeys.at(-1)?.id : "";
    const all = fillText(texts.total, { count: countText(language, total) });
    return html`${keyTable(visit, apiKeys)}
${cursorLinks(language, { path, query, next, total: all })}`;
  });
  const add = visit.may("keys.write") ? html`<p><a class="button" href="${path}/new">${texts.add}</a></p>` : "";
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><p class="muted">${texts.about}</p>${add}${list}`,
  };
}

function keyTable({ language, base }: MerchantVisit, keys: readonly ApiKey[]): Html {
  const texts = textsOf(language).keys;
  return htmlTable({
    caption: texts.title,
    rows: keys,
    empty: texts.none,
    columns: [
      {
        heading: texts.name,
        cell: ({ id, name, suffix }) =>
          html`<span><a href="${base}/keys/${id}">${name}</a><br><code class="muted">····${suffix}</code></span>`,
      },
      { heading: texts.status, cell: ({ status }) => keyChip(language, status) },
      { heading: texts.scopes, cell: ({ scopes }) => scopeList(scopes) },
      { heading: texts.lastUsed, cell: ({ lastUsedAt }) => dateTimeText(language, lastUsedAt) || texts.never },
      { heading: texts.expires, cell: ({ expiresAt }) => dateTimeText(language, expiresAt) || texts.neverExpires },
      { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
    ],
  });
}

function keyChip(language: Language, status: string): Html {
  const texts = textsOf(language).keys;
  if (status === "active") return toneChip(texts.active, "good");
  return toneChip(status === "expired" ? texts.expired : texts.revoked, "quiet");
}

function scopeList(scopes: readonly string[]): Html {
  return html`<span class="words">${scopes.map((scope) => html`<code>${scope}</code>`)}</span>`;
}

const overlaps = { now: 0, hour: 3_600, day: 86_400, week: 604_800 } as const;
type Overlap = keyof typeof overlaps;

export function keyRoutes(context: ConsoleContext): void {
  const { peers } = context;
  merchantPage(context, "/keys/:id", "keys.read", (visit) => keyPage(context, visit));
  merchantPage(context, "/keys/:id/roll", "keys.write", (visit) => rollPage(context, visit));
  merchantForm(context, "/keys/:id/roll", keyNeeds, (visit, form) => roll(context, visit, form));
  merchantPage(context, "/keys/:id/addresses", "keys.write", async (visit) => {
    const { apiKey } = await keyOf(context, visit);
    return limitPage(visit, apiKey, apiKey.allowedIps.join("\n"));
  });
  merchantForm(context, "/keys/:id/addresses", keyNeeds, (visit, form) => limit(context, visit, form));
  merchantPage(context, "/keys/:id/revoke", "keys.write", (visit) => revokePage(context, visit));
  merchantForm(context, "/keys/:id/revoke", keyNeeds, async (visit) => {
    const { merchantId, environment, base } = visit;
    await peers.apiKeys.revokeApiKey({ merchantId, environment, apiKeyId: paramOf(visit, "id") });
    return { go: `${base}/keys`, done: "key-revoked" };
  });
}

/** @throws Failure NOT_FOUND */
async function keyOf({ peers }: ConsoleContext, visit: MerchantVisit) {
  const { merchantId, environment } = visit;
  const apiKeyId = paramOf(visit, "id");
  const { apiKey, networks } = await peers.apiKeys.getApiKey({ merchantId, environment, apiKeyId });
  if (!apiKey) throw new Failure("NOT_FOUND");
  return { apiKey, networks };
}

async function keyPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base, environment } = visit;
  const texts = textsOf(language).keys;
  const { apiKey, networks } = await keyOf(context, visit);
  const isLive = environment === Environment.LIVE;
  const mayChange = visit.may("keys.write") && apiKey.status === "active";
  return {
    title: apiKey.name,
    body: html`<h1>${apiKey.name}</h1>
${factList([
  [texts.key, html`<code>····${apiKey.suffix}</code>`],
  [texts.status, keyChip(language, apiKey.status)],
  [texts.scopes, scopeList(apiKey.scopes)],
  [texts.addresses, isLive ? apiKey.allowedIps.join(", ") || texts.everywhere : ""],
  [texts.lastUsed, dateTimeText(language, apiKey.lastUsedAt) || texts.never],
  [texts.expires, dateTimeText(language, apiKey.expiresAt) || texts.neverExpires],
  [texts.created, dateTimeText(language, apiKey.createdAt)],
  ["Id", renderCopyable(language, apiKey.id)],
])}
${mayChange ? actions(visit, apiKey, isLive) : ""}
${visit.may("logs.read") ? html`<p><a href="${base}/requests?key=${apiKey.id}">${texts.requests}</a></p>` : ""}
${isLive ? networkTable(visit, networks) : ""}`,
  };
}

function actions({ language, base }: MerchantVisit, { id, name }: ApiKey, isLive: boolean): Html {
  const texts = textsOf(language).keys;
  const keyPath = `${base}/keys/${id}`;
  const limitLink = isLive ? html`<a class="button secondary" href="${keyPath}/addresses">${texts.limit}</a>` : "";
  return html`<div class="actions" role="group" aria-label="${fillText(texts.actions, { name })}"><a class="button" href="${keyPath}/roll">${texts.roll}</a>${limitLink}<a class="button danger" href="${keyPath}/revoke">${texts.revoke}</a></div>`;
}

function networkTable({ language }: MerchantVisit, networks: readonly KeyNetwork[]): Html {
  const texts = textsOf(language).keys;
  const columns = [
    { heading: texts.network, cell: ({ network }: KeyNetwork) => html`<code>${network}</code>` },
    { heading: texts.firstSeen, cell: ({ firstSeenAt }: KeyNetwork) => dateTimeText(language, firstSeenAt) },
  ];
  return html`<h2>${texts.networks}</h2>${htmlTable({ caption: texts.networks, rows: networks, empty: texts.noNetwork, columns })}`;
}

async function rollPage(context: ConsoleContext, visit: MerchantVisit, tooMany = false): Promise<Page> {
  const { language, base } = visit;
  const texts = textsOf(language).keys;
  const { apiKey } = await keyOf(context, visit);
  const keyPath = `${base}/keys/${apiKey.id}`;
  const choices = (["now", "hour", "day", "week"] as const).map((value) => ({ value, label: texts[value] }));
  return questionPage(visit, {
    title: texts.rollTitle,
    text: html`<p><strong>${apiKey.name}</strong> <code>····${apiKey.suffix}</code></p><p>${texts.rollText}</p>`,
    action: `${keyPath}/roll`,
    button: texts.roll,
    isHarmless: true,
    problem: tooMany ? texts.tooMany : "",
    fields: [selectField({ name: "overlap", label: texts.overlap, value: "day", choices })],
    back: keyPath,
  });
}

async function roll(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, language } = visit;
  const texts = textsOf(language).keys;
  const chosen = form.raw("overlap");
  const overlapSeconds = overlaps[isOverlap(chosen) ? chosen : "day"];
  const apiKeyId = paramOf(visit, "id");
  const call = context.peers.apiKeys.rollApiKey({ merchantId, environment, apiKeyId, overlapSeconds });
  const rolled = await unlessRefused(call, "TOO_MANY_KEYS");
  if (!rolled) return await rollPage(context, visit, true);
  // The key's own expiry may come before the end of the overlap.
  const { apiKey: old } = await keyOf(context, visit);
  const until = old.status === "active" ? old.expiresAt : undefined;
  const note = until
    ? fillText(texts.rolledText, { until: momentText(language, timestampDate(until)) })
    : texts.rolledNow;
  const key = { secret: rolled.secret, scopes: old.scopes };
  return newKeyPage(visit, key, "rolledTitle", note, context.config.API_ORIGIN);
}

async function limit(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, base } = visit;
  const typed = form.text("addresses");
  const { apiKey } = await keyOf(context, visit);
  try {
    const allowedIps = { ranges: linesOf(typed) };
    await context.peers.apiKeys.limitApiKey({ merchantId, environment, apiKeyId: apiKey.id, allowedIps });
    return { go: `${base}/keys/${apiKey.id}`, done: "key-limited" };
  } catch (error) {
    refusedFields(error);
    return limitPage(visit, apiKey, typed, true);
  }
}

function limitPage(visit: MerchantVisit, { id, name }: ApiKey, typed: string, isWrong = false): Page {
  const { language, base } = visit;
  const { goBack, problemTitle } = textsOf(language).frame;
  const texts = textsOf(language).keys;
  const problem = isWrong ? texts.addressesWrong : "";
  const addresses = { name: "addresses", label: texts.addresses, hint: texts.addressesHint, value: typed, problem };
  const form = postForm(visit, {
    action: `${base}/keys/${id}/addresses`,
    fields: [html`<p><strong>${name}</strong></p>`, textArea({ ...addresses, rows: 6, maxlength: 2_000 })],
    button: texts.limit,
    layout: "panel",
    link: html`<a href="${base}/keys/${id}">${goBack}</a>`,
  });
  return {
    title: texts.limitTitle,
    status: isWrong ? 422 : 200,
    body: html`<h1>${texts.limitTitle}</h1>${problemSummary(problemTitle, isWrong ? [["addresses", problem]] : [])}
${form}`,
  };
}

async function revokePage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base } = visit;
  const texts = textsOf(language).keys;
  const { apiKey } = await keyOf(context, visit);
  const keyPath = `${base}/keys/${apiKey.id}`;
  return questionPage(visit, {
    title: texts.revokeTitle,
    text: html`<p><strong>${apiKey.name}</strong> <code>····${apiKey.suffix}</code></p><p>${texts.revokeText}</p>`,
    action: `${keyPath}/revoke`,
    button: texts.revokeButton,
    back: keyPath,
  });
}

function isOverlap(text: string): text is Overlap {
  return Object.hasOwn(overlaps, text);
}
