// Exports the filtered payments as CSV, newest first, page by page at the browser's speed. If a page cannot be loaded
// after retries, the download breaks off, because a shorter file would look complete.
import { Readable } from "node:stream";
import { bulkhead } from "cockatiel";
import type { FastifyReply } from "fastify";
import { retryWhileUnavailable } from "#platform/rpc/client.ts";
import { type CallContext, callContext, renewTime } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import type { ListPaymentsResponse } from "#proto/payments/v1/payments_pb.ts";
import { queryOf } from "../../../http/address.ts";
import { dayText } from "../../../http/day.ts";
import { pageHeaders } from "../../../http/send-page.ts";
import { merchantPage } from "../../../routes.ts";
import { admitMember, admitPerson } from "../../../session/admit.ts";
import { TooManyFiles } from "../../../session/turned-away.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";
import { csvHead, csvLine } from "./csv.ts";
import { readFilters } from "./filters.ts";

const right = "payments.export";

// A larger page costs as much per row and blocks other requests for longer.
const pageSize = 1_000;

// A browser that reads nothing for this long, or twice as long (Node checks again), has left.
const idleMs = 300_000;

export function exportRoutes(context: ConsoleContext): void {
  const downloads = new Downloads();
  merchantPage(context, "/payments.csv", right, (visit) => sendFile(context, downloads, visit));
}

async function sendFile(context: ConsoleContext, downloads: Downloads, visit: MerchantVisit): Promise<FastifyReply> {
  const { problems, criteria } = readFilters(queryOf(visit), visit.language);
  if (problems.length > 0) throw new Failure("NOT_FOUND");
  const { merchantId, environment, request } = visit;
  const load = (afterId: string) =>
    context.peers.payments.listPayments({
      ...{ merchantId, environment, limit: pageSize, afterId, withoutTotal: true },
      ...criteria,
    });
  // For HEAD, Fastify would read the whole file.
  if (request.method === "HEAD") return asFile(visit).send();
  const end = downloads.begin(merchantId);
  // An outage shows an error page instead of a file.
  const first = await downloads
    .first(request.call, () => load(""))
    .catch((error: unknown) => {
      end();
      throw error;
    });
  // A person who was removed or lost the right gets no further page.
  const stillMay = async () => admitMember(await admitPerson(context, request, visit.reply), right);
  const next = async (afterId: string) => (await Promise.all([load(afterId), stillMay()]))[0];
  const lines = fileLines(first, (afterId) => downloads.page(request.call, () => next(afterId)));
  const file = Readable.from(lines, { objectMode: false, highWaterMark: 64 * 1024 });
  file.once("close", end);
  file.once("error", () => breakOff(visit));
  visit.reply.raw.setTimeout(idleMs);
  return asFile(visit).send(file);
}

/** Over HTTP/1.0 only a reset connection marks a file as incomplete. */
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

/** The file page by page. @param pageAfter loads the page after a payment; its error breaks the file off */
export async function* fileLines(
  first: ListPaymentsResponse,
  pageAfter: (id: string) => Promise<ListPaymentsResponse>,
): AsyncGenerator<string> {
  yield csvHead;
  for (let page = first; ; ) {
    const last = page.payments.at(-1)?.id;
    // Loads the next page while this one is sent.
    const next = page.hasMore && last !== undefined ? pageAfter(last) : undefined;
    // If the browser leaves, this promise is never awaited.
    next?.catch(() => undefined);
    yield page.payments.map(csvLine).join("");
    if (!next) return;
    page = await next;
  }
}

/** Downloads per merchant and process. */
export const filesMax = 4;

export class Downloads {
  readonly #turns = bulkhead(1, Number.POSITIVE_INFINITY);
  readonly #files = new Map<string, number>();

  /** Starts a download. @returns a function that ends it. @throws TooManyFiles */
  begin(merchantId: string): () => void {
    const files = this.#files.get(merchantId) ?? 0;
    if (files >= filesMax) throw new TooManyFiles();
    this.#files.set(merchantId, files + 1);
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      const left = (this.#files.get(merchantId) ?? 1) - 1;
      if (left > 0) this.#files.set(merchantId, left);
      else this.#files.delete(merchantId);
    };
  }

  /** Loads the first page in turn and fails immediately during an outage. */
  async first<T>(call: CallContext, load: () => Promise<T>): Promise<T> {
    return await this.#inTurn({ ...call }, load);
  }

  /** Loads a later page in turn, with retries during an outage. The request's own deadline has passed by then. */
  async page<T>(call: CallContext, load: () => Promise<T>): Promise<T> {
    const own = { ...call };
    return await callContext.run(own, () => retryWhileUnavailable(() => this.#inTurn(own, load)));
  }

  /** The deadline starts with the turn. The call context is set here, because the previous page starts the turn. */
  async #inTurn<T>(call: CallContext, load: () => Promise<T>): Promise<T> {
    return await this.#turns.execute(() => {
      renewTime(call);
      return callContext.run(call, load);
    });
  }
}
