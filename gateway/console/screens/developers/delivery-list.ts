// Deliveries to an endpoint, newest first, with filters in the address.
import type { Delivery, Endpoint } from "#proto/webhook/v1/webhook_pb.ts";
import { type Html, html } from "../../../html.ts";
import { queryOf } from "../../http/address.ts";
import type { ConsoleContext, MerchantVisit } from "../../session/visit.ts";
import { type Language, textsOf } from "../../texts/texts.ts";
import { filterForm, filterSelect } from "../../view/filter-form.ts";
import { chip, filterChips, pages } from "../../view/pieces.ts";
import { section } from "../../view/section.ts";
import { table } from "../../view/table.ts";
import { moment } from "../../view/values.ts";

const pageSize = 50;
const states = ["pending", "delivered", "failed"] as const;

export async function deliveryList(
  context: ConsoleContext,
  visit: MerchantVisit,
  endpoint: Endpoint,
): Promise<Html | string> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).webhooks;
  const path = `${base}/webhooks/${endpoint.id}`;
  const query = queryOf(visit);
  const status = states.find((each) => each === query.get("status")) ?? "";
  const [eventType, pageToken] = [query.get("event") ?? "", query.get("after") ?? ""];
  const filter = { endpointId: endpoint.id, pageSize, pageToken, status, eventType };
  const load = () => context.peers.webhooks.listDeliveries({ merchantId, environment, ...filter });
  const isFiltered = status !== "" || eventType !== "";
  const shown = [
    { name: "status", label: texts.status, value: status === "" ? "" : texts[status] },
    { name: "event", label: texts.event, value: eventType },
  ];
  const found = await section(language, texts.deliveries, load, ({ deliveries, nextPageToken }) => {
    return html`${deliveryTable(language, path, deliveries, isFiltered ? texts.noneFound : texts.noDelivery)}
${pages(language, { path, query, next: nextPageToken, total: deliveries.length })}`;
  });
  return html`<h2>${texts.deliveries}</h2>${filters(language, path, endpoint, status, eventType)}
${filterChips(language, path, query, shown)}${found}`;
}

function filters(language: Language, path: string, { eventTypes }: Endpoint, status: string, eventType: string): Html {
  const texts = textsOf(language).webhooks;
  const statuses = [{ value: "", label: texts.anyStatus }, ...states.map((value) => ({ value, label: texts[value] }))];
  const types = [...new Set([...eventTypes, "test.ping"])].map((value) => ({ value, label: value }));
  const events = [{ value: "", label: texts.anyEvent }, ...types];
  return filterForm(path, texts.deliveries, texts.find, [
    filterSelect({ name: "status", label: texts.status, value: status, choices: statuses }),
    filterSelect({ name: "event", label: texts.event, value: eventType, choices: events }),
  ]);
}

function deliveryTable(language: Language, path: string, deliveries: readonly Delivery[], empty: string): Html {
  const texts = textsOf(language).webhooks;
  return table({
    caption: texts.deliveries,
    rows: deliveries,
    empty,
    columns: [
      { heading: texts.event, cell: ({ id, eventType }) => html`<a href="${path}/deliveries/${id}">${eventType}</a>` },
      { heading: texts.status, cell: (delivery) => deliveryChip(language, delivery) },
      { heading: texts.attempts, isNumber: true, cell: ({ attempts }) => String(attempts) },
      { heading: texts.answer, cell: answerOf },
      { heading: texts.next, cell: ({ nextAttemptAt }) => moment(language, nextAttemptAt) },
      { heading: texts.queued, cell: ({ createdAt }) => moment(language, createdAt) },
    ],
  });
}

export function deliveryChip(language: Language, { delivered, failed }: Delivery): Html {
  const texts = textsOf(language).webhooks;
  if (delivered) return chip(texts.delivered, "good");
  return failed ? chip(texts.failed, "bad") : chip(texts.pending, "wait");
}

/** The last error, which holds the status if there was one, or else the status. */
export function answerOf({ lastError, statusCode }: Delivery): string {
  return lastError || (statusCode === 0 ? "" : String(statusCode));
}
