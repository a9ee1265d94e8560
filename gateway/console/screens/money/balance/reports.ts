// Reports: ordered by type and days, listed with their progress, and downloaded when they are ready.
import { Readable } from "node:stream";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { FastifyReply } from "fastify";
import { callContext, renewTime } from "#platform/values/call-context.ts";
import { asFailure, Failure } from "#platform/values/failure.ts";
import type { Report } from "#proto/payments/v1/reports_pb.ts";
import { reportTypes } from "../../../../../services/public-json/report.ts";
import { type Html, html } from "../../../../html.ts";
import { idParam, queryOf } from "../../../http/address.ts";
import { dayStart, nextDayStart } from "../../../http/day.ts";
import type { Form } from "../../../http/form.ts";
import { freshKey, onceField, onceOf } from "../../../http/once.ts";
import { pageHeaders } from "../../../http/send-page.ts";
import { merchantForm, merchantPage } from "../../../routes.ts";
import type { Answer, ConsoleContext, MerchantVisit, Page } from "../../../session/visit.ts";
import { stateOf, translateCode } from "../../../texts/labels.ts";
import { fillText, pluralText, textsOf } from "../../../texts/texts.ts";
import {
  hiddenField,
  type Problems,
  problemOf,
  problemSummary,
  selectField,
  textFields,
} from "../../../view/fields.ts";
import { postForm } from "../../../view/forms.ts";
import { cursorLinks, toneChip } from "../../../view/pieces.ts";
import { loadSection } from "../../../view/section.ts";
import { htmlTable } from "../../../view/table.ts";
import { countText, dateTimeText, dayText } from "../../../view/values.ts";
import { pageZone } from "../../../view/zone.ts";

const action = "payments.export";
const about = "report";
const pageSize = 50;
const empty = { type: reportTypes[0] as string, from: "", to: "" };
type Typed = typeof empty;

export function reportsRoutes(context: ConsoleContext): void {
  merchantPage(context, "/reports", action, (visit) => reportsPage(context, visit, empty, []));
  merchantForm(context, "/reports", { action }, (visit, form) => order(context, visit, form));
  merchantPage(context, "/reports/:reportId/file", action, (visit) => sendFile(context, visit));
}

async function order(context: ConsoleContext, visit: MerchantVisit, form: Form): Promise<Answer> {
  const { merchantId, environment, language, base } = visit;
  const texts = textsOf(language).reports;
  const typed = { type: form.text("type"), from: form.text("from"), to: form.text("to") };
  const [from, to] = [dayStart(typed.from), nextDayStart(typed.to)];
  const problems: (readonly [string, string])[] = [
    ...(from ? [] : [["from", fillText(texts.wrongDay, { field: texts.from })] as const]),
    ...(to ? [] : [["to", fillText(texts.wrongDay, { field: texts.to })] as const]),
    ...(from && to && timestampMs(from) >= timestampMs(to) ? [["from", texts.wrongRange] as const] : []),
  ];
  if (problems.length > 0 || !from || !to) return await reportsPage(context, visit, typed, problems);
  const timezone = pageZone();
  const idempotency = onceOf(form, [about, merchantId], [typed, timezone]);
  try {
    await context.peers.reports.createReport({
      merchantId,
      environment,
      type: typed.type,
      from,
      to,
      timezone,
      idempotency,
    });
  } catch (error) {
    if (asFailure(error).reason !== "INVALID_BODY") throw error;
    return await reportsPage(context, visit, typed, [["from", texts.refused]]);
  }
  return { go: `${base}/reports`, done: "report-ordered" };
}

async function reportsPage(
  context: ConsoleContext,
  visit: MerchantVisit,
  typed: Typed,
  problems: Problems,
): Promise<Page> {
  const { language, base, merchantId, environment } = visit;
  const texts = textsOf(language).reports;
  const query = queryOf(visit);
  const afterId = query.get("after") ?? "";
  const list = () => context.peers.reports.listReports({ merchantId, environment, limit: pageSize, afterId });
  const body = await loadSection(language, texts.title, list, (found) => {
    const next = found.hasMore ? found.reports.at(-1)?.id : "";
    const total = pluralText(language, texts.total, found.total);
    return html`${reportTable(visit, found.reports)}${cursorLinks(language, { path: `${base}/reports`, query, next, total })}`;
  });
  return {
    title: texts.title,
    status: problems.length > 0 ? 422 : 200,
    body: html`<h1>${texts.title}</h1>${problemSummary(texts.wrongOrder, problems)}${orderForm(visit, typed, problems)}${body}`,
  };
}

function orderForm(visit: MerchantVisit, typed: Typed, problems: Problems): Html {
  const { language, base } = visit;
  const texts = textsOf(language).reports;
  const field = textFields(typed, problems);
  const choices = reportTypes.map((value) => ({ value, label: translateCode(language, "reportTypes", value) }));
  const type = { name: "type", label: texts.type, value: typed.type, choices, problem: problemOf(problems, "type") };
  return postForm(visit, {
    action: `${base}/reports`,
    button: texts.order,
    layout: "panel",
    fields: [
      hiddenField(onceField, freshKey(about, visit.merchantId)),
      html`<div class="filter-grid">${selectField(type)}${field("from", texts.from, { type: "date" })}${field("to", texts.to, { type: "date" })}</div>`,
    ],
  });
}

function reportTable({ language, base }: MerchantVisit, reports: readonly Report[]): Html {
  const texts = textsOf(language).reports;
  const state = ({ status, progress }: Report) => {
    const { text, tone } = stateOf(language, "reportStates", status);
    return html`${toneChip(text, tone)}${status === "running" ? ` ${countText(language, progress)} %` : ""}`;
  };
  const file = ({ id, status, rows }: Report) =>
    status === "ready"
      ? html`<a href="${base}/reports/${id}/file" download>${pluralText(language, texts.download, rows)}</a>`
      : "";
  return htmlTable({
    caption: texts.title,
    rows: reports,
    empty: texts.none,
    columns: [
      { heading: texts.type, cell: ({ type }) => translateCode(language, "reportTypes", type) },
      {
        heading: texts.range,
        cell: ({ from, to }) => html`<span>${dayText(language, from)} – ${lastDay(language, to)}</span>`,
      },
      { heading: texts.status, cell: state },
      { heading: texts.created, cell: ({ createdAt }) => dateTimeText(language, createdAt) },
      { heading: texts.file, cell: file },
      { heading: texts.expires, cell: ({ expiresAt }) => dayText(language, expiresAt) },
    ],
  });
}

/** The range ends before `to`. */
function lastDay(language: MerchantVisit["language"], to: Report["to"]): Html | string {
  return to ? dayText(language, { ...to, seconds: to.seconds - 1n }) : "";
}

async function sendFile({ peers }: ConsoleContext, visit: MerchantVisit): Promise<FastifyReply> {
  const { merchantId, environment, request, reply } = visit;
  const id = idParam(visit, "reportId", "report");
  const { report } = await peers.reports.getReport({ merchantId, environment, id });
  if (report?.status !== "ready") throw new Failure("NOT_FOUND");
  const { size, type } = report;
  async function* parts() {
    for (let offset = 0n; offset < size; ) {
      // Runs after the request's own context has ended.
      renewTime(request.call);
      const read = () => peers.reports.readReportFile({ merchantId, environment, id, offset });
      const { bytes } = await callContext.run(request.call, read);
      if (bytes.length === 0) throw new Failure("INTERNAL_ERROR");
      yield bytes;
      offset += BigInt(bytes.length);
    }
  }
  return await reply
    .headers(pageHeaders)
    .header("content-length", String(size))
    .header("content-disposition", `attachment; filename="${type}-${id}.csv"`)
    .type("text/csv; charset=utf-8")
    .send(Readable.from(parts(), { objectMode: false }));
}
