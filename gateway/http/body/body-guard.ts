// Reserves memory for every body, or refuses it before its first byte is read. Closes the connection of a request that
// was answered without its body.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { siteOf } from "#platform/values/address-range.ts";
import { Failure } from "#platform/values/failure.ts";
import { hasBody, isUnread, leaveUnread } from "./unread-body.ts";

// A body that is being read is in memory twice; two full budgets are a third of a replica's 384 MiB. A sender's share
// allows some ten thousand normal requests a second, or 16 slow ones of the largest size.
const size: BudgetSize = { total: 32 * 1024 * 1024, perSender: 4 * 1024 * 1024, leastPerBody: 4 * 1024 };
// Uploads take seconds, so they have their own budget: slow uploads must not block orders.
const uploadSize: BudgetSize = { ...size, total: 16 * 1024 * 1024 };

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route needs the body's bytes until it responds, not only until they are parsed. */
    readonly holdsBody?: true;
    /** Bytes in memory at once, for a route that reads the body in pieces. */
    readonly heldBytes?: number;
  }
}

/** Call before any route. @param refusal error for a body that exceeds the budget */
export function guardBodies(app: FastifyInstance, refusal: () => Error): void {
  // Callers without a key cannot use up the budget of those with one.
  const [ofMerchants, ofOthers, uploads] = [new BodyBudget(size), new BodyBudget(size), new BodyBudget(uploadSize)];
  app.addHook("preParsing", async (request, reply) => {
    if (!hasBody(request.raw)) return;
    if (request.is404) throw new Failure("NOT_FOUND");
    const { principal } = request;
    const own = request.routeOptions.config.heldBytes === undefined ? ofMerchants : uploads;
    // By merchant, since backends share addresses and one backend has many.
    const release = principal
      ? own.take(principal.merchantId, expectedBytes(request))
      : ofOthers.take(siteOf(request.ip), expectedBytes(request));
    if (!release) throw refusal();
    if (!request.routeOptions.config.holdsBody) request.raw.once("close", release);
    // A request with an unread body never closes, but its response does.
    reply.raw.once("close", release);
  });
  app.addHook("onSend", async (request, reply) => {
    if (!isUnread(request.raw)) return;
    reply.header("connection", "close");
    leaveUnread(request.raw);
  });
}

function expectedBytes(request: FastifyRequest): number {
  const { config, bodyLimit } = request.routeOptions;
  const limit = config.heldBytes ?? bodyLimit ?? Number.POSITIVE_INFINITY;
  return Math.min(Number(request.headers["content-length"] ?? limit), limit);
}

interface BudgetSize {
  readonly total: number;
  readonly perSender: number;
  /** Minimum per body: sockets and requests cost memory too, so this bounds their number. */
  readonly leastPerBody: number;
}

export class BodyBudget {
  readonly #size: BudgetSize;
  readonly #bySender = new Map<string, number>();
  #usedBytes = 0;

  constructor(size: BudgetSize) {
    this.#size = size;
  }

  /** @returns releases the bytes, idempotent; undefined if the budget is used up */
  take(sender: string, bodyBytes: number): (() => void) | undefined {
    const bytes = Math.max(bodyBytes, this.#size.leastPerBody);
    const own = (this.#bySender.get(sender) ?? 0) + bytes;
    if (own > this.#size.perSender || this.#usedBytes + bytes > this.#size.total) return undefined;
    this.#bySender.set(sender, own);
    this.#usedBytes += bytes;
    let isReleased = false;
    return () => {
      if (isReleased) return;
      isReleased = true;
      this.#release(sender, bytes);
    };
  }

  #release(sender: string, bytes: number): void {
    this.#usedBytes -= bytes;
    const left = (this.#bySender.get(sender) ?? 0) - bytes;
    if (left > 0) this.#bySender.set(sender, left);
    else this.#bySender.delete(sender);
  }
}
