// One webhook endpoint with its health, actions and deliveries, newest first, with filters in the address.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { Delivery, Endpoint, GetEndpointHealthResponse } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf, queryOf } from "../../http/address.ts";
import { merchantForm, merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { type Language, textsOf } from "../../texts/texts.ts";
import { hiddenField, selectField } from "../../view/fields.ts";
import { filterForm, filterSelect } from "../../view/filter-form.ts";
import { postForm, questionPage } from "../../view/forms.ts";
import { cursorLinks, filterChips, renderCopyable, toneChip } from "../../view/pieces.ts";
import { loadSection } from "../../view/section.ts";
import { factList, htmlTable } from "../../view/table.ts";
import { countText, dateTimeText } from "../../view/values.ts";
import { verifyingCode } from "./webhook-form.ts";
import { endpointHealth, endpointOf, healthChip, statusChip } from "./webhooks.ts";

const write = { action: "webhooks.write" };
const hourMs = 3_600_000;
/** How far back failed deliveries are retried, and events replayed. */
const sinceHours = { hour: 1, day: 24, threeDays: 72, month: 720 } as const;
type Since = keyof typeof sinceHours;

export function webhookRoutes(context: ConsoleContext): void {
  const { peers } = context;
  merchantPage(context, "/webhooks/:id", "webhooks.read", (visit) => endpointPage(context, visit));
  merchantPage(context, "/webhooks/:id/delete", "webhooks.write", (visit) => deletePage(context, visit));
  merchantForm(context, "/webhooks/:id/delete", write, async (visit) => {
    const { merchantId, environment, base } = visit;
    await peers.webhooks.deleteEndpoint({ merchantId, environment, endpointId: paramOf(visit, "id") });
    return { go: `${base}/webhooks`, done: "endpoint-deleted" };
  });
  merchantForm(context, "/webhooks/:id/status", write, async (visit, form) => {
    const { merchantId, environment, base } = visit;
    const status = form.raw("status") === "active" ? "active" : "disabled";
    const endpointId = paramOf(visit, "id");
    await peers.webhooks.updateEndpoint({ merchantId, environment, endpointId, status });
    return {
      go: `${base}/webhooks/${endpointId}`,
      done: status === "active" ? "endpoint-enabled" : "endpoint-disabled",
    };
  });
  merchantForm(context, "/webhooks/:id/test", write, async (visit) => {
    const { merchantId, environment, base } = visit;
    const endpointId = paramOf(visit, "id");
    const { deliveryId } = await peers.webhooks.sendTestEvent({ merchantId, environment, endpointId });
    const endpointPath = `${base}/webhooks/${endpointId}`;
    if (deliveryId === "") return { go: endpointPath, done: "endpoint-not-tested" };
    return { go: `${endpointPath}/deliveries/${deliveryId}`, done: "delivery-queued" };
  });
  merchantForm(context, "/webhooks/:id/retry-failed", write, async (visit, form) => {
    const { merchantId, environment, base } = visit;
    const endpointId = paramOf(visit, "id");
    const since = sinceOf(form.raw("since"));
    const { run } = await peers.webhooks.retryFailedDeliveries({ merchantId, environment, endpointId, since });
    return { go: `${base}/webhooks/${endpointId}/runs/${run?.id ?? ""}` };
  });
  merchantForm(context, "/webhooks/:id/replay", write, async (visit, form) => {
    const { merchantId, environment, base } = visit;
    const endpointId = paramOf(visit, "id");
    const since = sinceOf(form.raw("replay_since"));
    const { run } = await peers.webhooks.replayEvents({ merchantId, environment, endpointId, since });
    return { go: `${base}/webhooks/${endpointId}/runs/${run?.id ?? ""}` };
  });
}

function sinceOf(chosen: string) {
  return timestampFromMs(Date.now() - sinceHours[isSince(chosen) ? chosen : "day"] * hourMs);
}

async function endpointPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language } = visit;
  const texts = textsOf(language).webhooks;
  const endpoint = await endpointOf(context, visit);
  const health = () => endpointHealth(context, visit, endpoint.id);
  return {
    title: endpoint.url,
    body: html`<h1>${endpoint.url}</h1>
${factList([
  [texts.status, statusChip(language, endpoint.status)],
  [texts.description, endpoint.description],
  [texts.events, html`${endpoint.eventTypes.map((code) => html`<code>${code}</code>`)}`],
  [texts.payload, endpoint.payload === "object" ? texts.object : texts.reference],
  ["Id", renderCopyable(language, endpoint.id)],
  [texts.created, dateTimeText(language, endpoint.createdAt)],
])}
${await loadSection(language, texts.health, health, (found) => healthFacts(visit, endpoint, found))}
${visit.may("webhooks.write") ? actions(visit, endpoint) : ""}
${await deliveryList(context, visit, endpoint)}
${verifyingCode(language)}`,
  };
}

function healthFacts({ language }: MerchantVisit, endpoint: Endpoint, health: GetEndpointHealthResponse): Html {
  const texts = textsOf(language).webhooks;
  return html`<section class="panel"><h2>${texts.health}</h2>${factList([
    [texts.status, healthChip(language, endpoint, health)],
    [texts.delivered, countText(language, health.delivered)],
    [texts.failed, countText(language, health.failed)],
    [texts.pending, countText(language, health.pending)],
    [texts.oldest, dateTimeText(language, health.oldestPendingAt)],
  ])}</section>`;
}

function actions(visit: MerchantVisit, { id, status }: Endpoint): Html {
  const { language, base } = visit;
  const texts = textsOf(language).webhooks;
  const endpointPath = `${base}/webhooks/${id}`;
  const isActive = status === "active";
  const choices = (["hour", "day", "threeDays", "month"] as const).map((value) => ({ value, label: texts[value] }));
  const inline = { tone: "secondary", layout: "inline" } as const;
  const toggle = postForm(visit, {
    ...{ action: `${endpointPath}/status`, fields: [hiddenField("status", isActive ? "disabled" : "active")] },
    ...{ button: isActive ? texts.disable : texts.enable, ...inline },
  });
  const test = postForm(visit, { action: `${endpointPath}/test`, button: texts.test, ...inline });
  const again = (action: string, name: string, title: string, text: string) => {
    const since = selectField({ name, label: texts.since, value: "day", choices });
    return html`<details class="more panel"><summary>${title}</summary><p class="muted">${text}</p>
${postForm(visit, { action: `${endpointPath}/${action}`, fields: [since], button: title })}</details>`;
  };
  return html`<div class="actions"><a class="button secondary" href="${endpointPath}/edit">${texts.edit}</a>
${toggle}${isActive ? test : ""}
<a class="button secondary" href="${endpointPath}/roll">${texts.roll}</a><a class="button danger" href="${endpointPath}/delete">${texts.remove}</a></div>
${again("retry-failed", "since", texts.retryFailed, texts.retryFailedText)}
${again("replay", "replay_since", texts.replay, texts.replayText)}`;
}

async function deletePage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const texts = textsOf(visit.language).webhooks;
  const { id, url } = await endpointOf(context, visit);
  const endpointPath = `${visit.base}/webhooks/${id}`;
  return questionPage(visit, {
    title: texts.removeTitle,
    text: html`<p><strong>${url}</strong></p><p>${texts.removeText}</p>`,
    action: `${endpointPath}/delete`,
    button: texts.removeButton,
    back: endpointPath,
  });
}

function isSince(text: string): text is Since {
  return Object.hasOwn(sinceHours, text);
}

const pageSize = 50;
const states = ["pending", "delivered", "failed"] as const;

async function deliveryList(context: ConsoleContext, visit: MerchantVisit, endpoint: Endpoint): Promise<Html | string> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).webhooks;
  const path = `${base}/webhooks/${endpoint.id}`;
  const query = queryOf(visit);
  const status = states.find((each) => each === query.get("status")) ?? "";
  const eventType = typesOf(endpoint).find((each) => each === query.get("event")) ?? "";
  const pageToken = query.get("after") ?? "";
  const filter = { endpointId: endpoint.id, pageSize, pageToken, status, eventType };
  const load = () => context.peers.webhooks.listDeliveries({ merchantId, environment, ...filter });
  const isFiltered = status !== "" || eventType !== "";
  const shown = [
    { name: "status", label: texts.status, value: status === "" ? "" : texts[status] },
    { name: "event", label: texts.event, value: eventType },
  ];
  const found = await loadSection(language, texts.deliveries, load, ({ deliveries, nextPageToken }) => {
    return html`${deliveryTable(language, path, deliveries, isFiltered ? texts.noneFound : texts.noDelivery)}
${cursorLinks(language, { path, query, next: nextPageToken, total: deliveries.length })}`;
  });
  return html`<h2>${texts.deliveries}</h2>${filters(language, path, endpoint, status, eventType)}
${filterChips(language, path, query, shown)}${found}`;
}

/** Those that the form offers. */
function typesOf({ eventTypes }: Endpoint): readonly string[] {
  return [...new Set([...eventTypes, "test.ping"])];
}

function filters(language: Language, path: string, endpoint: Endpoint, status: string, eventType: string): Html {
  const texts = textsOf(language).webhooks;
  const statuses = [{ value: "", label: texts.anyStatus }, ...states.map((value) => ({ value, label: texts[value] }))];
  const types = typesOf(endpoint).map((value) => ({ value, label: value }));
  const events = [{ value: "", label: texts.anyEvent }, ...types];
  return filterForm(path, texts.deliveries, texts.find, [
    filterSelect({ name: "status", label: texts.status, value: status, choices: statuses }),
    filterSelect({ name: "event", label: texts.event, value: eventType, choices: events }),
  ]);
}

function deliveryTable(language: Language, path: string, deliveries: readonly Delivery[], empty: string): Html {
  const texts = textsOf(language).webhooks;
  return htmlTable({
    caption: texts.deliveries,
    rows: deliveries,
    empty,
    columns: [
      { heading: texts.event, cell: ({ id, eventType }) => html`<a href="${path}/deliveries/${id}">${eventType}</a>` },
      { heading: texts.status, cell: (delivery) => deliveryChip(language, delivery) },
      { heading: texts.attempts, isNumber: true, cell: ({ attempts }) => String(attempts) },
      { heading: texts.answer, cell: answerOf },
      { heading: texts.next, cell: ({ nextAttemptAt }) => dateTimeText(language, nextAttemptAt) },
      { heading: texts.queued, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
    ],
  });
}

export function deliveryChip(language: Language, { delivered, failed }: Delivery): Html {
  const texts = textsOf(language).webhooks;
  if (delivered) return toneChip(texts.delivered, "good");
  return failed ? toneChip(texts.failed, "bad") : toneChip(texts.pending, "wait");
}

/** The last error, which holds the status if there was one, or else the status. */
export function answerOf({ lastError, statusCode }: Delivery): string {
  return lastError || (statusCode === 0 ? "" : String(statusCode));
}
