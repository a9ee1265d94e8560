// Lists what needs attention: open disputes, failing webhook endpoints, expiring keys. Members see what their role
// allows.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { type Html, html } from "../../../../html.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { section } from "../../../view/section.ts";
import { count, day } from "../../../view/values.ts";
import { endpointsWithHealth, isFailing } from "../../developers/webhooks.ts";
import { openDisputes } from "../disputes/list.ts";

const expiresSoonMs = 14 * 86_400_000;
// The list starts with active keys, and at most fifty are active.
const keysMax = 50;

export async function renderAttention(context: ConsoleContext, visit: MerchantVisit): Promise<Html> {
  const { language, base, may } = visit;
  const texts = textsOf(language).home;
  const line = (path: string, text: string, more: Html | string = "") =>
    html`<li><a href="${base}/${path}">${text}</a>${more}</li>`;
  const parts = await Promise.all([
    may("disputes.answer")
      ? section(
          language,
          texts.disputesPart,
          () => openDisputes(context, visit),
          ({ disputes, total }) => {
            const due = disputes[0]?.dispute?.evidenceDueAt;
            const first = due ? html` – ${texts.disputeDue} ${day(language, due)}` : "";
            return total === 0n ? "" : line("disputes", fill(texts.disputes, { count: count(language, total) }), first);
          },
        )
      : "",
    may("webhooks.read")
      ? section(
          language,
          texts.webhooksPart,
          () => failingEndpoints(context, visit),
          (failing) =>
            failing === 0 ? "" : line("webhooks", fill(texts.failing, { count: count(language, failing) })),
        )
      : "",
    may("keys.read")
      ? section(
          language,
          texts.keysPart,
          () => expiringKeys(context, visit),
          (expiring) => (expiring === 0 ? "" : line("keys", fill(texts.keys, { count: count(language, expiring) }))),
        )
      : "",
  ]);
  const shown = parts.flatMap((each) => (typeof each === "string" ? [] : [each]));
  return shown.length === 0
    ? html`<p class="muted">${texts.quiet}</p>`
    : html`<section class="panel attention"><h2>${texts.attention}</h2><ul>${shown}</ul></section>`;
}

async function failingEndpoints(context: ConsoleContext, visit: MerchantVisit): Promise<number> {
  const endpoints = await endpointsWithHealth(context, visit);
  return endpoints.filter(({ endpoint, health }) => endpoint.status === "active" && isFailing(health)).length;
}

async function expiringKeys({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit): Promise<number> {
  const { apiKeys } = await peers.apiKeys.listApiKeys({ merchantId, environment, limit: keysMax });
  const soon = Date.now() + expiresSoonMs;
  return apiKeys.filter(
    ({ status, expiresAt }) => status === "active" && expiresAt !== undefined && timestampMs(expiresAt) < soon,
  ).length;
}
