// payments.v1.ReportService, in proto order.
import type { ServiceImpl } from "@connectrpc/connect";
import { scopeOf } from "#platform/database/idempotency.ts";
import { findCursor } from "#platform/lists/cursor.ts";
import { readPage } from "#platform/lists/dated-list.ts";
import { requireFound } from "#platform/values/failure.ts";
import type { ReportService } from "#proto/payments/v1/reports_pb.ts";
import { type CreateReportDeps, createReport } from "../flows/reports/create-report.ts";
import { readReportFile } from "../flows/reports/report-file.ts";
import { toReport } from "../messages.ts";
import { findReport, listReports } from "../store/reports.ts";

export function reportsRpc(deps: CreateReportDeps): ServiceImpl<typeof ReportService> {
  const { db } = deps;
  return {
    createReport: (request) => createReport(deps, request, scopeOf("create_report", request)),
    getReport: async (request) => {
      const report = requireFound(await findReport(db, request, request.id));
      return { report: toReport(report) };
    },
    listReports: async (request) => {
      const { rows, total, hasMore } = await readPage(
        request,
        (id) => findCursor(db, "reports", request, id),
        (window) => listReports(db, request, window),
      );
      return { reports: rows.map(toReport), total, hasMore };
    },
    readReportFile: async (request) => {
      const { report, bytes } = await readReportFile(deps, request, request);
      return { report: toReport(report), bytes };
    },
  };
}
