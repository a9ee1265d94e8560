// The list of payments as a file: exactly the payments of the filters, newest first, page after page as the browser
// takes them, so that neither size nor a slow line matters. A page that cannot be had, although it was asked for again
// and again, breaks the download off: a shorter file would look whole.
import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import { Failure } from "#platform/values/failure.ts";
import type { ListPaymentsResponse } from "#proto/payments/v1/payments_pb.ts";
import { queryOf } from "../../../http/address.ts";
import { dayText } from "../../../http/day.ts";
import { pageHeaders } from "../../../http/send-page.ts";
import { merchantPage } from "../../../routes.ts";
import { admitMember, admitPerson } from "../../../session/admit.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { csvHead, csvLine } from "./csv.ts";
import { Downloads } from "./downloads.ts";
import { readFilters } from "./filters.ts";

const right = "payments.export";

// A larger one is no cheaper for a row, and keeps the service from others for longer.
const pageSize = 1_000;

// A browser may pause; one that takes nothing for so long, or twice as long (Node may look once more), has gone.
const idleMs = 300_000;

export function exportRoutes(context: ConsoleContext): void {
  const downloads = new Downloads();
  merchantPage(context, "/payments.csv", right, async (visit) => await sendFile(context, downloads, visit));
}

async function sendFile(context: ConsoleContext, downloads: Downloads, visit: MerchantVisit): Promise<FastifyReply> {
  const { problems, criteria } = readFilters(queryOf(visit), visit.language);
  if (problems.length > 0) throw new Failure("NOT_FOUND");
  const { merchantId, environment, request } = visit;
  const ask = (afterId: string) =>
    context.peers.payments.listPayments({
      ...{ merchantId, environment, limit: pageSize, afterId, withoutTotal: true },
      ...criteria,
    });
  // To answer with nothing, Fastify would read all of the file.
  if (request.method === "HEAD") return asFile(visit).send();
  const end = downloads.begin(merchantId);
  // A service that is away is told as a page, not as a file.
  const first = await downloads
    .first(request.call, () => ask(""))
    .catch((error: unknown) => {
      end();
      throw error;
    });
  // As with every page that is shown: whoever was removed, or has lost the right, gets no further.
  const stillMay = async () => admitMember(await admitPerson(context, request, visit.reply), right);
  const next = async (afterId: string) => (await Promise.all([ask(afterId), stillMay()]))[0];
  const lines = fileLines(first, (afterId) => downloads.page(request.call, () => next(afterId)));
  const file = Readable.from(lines, { objectMode: false, highWaterMark: 64 * 1024 });
  file.once("close", end);
  file.once("error", () => breakOff(visit));
  visit.reply.raw.setTimeout(idleMs);
  return asFile(visit).send(file);
}

/** Over HTTP/1.0 a file that ends is a whole one, unless its connection is reset. */
function breakOff({ request, reply }: MerchantVisit): void {
  if (request.raw.httpVersion === "1.0") reply.raw.socket?.resetAndDestroy();
}

function asFile({ base, reply }: MerchantVisit): FastifyReply {
  const name = `payments-${base.endsWith("/live") ? "live" : "sandbox"}-${dayText(Date.now())}.csv`;
  return reply
    .headers(pageHeaders)
    .header("content-type", "text/csv; charset=utf-8")
    .header("content-disposition", `attachment; filename="${name}"`)
    .header("x-content-type-options", "nosniff");
}

/** The file, page by page. @param pageAfter reads the page behind a payment; what it throws breaks the file off */
export async function* fileLines(
  first: ListPaymentsResponse,
  pageAfter: (id: string) => Promise<ListPaymentsResponse>,
): AsyncGenerator<string> {
  yield csvHead;
  for (let page = first; ; ) {
    const last = page.payments.at(-1)?.id;
    // Read while this one is written and sent.
    const next = page.hasMore && last !== undefined ? pageAfter(last) : undefined;
    // A browser that has left asks no more how it ended.
    next?.catch(() => undefined);
    yield page.payments.map(csvLine).join("");
    if (!next) return;
    page = await next;
  }
}
