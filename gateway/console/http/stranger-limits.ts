// Limits sign-in requests and forms without a session per client address and minute. The merchant service also limits
// sign-ins per account.
import rateLimit from "@fastify/rate-limit";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { networkOf, siteOf } from "#platform/values/address-range.ts";
import type { ConsoleConfig } from "../settings.ts";

/** Counts one attempt of the address. @throws TooManyTries */
export type CountTry = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

export class TooManyTries extends Error {
  override name = "TooManyTries";
  readonly statusCode = 429;
}

// As in the API: most /48 networks have one customer, a few have thousands of mobile users.
const siteFactor = 10;
// Per limit; the least recently seen address is dropped first.
const addressesMax = 100_000;
// Matches the route, because the router decodes spellings of an address. The sign-in page itself is not counted.
const counted = /^\/(sign-in\/|invitations\/|unsubscribe\/)/;

/** Counts sign-in routes. @returns a function that counts any other request */
export async function limitStrangers(app: FastifyInstance, config: ConsoleConfig): Promise<CountTry> {
  if (config.RATE_LIMIT === "off") return async () => {};
  await app.register(rateLimit, { global: false });
  const max = config.RATE_LIMIT_SIGN_IN_PER_MINUTE;
  const each = { timeWindow: "1 minute", cache: addressesMax };
  // A request over the limit of its /64 does not count for its /48.
  const limits = [
    app.createRateLimit({ ...each, max, keyGenerator: ({ ip }) => networkOf(ip) }),
    app.createRateLimit({ ...each, max: siteFactor * max, keyGenerator: ({ ip }) => siteOf(ip) }),
  ];
  const countTry: CountTry = async (request, reply) => {
    for (const count of limits) {
      const counts = await count(request);
      if (counts.isAllowed || !counts.isExceeded) continue;
      reply.header("retry-after", String(counts.ttlInSeconds));
      throw new TooManyTries("too many attempts from this address");
    }
  };
  app.addHook("onRequest", async (request, reply) => {
    if (counted.test(request.routeOptions.url ?? "")) await countTry(request, reply);
  });
  return countTry;
}
