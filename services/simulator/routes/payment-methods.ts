// Converts a card to a token for a buyer's browser, so that the merchant sees only the token. Open to every page
// without a key, since a token is usable by the account's server only.
import type { FastifyInstance, FastifyReply } from "fastify";
import { ApiFailure } from "../failure.ts";
import { createPaymentMethod } from "../flows/pay-intent.ts";
import type { Processor } from "../processor.ts";
import { readCardEntry } from "../rules/card-entry.ts";
import { Fields } from "./fields.ts";

const accountMax = 70; // characters; see accountOf

export function paymentMethodRoutes(app: FastifyInstance, processor: Processor): void {
  app.options("/payment-methods", (_request, reply) => fromAnyPage(reply).code(204).send());

  app.post("/payment-methods", async (request, reply) => {
    fromAnyPage(reply);
    const fields = new Fields(request.body);
    const account = fields.text("account", accountMax, /^acct_[a-z0-9]{1,64}$/);
    const entry = readCardEntry(fields.members, new Date());
    if ("code" in entry)
      throw new ApiFailure(400, "invalid_request", entry.code, entry.message, { field: entry.field });
    const { id, brand, last4, funding, exp_month, exp_year, expires_at } = await createPaymentMethod(
      processor,
      account,
      entry,
    );
    return reply.code(201).send({ id, card: { brand, last4, funding, exp_month, exp_year }, expires_at });
  });
}

function fromAnyPage(reply: FastifyReply): FastifyReply {
  return reply.headers({
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "POST",
    "access-control-allow-headers": "content-type",
    "access-control-max-age": "86400",
    "cache-control": "no-store",
  });
}
