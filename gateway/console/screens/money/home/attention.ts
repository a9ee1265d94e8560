// What needs somebody: disputes that wait, webhook endpoints that fail, keys about to expire. Each is told to those
// alone to whom it is open.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { GetEndpointHealthResponse } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../../html.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { fill, textsOf } from "../../../texts/texts.ts";
import { section } from "../../../view/section.ts";
import { count, day } from "../../../view/values.ts";
import { openDisputes } from "../disputes/list.ts";

const expiresSoonMs = 14 * 86_400_000;
const healthSeconds = 86_400;
// Active keys come first, and there are fifty at most.
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

async function failingEndpoints(
  { peers }: ConsoleContext,
  { merchantId, environment }: MerchantVisit,
): Promise<number> {
  const { endpoints } = await peers.webhooks.listEndpoints({ merchantId, environment });
  const active = endpoints.filter(({ status }) => status === "active");
  const healths = await Promise.all(
    active.map(({ id }) =>
      peers.webhooks.getEndpointHealth({ merchantId, environment, endpointId: id, windowSeconds: healthSeconds }),
    ),
  );
  return healths.filter(isFailing).length;
}

/** Something was given up in a day, or nothing arrives at all. */
function isFailing({ failed, delivered, failedAttempts }: GetEndpointHealthResponse): boolean {
  return failed > 0n || (delivered === 0n && failedAttempts > 0n);
}

async function expiringKeys({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit): Promise<number> {
  const { apiKeys } = await peers.apiKeys.listApiKeys({ merchantId, environment, limit: keysMax });
  const soon = Date.now() + expiresSoonMs;
  return apiKeys.filter(
    ({ status, expiresAt }) => status === "active" && expiresAt !== undefined && timestampMs(expiresAt) < soon,
  ).length;
}
