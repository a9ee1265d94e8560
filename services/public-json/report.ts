// Reports as public JSON (docs/contract.md §5).
import { type Static, Type } from "typebox";
import type { Report } from "#proto/payments/v1/reports_pb.ts";
import { idSchema, jsonComponent, listValues, textSchema, timeSchema } from "./field.ts";
import { presentMessage } from "./present.ts";

export const reportTypes = [
  ...(["payments", "refunds", "disputes"] as const),
  ...(["balance_transactions", "payout_reconciliation"] as const),
] as const;
export type ReportType = (typeof reportTypes)[number];
const statuses = ["queued", "running", "ready", "failed", "expired"];

export const ReportJson = jsonComponent(
  "Report",
  Type.Object({
    id: idSchema("report"),
    type: textSchema(listValues(reportTypes), "payments"),
    status: textSchema(listValues(statuses), "ready"),
    progress: Type.Integer({ description: "0 to 100: the part of the range that is written.", examples: [100] }),
    rows: Type.Integer({ format: "int64", description: "Lines of the file without its header.", examples: [1_042] }),
    from: timeSchema("First moment of the range."),
    to: timeSchema("End of the range, not included."),
    timezone: textSchema("Time zone in which dates of the request were read.", "Europe/Berlin"),
    columns: Type.Array(Type.String(), { description: "In the file's order.", examples: [["id", "created_at"]] }),
    size: Type.Integer({ format: "int64", description: "Bytes of the file so far.", examples: [204_800] }),
    failure: Type.Optional(textSchema("Of a failed report: `too_many_rows` or `internal_error`.", "too_many_rows")),
    expires_at: Type.Optional(timeSchema("When the file is deleted; absent until it is ready.")),
    created_at: timeSchema("When it was ordered."),
  }),
);

export function presentReport(report: Report | undefined): Static<typeof ReportJson> {
  return presentMessage(ReportJson, report);
}
