// Sends a list as a CSV file, page by page at the browser's speed. If a page cannot be loaded after retries, the
// download breaks off, because a shorter file would look complete.
import { Readable } from "node:stream";
import { bulkhead } from "cockatiel";
import type { FastifyReply } from "fastify";
import { type CallContext, callContext, renewTime } from "#platform/values/call-context.ts";
import { retryWhileUnavailable } from "../../auth/patience.ts";
import { dayText } from "../http/day.ts";
import { pageHeaders } from "../http/send-page.ts";
import { TooManyFiles } from "./turned-away.ts";
import type { Visit } from "./visit.ts";

// A browser that reads nothing for this long, or twice as long (Node checks again), has left.
const idleMs = 300_000;

interface PagedFile<P> {
  /** The header line. */
  readonly head: string;
  linesOf(page: P): string;
  /** Cursor of the page after this one; undefined at the end. */
  nextOf(page: P): string | undefined;
}

interface Download<P> extends PagedFile<P> {
  /** The file's name without day and ending. */
  readonly name: string;
  /** The merchant, or the operators: each has a limit of files. */
  readonly owner: string;
  /** @param cursor empty: the first page */
  load(cursor: string): Promise<P>;
  /** Throws for a person who was removed or lost the right: they get no further page. */
  assertStillMay(): Promise<unknown>;
}

export async function sendCsv<P>(visit: Visit, downloads: Downloads, file: Download<P>): Promise<FastifyReply> {
  const { request, reply } = visit;
  // For HEAD, Fastify would read the whole file.
  if (request.method === "HEAD") return asFile(reply, file.name).send();
  const end = downloads.begin(file.owner);
  // An outage shows an error page instead of a file.
  const first = await downloads
    .first(request.call, () => file.load(""))
    .catch((error: unknown) => {
      end();
      throw error;
    });
  const next = async (cursor: string) => (await Promise.all([file.load(cursor), file.assertStillMay()]))[0];
  const lines = fileLines(file, first, (cursor) => downloads.page(request.call, () => next(cursor)));
  const stream = Readable.from(lines, { objectMode: false, highWaterMark: 64 * 1024 });
  stream.once("close", end);
  stream.once("error", () => breakOff(visit));
  reply.raw.setTimeout(idleMs);
  return asFile(reply, file.name).send(stream);
}

/** Over HTTP/1.0 only a reset connection marks a file as incomplete. */
function breakOff({ request, reply }: Visit): void {
  if (request.raw.httpVersion === "1.0") reply.raw.socket?.resetAndDestroy();
}

function asFile(reply: FastifyReply, name: string): FastifyReply {
  return reply
    .headers(pageHeaders)
    .header("content-type", "text/csv; charset=utf-8")
    .header("content-disposition", `attachment; filename="${name}-${dayText(Date.now())}.csv"`)
    .header("x-content-type-options", "nosniff");
}

/** The file page by page. @param pageAfter loads the page after a cursor; its error breaks the file off */
export async function* fileLines<P>(
  { head, linesOf, nextOf }: PagedFile<P>,
  first: P,
  pageAfter: (cursor: string) => Promise<P>,
): AsyncGenerator<string> {
  yield head;
  for (let page = first; ; ) {
    const cursor = nextOf(page);
    // Loads the next page while this one is sent.
    const next = cursor === undefined ? undefined : pageAfter(cursor);
    // If the browser leaves, this promise is never awaited.
    next?.catch(() => undefined);
    yield linesOf(page);
    if (!next) return;
    page = await next;
  }
}

/** Downloads per owner and process. */
export const filesMax = 4;

export class Downloads {
  readonly #turns = bulkhead(1, Number.POSITIVE_INFINITY);
  readonly #files = new Map<string, number>();

  /** Starts a download. @returns a function that ends it. @throws TooManyFiles */
  begin(owner: string): () => void {
    const files = this.#files.get(owner) ?? 0;
    if (files >= filesMax) throw new TooManyFiles();
    this.#files.set(owner, files + 1);
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
      const left = (this.#files.get(owner) ?? 1) - 1;
      if (left > 0) this.#files.set(owner, left);
      else this.#files.delete(owner);
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
