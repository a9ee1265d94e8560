// Orders a report. Phases: 1 claim the idempotency key · 2 insert the report with the key of its file, and store the
// answer, in one transaction. jobs/make-reports.ts writes the file.
import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Database } from "#platform/database/database.ts";
import { type IdempotencyKeys, type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { entryName, invalidField } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import {
  type CreateReportRequest,
  type CreateReportResponse,
  CreateReportResponseSchema,
} from "#proto/payments/v1/reports_pb.ts";
import { type ReportType, reportTypes } from "../../../public-json/report.ts";
import { reportColumns } from "../../lists/reports/columns.ts";
import { toReport } from "../../messages.ts";
import { insertReport } from "../../store/reports.ts";
import { keyContext } from "./report-file.ts";

export interface CreateReportDeps {
  readonly db: Database;
  readonly keys: IdempotencyKeys;
  readonly vault: Vault;
}

const unfinishedMax = 10;
const hourMs = 3_600_000;
// A year by the calendar of a time zone may have an hour more.
const rangeMsMax = 366 * 24 * hourMs + hourMs;

/** @throws Failure INVALID_BODY, IDEMPOTENCY_…. */
export async function createReport(
  { db, keys, vault }: CreateReportDeps,
  request: CreateReportRequest,
  idempotency: IdempotencyScope | undefined,
): Promise<CreateReportResponse> {
  const schema = CreateReportResponseSchema;
  return await withIdempotency(keys, schema, idempotency, newId("report"), async ({ id, finish }) => {
    const { merchantId, environment, timezone } = request;
    const type = reportTypes.find((known) => known === request.type);
    if (!type) throw invalidField("type", `must be one of ${reportTypes.join(", ")}`);
    const dataKey = vault.encrypt(randomBytes(32), keyContext(id));
    const columns = columnsOf(type, request.columns);
    const report = { id, merchantId, environment, type, timezone, columns, dataKey, ...rangeOf(request) };
    return await db.transaction(async (tx) => {
      const stored = await insertReport(tx, report, unfinishedMax);
      if (!stored)
        throw invalidField("type", `at most ${unfinishedMax} reports may be unfinished: wait until one is ready`);
      const response = create(schema, { report: toReport(stored), replayed: false });
      await finish?.(tx, response);
      return response;
    });
  });
}

function rangeOf({ from, to }: CreateReportRequest): { rangeFrom: Date; rangeTo: Date } {
  if (!from || !to) throw invalidField(from ? "to" : "from", "is required");
  const [rangeFrom, rangeTo] = [timestampDate(from), timestampDate(to)];
  if (rangeFrom >= rangeTo) throw invalidField("from", "must be earlier than to");
  if (rangeTo.getTime() - rangeFrom.getTime() > rangeMsMax)
    throw invalidField("to", "must be at most 366 days after from");
  return { rangeFrom, rangeTo };
}

/** The chosen names in their order; all without a choice. */
function columnsOf(type: ReportType, chosen: readonly string[]): readonly string[] {
  const known = reportColumns[type].map(({ name }) => name);
  for (const [i, name] of chosen.entries()) {
    if (!known.includes(name))
      throw invalidField(entryName("columns", i), `must be a column of ${type}: ${known.join(", ")}`);
    if (chosen.indexOf(name) < i) throw invalidField(entryName("columns", i), "must not repeat a column");
  }
  return chosen.length === 0 ? known : chosen;
}
