// Reports: order, follow, download (docs/contract.md §5).
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { Type } from "typebox";
import { callContext, renewTime } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import { enumSchema, idSchema, numberOf } from "../../services/public-json/field.ts";
import { presentReport, ReportJson, reportTypes } from "../../services/public-json/report.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { retryWhileUnavailable } from "../auth/patience.ts";
import { ApiError, errorAnswer } from "../failures.ts";
import { fileRange } from "../http/file-range.ts";
import { dayOrMoment } from "../http/own-formats.ts";
import { idempotencyOf, markReplay } from "../idempotency.ts";
import { pageOf, pageQueryOf, pageSchema, windowOf } from "../json/parts/list.ts";
import { localClock, momentIn } from "../json/parts/zoned-day.ts";
import { strict } from "../operation.ts";
import type { Peers } from "../peers.ts";

const tag = "Reports";
const csvType = "text/csv";
const bound = (description: string, example: string) =>
  Type.String({ format: dayOrMoment, maxLength: 40, description, examples: [example] });

const NewReport = Type.Object(
  {
    type: enumSchema(reportTypes, "What the file lists."),
    from: bound("First moment of the range: RFC 3339, or YYYY-MM-DD, its first moment in `timezone`.", "2025-11-01"),
    to: bound("End of the range, not included, at most 366 days later: as `from`.", "2025-12-01"),
    timezone: Type.String({
      default: "UTC",
      pattern: "^[A-Za-z][A-Za-z0-9_+/-]{0,63}$",
      description: "IANA name of a time zone.",
      examples: ["Europe/Berlin"],
    }),
    columns: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), {
        minItems: 1,
        maxItems: 100,
        description: "Names of columns in the wanted order; all by default.",
        examples: [["id", "created_at", "amount", "currency"]],
      }),
    ),
  },
  strict,
);
const reportId = Type.Object({ id: idSchema("report", "Id of the report.") });

export function reportRoutes(context: GatewayContext, { reports }: Pick<Peers, "reports">): void {
  merchantRoute(context, {
    id: "createReport",
    method: "POST",
    path: "/v1/reports",
    scope: "payments:write",
    tag,
    summary: "Create a report",
    description:
      "Orders a CSV file, which is made in the background: `report.ready` announces it. At most ten reports may be unfinished; one of more than 10 million rows fails.",
    status: 201,
    body: NewReport,
    response: ReportJson,
    whileSuspended: true,
    idempotent: true,
    handle: async ({ principal: { merchantId, environment }, body, request, reply }) => {
      const { type, timezone, columns = [] } = body;
      const clock = localClock("timezone", timezone);
      const range = { from: momentIn("from", body.from, clock), to: momentIn("to", body.to, clock) };
      const input = { merchantId, environment, type, timezone, columns, ...range };
      const answer = await reports.createReport({ ...input, ...idempotencyOf(request) });
      markReplay(reply, answer.replayed);
      return presentReport(answer.report);
    },
  });
  merchantRoute(context, {
    id: "listReports",
    method: "GET",
    path: "/v1/reports",
    scope: "payments:read",
    tag,
    summary: "List reports",
    description: "Newest first, expired ones included.",
    query: Type.Object(pageQueryOf("report")),
    response: pageSchema(ReportJson),
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const answer = await reports.listReports({ merchantId, environment, ...windowOf(query) });
      return pageOf(answer.reports.map(presentReport), query, answer);
    },
  });
  merchantRoute(context, {
    id: "getReport",
    method: "GET",
    path: "/v1/reports/:id",
    scope: "payments:read",
    tag,
    summary: "Read a report",
    description: "Its progress, and whether the file can be downloaded.",
    params: reportId,
    response: ReportJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      return presentReport((await reports.getReport({ merchantId, environment, id: params.id })).report);
    },
  });
  fileRoute(context, reports);
}

function fileRoute(context: GatewayContext, reports: Peers["reports"]): void {
  merchantRoute(context, {
    id: "getReportFile",
    method: "GET",
    path: "/v1/reports/:id/file",
    scope: "payments:read",
    tag,
    summary: "Download a report",
    description:
      "The CSV file of a ready report; `not_found` without a file. One `Range` of bytes is served (206), so that a download can go on. At most 8 downloads at once; more are `service_unavailable`.",
    file: csvType,
    params: reportId,
    // Bytes, which no schema describes.
    response: Type.Unsafe<unknown>({}),
    errors: ["not_found"],
    messages: { not_found: "no file: the report is unknown, not ready, failed or expired" },
    handle: async ({ principal: { merchantId, environment }, params: { id }, request, reply }) => {
      const own = { ...request.call };
      const read = (offset: number) =>
        callContext.run(own, () =>
          retryWhileUnavailable(() => {
            renewTime(own);
            return reports.readReportFile({ merchantId, environment, id, offset: BigInt(offset) });
          }),
        );
      const { report } = await reports.getReport({ merchantId, environment, id });
      if (report?.status !== "ready") throw new Failure("NOT_FOUND");
      const [size, etag] = [numberOf(report.size), `"${id}"`];
      const range = fileRange(request.headers, etag, size);
      describeFile(reply, `${report.type}-${id}`, etag, size, range);
      if (range === "unsatisfiable") return refuseRange(reply);
      const { begin, end } = range ?? { begin: 0, end: size };
      const isHead = request.method === "HEAD";
      const endDownload = beginDownload(`${merchantId}/${environment}`);
      const stream = Readable.from(partsOf(read, begin, isHead ? begin : end), { objectMode: false });
      stream.once("close", endDownload);
      reply.raw.setTimeout(idleMs);
      return stream;
    },
  });
}

// A caller that reads nothing for this long, or twice as long (Node checks again), has left.
const idleMs = 60_000;

function describeFile(
  reply: FastifyReply,
  name: string,
  etag: string,
  size: number,
  range: ReturnType<typeof fileRange>,
): void {
  reply.headers({
    etag,
    "accept-ranges": "bytes",
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff",
  });
  if (range === "unsatisfiable") {
    reply.header("content-range", `bytes */${size}`);
    return;
  }
  reply.type(`${csvType}; charset=utf-8`).header("content-disposition", `attachment; filename="${name}.csv"`);
  reply.header("content-length", range ? range.end - range.begin : size);
  if (range) reply.code(206).header("content-range", `bytes ${range.begin}-${range.end - 1}/${size}`);
}

function refuseRange(reply: FastifyReply) {
  const problem = "must overlap the file";
  const { headers, body } = errorAnswer(new ApiError("invalid_body", { violations: [{ field: "Range", problem }] }));
  return reply.code(416).headers(headers).type("application/json; charset=utf-8").send(JSON.stringify(body));
}

/** The bytes of a range, a piece in memory at a time. An error breaks the download off, which its length shows. */
async function* partsOf(
  read: (offset: number) => Promise<{ readonly bytes: Uint8Array }>,
  begin: number,
  end: number,
): AsyncGenerator<Uint8Array> {
  for (let offset = begin; offset < end; ) {
    const { bytes } = await read(offset);
    if (bytes.length === 0) throw new Failure("INTERNAL_ERROR");
    yield bytes.subarray(0, end - offset);
    offset += bytes.length;
  }
}

const downloadsMax = 8;
const running = new Map<string, number>();

/** Each download holds a piece or two in memory. @returns ends it. @throws Failure SERVICE_UNAVAILABLE */
function beginDownload(owner: string): () => void {
  const others = running.get(owner) ?? 0;
  if (others >= downloadsMax) throw new Failure("SERVICE_UNAVAILABLE", { retryAfterMs: 1_000 });
  running.set(owner, others + 1);
  return () => {
    const left = (running.get(owner) ?? 1) - 1;
    if (left > 0) running.set(owner, left);
    else running.delete(owner);
  };
}
