// API keys of a merchant, active ones first, each with its last four characters only.
import type { ApiKey } from "#proto/merchant/v1/merchant_pb.ts";
import { type Html, html } from "../../../html.ts";
import { queryOf } from "../../http/address.ts";
import { merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { fill, type Language, textsOf } from "../../texts/texts.ts";
import { chip, pages } from "../../view/pieces.ts";
import { section } from "../../view/section.ts";
import { table } from "../../view/table.ts";
import { count, moment } from "../../view/values.ts";

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
  const list = await section(language, texts.title, load, ({ apiKeys, total, offset }) => {
    const hasMore = Number(offset) + apiKeys.length < Number(total);
    const next = hasMore ? apiKeys.at(-1)?.id : "";
    const all = fill(texts.total, { count: count(language, total) });
    return html`${keyTable(visit, apiKeys)}
${pages(language, { path, query, next, total: all })}`;
  });
  const add = visit.may("keys.write") ? html`<p><a class="button" href="${path}/new">${texts.add}</a></p>` : "";
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><p class="muted">${texts.about}</p>${add}${list}`,
  };
}

function keyTable({ language, base }: MerchantVisit, keys: readonly ApiKey[]): Html {
  const texts = textsOf(language).keys;
  return table({
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
      { heading: texts.lastUsed, cell: ({ lastUsedAt }) => moment(language, lastUsedAt) || texts.never },
      { heading: texts.expires, cell: ({ expiresAt }) => moment(language, expiresAt) || texts.neverExpires },
      { heading: texts.created, cell: ({ createdAt }) => moment(language, createdAt) },
    ],
  });
}

export function keyChip(language: Language, status: string): Html {
  const texts = textsOf(language).keys;
  if (status === "active") return chip(texts.active, "good");
  return chip(status === "expired" ? texts.expired : texts.revoked, "quiet");
}

export function scopeList(scopes: readonly string[]): Html {
  return html`<span class="words">${scopes.map((scope) => html`<code>${scope}</code>`)}</span>`;
}
