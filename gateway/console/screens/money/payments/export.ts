// The list of payments as a file: exactly the payments of the filters, newest first, page after page as the browser
// takes them, so that the size does not matter. A page that cannot be had breaks the download off: a shorter file would
// look whole.
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { callContext } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import type { ListPaymentsResponse } from "#proto/payments/v1/payments_pb.ts";
import { dayText } from "../../../http/day.ts";
import { pageHeaders } from "../../../http/headers.ts";
import { queryOf } from "../../../http/query.ts";
import { merchantPage } from "../../../session/routes.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { csvHead, csvLine } from "./csv.ts";
import { readFilters } from "./filters.ts";

// As many as the service gives at once.
const pageSize = 200;

export function exportRoutes(context: ConsoleContext): void {
  merchantPage(context, "/payments.csv", "payments.export", async (visit) => await sendFile(context, visit));
}

async function sendFile(context: ConsoleContext, visit: MerchantVisit): Promise<FastifyReply> {
  const { problems, wish } = readFilters(queryOf(visit), visit.language);
  if (problems.length > 0) throw new Failure("NOT_FOUND");
  const { merchantId, environment, request } = visit;
  // The stream asks for its pages when the browser wants them, outside of the request's own work.
  const pageAfter = (afterId: string) =>
    callContext.run(request.call, () =>
      context.peers.payments.listPayments({ merchantId, environment, limit: pageSize, afterId, ...wish }),
    );
  // A service that is away is told as a page, not as a file.
  const first = await pageAfter("");
  const name = `payments-${visit.base.endsWith("/live") ? "live" : "sandbox"}-${dayText(Date.now())}.csv`;
  return visit.reply
    .headers(pageHeaders)
    .header("content-type", "text/csv; charset=utf-8")
    .header("content-disposition", `attachment; filename="${name}"`)
    .header("x-content-type-options", "nosniff")
    .send(Readable.from(lines(first, pageAfter), { objectMode: false, highWaterMark: 64 * 1024 }));
}

async function* lines(first: ListPaymentsResponse, pageAfter: (id: string) => Promise<ListPaymentsResponse>) {
  yield csvHead;
  for (let page = first; ; ) {
    const last = page.payments.at(-1)?.id;
    if (last === undefined) return;
    yield page.payments.map(csvLine).join("");
    if (!page.hasMore) return;
    page = await pageAfter(last);
  }
}
