// Stands before every body: gives it room or refuses it before its first byte is read, and ends the connection of a
// request that was answered without its body.
import type { FastifyInstance, FastifyRequest } from "fastify";
import { siteOf } from "#platform/values/address-range.ts";
import { Failure } from "#platform/values/failure.ts";
import { BodyRoom, type RoomSize } from "./body-room.ts";
import { hasBody, isUnread, leaveUnread } from "./unread-body.ts";

// A body that is read lies in memory twice for a moment; two rooms filled to the last byte are a third of a replica's
// 384 MiB. Bodies arrive within milliseconds, so one sender's share is some ten thousand honest requests a second, or
// 16 slow ones of the largest kind.
const size: RoomSize = { total: 32 * 1024 * 1024, perSender: 4 * 1024 * 1024, leastPerBody: 4 * 1024 };
// What is read piece by piece comes for seconds, and has a room of its own: eight slow uploads keep no order out.
const sizeOfUploads: RoomSize = { ...size, total: 16 * 1024 * 1024 };

declare module "fastify" {
  interface FastifyContextConfig {
    /** True: the route holds the body's bytes until it answers, not only until they are parsed. */
    readonly holdsBody?: true;
    /** What the route has in memory of a body at once, where it reads it piece by piece. */
    readonly heldBytes?: number;
  }
}

/** Adds both hooks; before any route. @param refusal of a body that there is no room for */
export function guardBodies(app: FastifyInstance, refusal: () => Error): void {
  // Who has no key cannot take the room of those who have one.
  const [ofMerchants, ofOthers, uploads] = [new BodyRoom(size), new BodyRoom(size), new BodyRoom(sizeOfUploads)];
  app.addHook("preParsing", async (request, reply) => {
    if (!hasBody(request.raw)) return;
    // An unknown path needs no body.
    if (request.is404) throw new Failure("NOT_FOUND");
    const { principal } = request;
    const own = request.routeOptions.config.heldBytes === undefined ? ofMerchants : uploads;
    // A merchant's backends share an address with others', and one backend has many.
    const giveBack = principal
      ? own.take(principal.merchantId, expectedBytes(request))
      : ofOthers.take(siteOf(request.ip), expectedBytes(request));
    if (!giveBack) throw refusal();
    if (!request.routeOptions.config.holdsBody) request.raw.once("close", giveBack);
    // A request whose body is left unread never closes; its answer does.
    reply.raw.once("close", giveBack);
  });
  app.addHook("onSend", async (request, reply) => {
    if (!isUnread(request.raw)) return;
    reply.header("connection", "close");
    leaveUnread(request.raw);
  });
}

/** What the body takes at most: its length as announced, or the most that the route reads. */
function expectedBytes(request: FastifyRequest): number {
  const { config, bodyLimit } = request.routeOptions;
  const limit = config.heldBytes ?? bodyLimit ?? Number.POSITIVE_INFINITY;
  return Math.min(Number(request.headers["content-length"] ?? limit), limit);
}
