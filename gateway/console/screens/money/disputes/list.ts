// Disputes that need a response by due date, or all disputes, newest first.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { DisputeRecord } from "#proto/payments/v1/disputes_pb.ts";
import { type Html, html } from "../../../../html.ts";
import { queryOf } from "../../../http/address.ts";
import { merchantPage } from "../../../routes.ts";
import type { ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { stateOf, translateCode } from "../../../texts/labels.ts";
import { fill, pluralText, textsOf } from "../../../texts/texts.ts";
import { chip, pages } from "../../../view/pieces.ts";
import { section } from "../../../view/section.ts";
import { table } from "../../../view/table.ts";
import { count, day, money } from "../../../view/values.ts";
import { disputeRoutes } from "./dispute.ts";

const pageSize = 50;
// The service's page size. People cannot work through a longer list of open disputes.
const openMax = 200;
const openStatuses = ["needs_response", "warning_needs_response"] as const;

export function disputesRoutes(context: ConsoleContext): void {
  merchantPage(context, "/disputes", "payments.read", (visit) => disputesPage(context, visit));
  disputeRoutes(context);
}

async function disputesPage(context: ConsoleContext, visit: MerchantVisit): Promise<Page> {
  const { language, base } = visit;
  const texts = textsOf(language).disputes;
  const path = `${base}/disputes`;
  const isAll = queryOf(visit).get("view") === "all";
  const tab = (address: string, label: string, isHere: boolean) =>
    html`<li><a href="${address}"${isHere ? html` aria-current="page"` : ""}>${label}</a></li>`;
  const list = () => (isAll ? allOf(context, visit) : openOf(context, visit));
  return {
    title: texts.title,
    body: html`<h1>${texts.title}</h1><nav class="tabs" aria-label="${texts.filter}"><ul>${[
      tab(path, texts.toAnswer, !isAll),
      tab(`${path}?view=all`, texts.all, isAll),
    ]}</ul></nav>
${await section(language, texts.title, list, (found) => found)}`,
  };
}

/** Disputes that need a response, the first due first. */
export async function openDisputes({ peers }: ConsoleContext, { merchantId, environment }: MerchantVisit) {
  const load = (status: string) => peers.disputes.listDisputes({ merchantId, environment, limit: openMax, status });
  const found = await Promise.all(openStatuses.map(load));
  const due = ({ dispute }: DisputeRecord) =>
    dispute?.evidenceDueAt ? timestampMs(dispute.evidenceDueAt) : Number.POSITIVE_INFINITY;
  return {
    // Accepted disputes wait for the processor only.
    disputes: found
      .flatMap(({ disputes }) => disputes)
      .filter(({ acceptance }) => acceptance === "")
      .sort((a, b) => due(a) - due(b)),
    total: found.reduce((sum, { total }) => sum + total, 0n),
  };
}

async function openOf(context: ConsoleContext, visit: MerchantVisit): Promise<Html> {
  const texts = textsOf(visit.language).disputes;
  const { disputes, total } = await openDisputes(context, visit);
  const shown = count(visit.language, disputes.length);
  return html`${tableOf(visit, disputes, texts.none)}${total > BigInt(openMax) ? html`<p class="muted">${fill(texts.first, { count: shown })}</p>` : ""}`;
}

async function allOf({ peers }: ConsoleContext, visit: MerchantVisit): Promise<Html> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).disputes;
  const query = queryOf(visit);
  const afterId = query.get("after") ?? "";
  const path = `${base}/disputes`;
  const found = await peers.disputes.listDisputes({ merchantId, environment, limit: pageSize, afterId });
  const next = found.hasMore ? found.disputes.at(-1)?.dispute?.id : "";
  return html`${tableOf(visit, found.disputes, texts.noneAtAll)}
${pages(language, { path, query, next, total: pluralText(language, texts.total, found.total) })}`;
}

function tableOf({ language, base }: MerchantVisit, disputes: readonly DisputeRecord[], empty: string): Html {
  const texts = textsOf(language).disputes;
  const state = ({ dispute, acceptance }: DisputeRecord) => {
    const { text, tone } = stateOf(language, "moneyStates", dispute?.status ?? "");
    return html`${chip(text, tone)}${acceptance === "" ? "" : html`<br><span class="hint">${texts.accepting}</span>`}`;
  };
  return table({
    caption: texts.title,
    rows: disputes,
    empty,
    columns: [
      {
        heading: texts.amount,
        isNumber: true,
        cell: ({ dispute, currency }) =>
          html`<a href="${base}/disputes/${dispute?.id ?? ""}">${money(language, dispute?.amount ?? 0n, currency)}</a>`,
      },
      { heading: texts.status, cell: state },
      { heading: texts.due, cell: ({ dispute }) => day(language, dispute?.evidenceDueAt) },
      { heading: texts.reason, cell: ({ dispute }) => translateCode(language, "reasons", dispute?.reason ?? "") },
      { heading: texts.opened, cell: ({ dispute }) => day(language, dispute?.openedAt) },
    ],
  });
}
