// The events of a merchant, each with its deliveries.
import { Failure } from "#platform/values/failure.ts";
import type { AnnouncedEvent, Endpoint, PaymentDelivery } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../html.ts";
import { paramOf, queryOf } from "../../http/address.ts";
import { dayStart, nextDayStart } from "../../http/day.ts";
import { merchantPage } from "../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../session/visit.ts";
import { textsOf } from "../../texts/texts.ts";
import { filterForm, filterInput, filterSelect } from "../../view/filter-form.ts";
import { codeBlock, cursorLinks, filterChips, renderCopyable } from "../../view/pieces.ts";
import { loadSection, unlessAway } from "../../view/section.ts";
import { factList, htmlTable } from "../../view/table.ts";
import { dateTimeText, prettyJson } from "../../view/values.ts";
import { answerOf, deliveryChip } from "./webhook.ts";

const pageSize = 50;

export function eventsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/events", "logs.read", (visit) => eventsPage(context, visit));
  merchantPage(context, "/events/:id", "logs.read", (visit) => eventPage(context, visit));
}

async function eventsPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).logs;
  const path = `${base}/events`;
  const query = queryOf(visit);
  const catalogue = await unlessAway(() => context.peers.webhooks.listEventTypes({}));
  const types = catalogue?.value.eventTypes.filter(({ isReserved, category }) => !isReserved && category !== "test");
  const codes = types?.map(({ code }) => code) ?? [];
  const typed = (name: string) => query.get(name)?.trim() ?? "";
  const value = (name: string) => (name === "type" && !codes.includes(typed(name)) ? "" : typed(name));
  const [since, until] = [dayStart(value("from")), nextDayStart(value("to"))];
  const load = () =>
    context.peers.webhooks.listEvents({
      merchantId,
      environment,
      pageSize,
      pageToken: value("after"),
      type: value("type"),
      paymentId: value("payment"),
      ...(since && { since }),
      ...(until && { until }),
    });
  const names = ["type", "payment", "from", "to"] as const;
  const isFiltered = names.some((name) => value(name) !== "");
  const shown = names.map((name) => ({ name, label: texts[name], value: value(name) }));
  const list = await loadSection(language, texts.events, load, ({ events, nextPageToken }) => {
    return html`${eventTable(visit, events, isFiltered ? texts.noneFound : texts.noEvent)}
${cursorLinks(language, { path, query, next: nextPageToken, total: events.length })}`;
  });
  const choices = [{ value: "", label: texts.anyType }, ...codes.map((code) => ({ value: code, label: code }))];
  const form = filterForm(path, texts.filters, texts.filter, [
    filterSelect({ name: "type", label: texts.type, value: value("type"), choices }),
    filterInput({ name: "payment", label: texts.payment, value: value("payment"), type: "text", placeholder: "pay_…" }),
    filterInput({ name: "from", label: texts.from, value: value("from"), type: "date" }),
    filterInput({ name: "to", label: texts.to, value: value("to"), type: "date" }),
  ]);
  return {
    title: texts.events,
    body: html`<h1>${texts.events}</h1><p class="muted">${texts.eventsAbout}</p>${form}${filterChips(language, path, query, shown)}${list}`,
  };
}

function eventTable(visit: MerchantVisit, events: readonly AnnouncedEvent[], empty: string): Html {
  const { language, base } = visit;
  const texts = textsOf(language).logs;
  return htmlTable({
    caption: texts.events,
    rows: events,
    empty,
    columns: [
      { heading: texts.event, cell: ({ id, type }) => html`<a href="${base}/events/${id}">${type}</a>` },
      { heading: texts.payment, cell: ({ paymentId }) => paymentLink(visit, paymentId) },
      { heading: texts.at, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
    ],
  });
}

function paymentLink(visit: MerchantVisit, paymentId: string): Html | string {
  if (paymentId === "") return "";
  return visit.may("payments.read")
    ? html`<a href="${visit.base}/payments/${paymentId}"><code>${paymentId}</code></a>`
    : html`<code>${paymentId}</code>`;
}

async function eventPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { merchantId, environment, language } = visit;
  const texts = textsOf(language).logs;
  const { webhooks } = context.peers;
  const { event, deliveries } = await webhooks.getEvent({ merchantId, environment, eventId: paramOf(visit, "id") });
  if (!event) throw new Failure("NOT_FOUND");
  const { endpoints } = await webhooks.listEndpoints({ merchantId, environment });
  return {
    title: event.type,
    body: html`<h1>${event.type}</h1>
${factList([
  [texts.at, dateTimeText(language, event.createdAt)],
  [texts.payment, paymentLink(visit, event.paymentId)],
  ["Id", renderCopyable(language, event.id)],
])}
<h2>${texts.body}</h2>${codeBlock(language, prettyJson(event.payload))}
<h2>${texts.deliveries}</h2>${deliveryTable(visit, deliveries, endpoints)}`,
  };
}

function deliveryTable(
  { language, base, may }: MerchantVisit,
  deliveries: readonly PaymentDelivery[],
  endpoints: readonly Endpoint[],
): Html {
  const texts = textsOf(language).logs;
  const rows = deliveries.flatMap(({ endpointId, delivery }) => (delivery ? [{ endpointId, delivery }] : []));
  const endpointOf = ({ endpointId, delivery }: (typeof rows)[number]) => {
    const endpoint = endpoints.find(({ id }) => id === endpointId);
    if (!endpoint) return texts.deleted;
    return may("webhooks.read")
      ? html`<a href="${base}/webhooks/${endpointId}/deliveries/${delivery.id}">${endpoint.url}</a>`
      : endpoint.url;
  };
  return htmlTable({
    caption: texts.deliveries,
    rows,
    empty: texts.noDelivery,
    columns: [
      { heading: texts.endpoint, cell: endpointOf },
      { heading: texts.state, cell: ({ delivery }) => deliveryChip(language, delivery) },
      { heading: texts.attempts, isNumber: true, cell: ({ delivery }) => String(delivery.attempts) },
      { heading: texts.answer, cell: ({ delivery }) => answerOf(delivery) },
    ],
  });
}
