// Webhook endpoints of a merchant with their health in the last day.
import { Failure } from "#platform/values/failure.ts";
import type { Endpoint, GetEndpointHealthResponse } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf } from "../../http/address.ts";
import { merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { type Language, textsOf } from "../../texts/texts.ts";
import { toneChip } from "../../view/pieces.ts";
import { loadSection } from "../../view/section.ts";
import { htmlTable } from "../../view/table.ts";
import { dateTimeText } from "../../view/values.ts";

const daySeconds = 86_400;

interface EndpointWithHealth {
  readonly endpoint: Endpoint;
  readonly health: GetEndpointHealthResponse;
}

export function webhooksRoutes(context: ConsoleContext): void {
  merchantPage(context, "/webhooks", "webhooks.read", (visit) => webhooksPage(context, visit));
}

async function webhooksPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base } = visit;
  const texts = textsOf(language).webhooks;
  const add = visit.may("webhooks.write")
    ? html`<p><a class="button" href="${base}/webhooks/new">${texts.add}</a></p>`
    : "";
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><p class="muted">${texts.about}</p>${add}
${await loadSection(
  language,
  texts.title,
  () => endpointsWithHealth(context, visit),
  (endpoints) => endpointTable(visit, endpoints),
)}`,
  };
}

/** The endpoint of the address. @throws Failure NOT_FOUND */
export async function endpointOf({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Endpoint> {
  const { merchantId, environment } = visit;
  const { endpoint } = await peers.webhooks.getEndpoint({ merchantId, environment, endpointId: paramOf(visit, "id") });
  if (!endpoint) throw new Failure("NOT_FOUND");
  return endpoint;
}

/** A merchant has few endpoints (docs/contract.md §9), so each costs one call. */
export async function endpointsWithHealth(
  { peers }: ConsoleContext,
  visit: MerchantVisit,
): Promise<readonly EndpointWithHealth[]> {
  const { merchantId, environment } = visit;
  const { endpoints } = await peers.webhooks.listEndpoints({ merchantId, environment });
  return await Promise.all(
    endpoints.map(async (endpoint) => ({ endpoint, health: await endpointHealth({ peers }, visit, endpoint.id) })),
  );
}

export async function endpointHealth(
  { peers }: Pick<ConsoleContext, "peers">,
  { merchantId, environment }: MerchantVisit,
  endpointId: string,
): Promise<GetEndpointHealthResponse> {
  return await peers.webhooks.getEndpointHealth({ merchantId, environment, endpointId, windowSeconds: daySeconds });
}

function endpointTable({ language, base }: MerchantVisit, endpoints: readonly EndpointWithHealth[]): Html {
  const texts = textsOf(language).webhooks;
  return htmlTable({
    caption: texts.title,
    rows: endpoints,
    empty: texts.none,
    columns: [
      {
        heading: texts.url,
        cell: ({ endpoint: { id, url, description } }) =>
          html`<span><a href="${base}/webhooks/${id}">${url}</a>${description === "" ? "" : html`<br><span class="muted">${description}</span>`}</span>`,
      },
      { heading: texts.status, cell: ({ endpoint }) => statusChip(language, endpoint.status) },
      { heading: texts.health, cell: ({ endpoint, health }) => healthChip(language, endpoint, health) },
      { heading: texts.events, cell: ({ endpoint }) => String(endpoint.eventTypes.length) },
      { heading: texts.created, cell: ({ endpoint }) => dateTimeText(language, endpoint.createdAt) },
    ],
  });
}

export function statusChip(language: Language, status: string): Html {
  const texts = textsOf(language).webhooks;
  return status === "active" ? toneChip(texts.active, "good") : toneChip(texts.disabled, "quiet");
}

/** A delivery failed for good, or nothing arrives. */
export function isFailing({ failed, delivered, failedAttempts }: GetEndpointHealthResponse): boolean {
  return failed > 0n || (failedAttempts > 0n && delivered === 0n);
}

export function healthChip(language: Language, { status }: Endpoint, health: GetEndpointHealthResponse): Html {
  const texts = textsOf(language).webhooks;
  const { delivered, failedAttempts } = health;
  if (isFailing(health)) return toneChip(texts.failing, "bad");
  if (failedAttempts > 0n) return toneChip(texts.someFailing, "wait");
  if (delivered > 0n) return toneChip(texts.healthy, "good");
  return toneChip(status === "active" ? texts.quiet : texts.disabled, "quiet");
}
