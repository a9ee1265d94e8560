// /api/intents: create, read, look up by the caller's reference, cancel.
import type { FastifyInstance } from "fastify";
import { assertNoOutage, changeIntent, consequencesOf, wakeFor } from "../flows/change-intent.ts";
import { ApiFailure, badField, notFound } from "../flows/failure.ts";
import { newId, newSecret } from "../flows/new-id.ts";
import { payByToken } from "../flows/pay-by-token.ts";
import type { Processor } from "../flows/processor.ts";
import { presentIntent } from "../json/intent.ts";
import type { Intent } from "../rules/intent.ts";
import { cancelIntent } from "../rules/pay-intent.ts";
import { insertIntent } from "../store/intent-writes.ts";
import { findIntent, findIntentsByReference } from "../store/intents.ts";
import { accountOf, answerApi, answerRead } from "./api-request.ts";
import { Fields } from "./fields.ts";

const amountMax = 99_999_999_999; // far above any card limit, far below 2^53
export const referenceMax = 128;
/** Printable ASCII. */
export const referenceShape = /^[\x20-\x7e]+$/;
const descriptionMax = 500;
const urlMax = 2_048;

export function intentRoutes(app: FastifyInstance, processor: Processor): void {
  const { db } = processor;
  const present = (intent: Intent) => presentIntent(intent, processor.publicUrl);

  app.post("/api/intents", (request, reply) => {
    const fields = new Fields(request.body);
    const intent = readIntent(accountOf(request), fields);
    const method = fields.optionalText("payment_method", referenceMax);
    const references = async () => [intent.reference];
    return answerApi(processor, request, reply, { target: "api.intents.create", references }, async (stamp) => {
      const made = method === null ? { intent, events: [] } : await payByToken(processor, intent, method);
      const answer = { status: 201, body: present(made.intent) };
      const operation = stamp.operation({ id: intent.id, reference: intent.reference, intent: intent.id });
      await insertIntent(db, made.intent, { key: stamp.key(answer), operation, ...consequencesOf(processor, made) });
      wakeFor(processor, made);
      return { answer, isWritten: true };
    });
  });

  app.get("/api/intents", (request, reply) => {
    const reference = new Fields(request.query).text("reference", referenceMax);
    const account = accountOf(request);
    return answerRead(
      processor,
      request,
      reply,
      "api.intents.get",
      async () => [reference],
      async () => {
        const found = await findIntentsByReference(db, account, reference);
        for (const intent of found) assertNoOutage(intent.outage_until);
        return { data: found.map(present) };
      },
    );
  });

  app.get<{ Params: { id: string } }>("/api/intents/:id", (request, reply) => {
    const { id } = request.params;
    const account = accountOf(request);
    return answerRead(
      processor,
      request,
      reply,
      "api.intents.get",
      () => referencesOf(processor, id),
      async () => {
        const intent = ownIntent(await findIntent(db, id), account);
        assertNoOutage(intent.outage_until);
        return present(intent);
      },
    );
  });

  app.post<{ Params: { id: string } }>("/api/intents/:id/cancel", (request, reply) => {
    const { id } = request.params;
    const account = accountOf(request);
    const references = () => referencesOf(processor, id);
    return answerApi(processor, request, reply, { target: "api.intents.cancel", references }, async (stamp) => {
      const canceled = (intent: Intent) => ({ status: 200, body: present(intent) });
      const { intent, refusal, change } = await changeIntent(
        processor,
        id,
        (found) => cancelIntent(ownIntent(found, account), new Date().toISOString()),
        {
          along: (next) => ({
            key: stamp.key(canceled(next)),
            operation: stamp.operation({ id, reference: next.reference, intent: id }),
          }),
        },
      );
      if (!refusal) return { answer: canceled(intent), isWritten: change !== null };
      const extra = { intent: present(intent) };
      const failure = new ApiFailure(400, "invalid_request", refusal.refused, refusal.message, extra);
      return { answer: { status: 400, body: failure.body }, isWritten: false };
    });
  });
}

/** @throws ApiFailure 404 for a missing one, and for somebody else's */
export function ownIntent(intent: Intent | undefined, account: string): Intent {
  if (intent?.account !== account) throw notFound("intent");
  return intent;
}

/** For the fault switches. */
export async function referencesOf(processor: Processor, intentId: string): Promise<string[]> {
  const intent = await findIntent(processor.db, intentId);
  return intent ? [intent.reference] : [];
}

function readIntent(account: string, fields: Fields): Intent {
  const id = newId("pi");
  const return_url = fields.optionalText("return_url", urlMax);
  if (return_url !== null && !(URL.canParse(return_url) && /^https?:$/.test(new URL(return_url).protocol)))
    throw badField("return_url", "must be an http or https URL");
  return {
    id,
    account,
    reference: fields.text("reference", referenceMax, referenceShape),
    amount: fields.integer("amount", 1, amountMax),
    currency: fields.text("currency", 3, /^[A-Za-z]{3}$/).toUpperCase(),
    description: fields.optionalText("description", descriptionMax),
    return_url,
    status: "requires_payment_method",
    client_secret: `${id}_secret_${newSecret()}`,
    receipt_token: newSecret(),
    captured_amount: 0,
    refunded_amount: 0,
    created_at: new Date().toISOString(),
    paid_at: null,
    canceled_at: null,
    outage_until: null,
    version: 1,
    attempts: [],
    refunds: [],
    disputes: [],
  };
}
