// Requests of the card form and the challenge page. The secret in the body is the only credential; a wrong one looks
// like an unknown payment.
import type { FastifyInstance } from "fastify";
import { ApiFailure, notFound } from "../failure.ts";
import { assertNoOutage } from "../flows/change-intent.ts";
import { challengeOf, keptCard, passChallenge, payWith } from "../flows/pay-intent.ts";
import { sameSecret } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import { lacksName, readCardEntry } from "../rules/card-entry.ts";
import { currencyExponent } from "../rules/currency-exponent.ts";
import type { Intent } from "../rules/intent.ts";
import { bankMethod, debitMethod, type PaymentMethod } from "../rules/payment-method.ts";
import { findIntent } from "../store/intents.ts";
import { localeOf } from "../texts/languages.ts";
import { Fields } from "./fields.ts";
import { receiptUrl } from "./intent-json.ts";

type IdPath = { Params: { id: string } };

const secretMax = 200; // characters; ours have about 70

export function formRoutes(app: FastifyInstance, processor: Processor): void {
  app.post<IdPath>("/form/:id/pay", async (request, reply) => {
    const intent = await openIntent(processor, request.params.id, request.body);
    const { members } = new Fields(request.body);
    const answer = await payWith(processor, intent.id, methodIn(processor, members), intent, localeOf(members.locale));
    return reply.header("Cache-Control", "no-store").send(answer);
  });

  app.post<IdPath>("/form/:id/status", async (request, reply) => {
    const intent = await openIntent(processor, request.params.id, request.body);
    return reply.header("Cache-Control", "no-store").send(presentStatus(intent, processor));
  });

  app.post<IdPath>("/challenge/:id", async (request, reply) => {
    const fields = new Fields(request.body);
    const outcome = fields.oneOf("outcome", ["pass", "fail", "cancel"]);
    const token = fields.text("token", secretMax);
    const answer = await passChallenge(processor, request.params.id, token, outcome);
    return reply.header("Cache-Control", "no-store").send(answer);
  });
}

/** @throws ApiFailure 400 with the name of a wrong field */
function methodIn(processor: Processor, members: Fields["members"]): PaymentMethod {
  if (members.method === "ideal") return bankMethod;
  if (members.method === "sepa_debit") {
    const debit = debitMethod(members.iban);
    if (debit) return debit;
    throw new ApiFailure(400, "invalid_request", "invalid_iban", "Your IBAN is not valid.", { field: "iban" });
  }
  const entry = (processor.requiresName && lacksName(members)) || readCardEntry(members, new Date());
  if (!("code" in entry)) return keptCard(processor, entry);
  throw new ApiFailure(400, "invalid_request", entry.code, entry.message, { field: entry.field });
}

/** @throws ApiFailure 404 for an unknown intent or a wrong secret */
async function openIntent(processor: Processor, id: string, body: unknown): Promise<Intent> {
  const secret = new Fields(body).members.client_secret;
  const intent = await findIntent(processor.db, id);
  const isOpen = sameSecret(intent?.client_secret ?? "", typeof secret === "string" ? secret : "");
  if (!intent || !isOpen || intent.lost_at !== null) throw notFound("payment");
  assertNoOutage(intent.outage_until);
  return intent;
}

/** The payment as the buyer may see it. */
function presentStatus(intent: Intent, { publicUrl, requiresName }: Processor) {
  const last = intent.attempts.at(-1);
  return {
    status: intent.status,
    amount: intent.amount,
    currency: intent.currency,
    exponent: currencyExponent(intent.currency),
    description: intent.description,
    asks_name: requiresName,
    methods: intent.payment_methods ?? ["card"],
    return_url: intent.return_url,
    receipt_url: receiptUrl(intent, publicUrl),
    failure_code: last?.failure_code ?? null,
    failure_message: last?.failure_message ?? null,
    ...challengeOf(intent, publicUrl),
  };
}
