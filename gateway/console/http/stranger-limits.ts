// What strangers may do at a console, by their address: what begins or ends a sign-in, and forms without a session, so
// many a minute. The merchant service limits sign-ins by account.
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { networkOf, siteOf } from "#platform/values/address-range.ts";
import type { ConsoleConfig } from "../settings.ts";

/** Counts one try of the address. @throws TooManyTries */
export type CountTry = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export class TooManyTries extends Error {
  override name = "TooManyTries";
  readonly statusCode = 429;
}

// As at the API: most /48 are one customer's, a few are thousands of a mobile network's.
const siteFactor = 10;
// Of each kind; the one not seen for longest goes first.
const addressesMax = 100_000;
// Of routes, never of addresses as they are spelled: the router decodes them. The page itself costs no more than
// others.
const counted = /^\/(sign-in\/|invitations\/|unsubscribe\/)/;

/** Counts the routes of sign-ins. @returns counts any other request */
export async function limitStrangers(app: FastifyInstance, config: ConsoleConfig): Promise<CountTry> {
  if (config.RATE_LIMIT === "off") return async () => {};
  await app.register(rateLimit, { global: false });
  const max = config.RATE_LIMIT_SIGN_IN_PER_MINUTE;
  const each = { timeWindow: "1 minute", cache: addressesMax };
  // What is over the limit of its /64 uses up nothing of its /48.
  const limits = [
    app.createRateLimit({ ...each, max, keyGenerator: ({ ip }) => networkOf(ip) }),
    app.createRateLimit({ ...each, max: siteFactor * max, keyGenerator: ({ ip }) => siteOf(ip) }),
  ];
  const countTry: CountTry = async (request, reply) => {
    for (const count of limits) {
      const counts = await count(request);
      if (counts.isAllowed || !counts.isExceeded) continue;
      reply.header("retry-after", String(counts.ttlInSeconds));
      throw new TooManyTries("too many tries from here");
    }
  };
  app.addHook("onRequest", async (request, reply) => {
    if (counted.test(request.routeOptions.url ?? "")) await countTry(request, reply);
  });
  return countTry;
}
