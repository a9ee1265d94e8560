// /test/intents/…, /test/refunds/…: mishaps that the caller did not request. Absent if test controls are off.
import type { FastifyInstance } from "fastify";
import { notFound } from "../failure.ts";
import { changeIntent } from "../flows/change-intent.ts";
import { duplicateIntent } from "../flows/duplicate-intent.ts";
import { newId } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import type { Intent } from "../rules/intent.ts";
import { captureMore, changeAmount, endPage, loseIntent, returnDebit } from "../rules/mishap.ts";
import { cancelIntent, lapseAuthorization } from "../rules/pay-intent.ts";
import { createRefund } from "../rules/refund.ts";
import { findIntent, intentIdOf } from "../store/intents.ts";
import { Fields } from "./fields.ts";
import { presentIntent } from "./intent-json.ts";
import { amountMax, readCapture } from "./intents.ts";
import { refundOf } from "./refunds.ts";
import { type IdPath, requireAllowed, testCardEntry } from "./test-actions.ts";

const cardThatSucceeds = "4242424242424242";

export function testIntentRoutes(app: FastifyInstance, processor: Processor): void {
  const present = (intent: Intent) => presentIntent(intent, processor.publicUrl);

  app.post<IdPath>("/test/intents/:id/return", async (request, reply) => {
    const now = new Date().toISOString();
    const changed = await changeIntent(processor, request.params.id, (intent) => returnDebit(intent, now));
    return reply.send(present(requireAllowed(changed).intent));
  });

  const byHand = [
    ["capture", (fields: Fields) => readCapture(fields)],
    ["cancel", () => (intent: Intent, now: string) => cancelIntent(intent, now)],
    ["lapse", () => lapseAuthorization],
  ] as const;
  for (const [name, readDecision] of byHand) {
    app.post<IdPath>(`/test/intents/:id/${name}`, async (request, reply) => {
      const decide = readDecision(new Fields(request.body));
      const now = new Date().toISOString();
      const changed = await changeIntent(processor, request.params.id, (intent) => decide(intent, now));
      return reply.send(present(requireAllowed(changed).intent));
    });
  }

  app.post<IdPath>("/test/intents/:id/capture-more", async (request, reply) => {
    const amount = new Fields(request.body).optionalInteger("amount", 1, amountMax);
    const changed = await changeIntent(processor, request.params.id, (intent) => captureMore(intent, amount));
    return reply.send(present(requireAllowed(changed).intent));
  });

  app.post<IdPath>("/test/intents/:id/duplicate", async (request, reply) => {
    const amount = new Fields(request.body).optionalInteger("amount", 1, amountMax);
    const original = await findIntent(processor.db, request.params.id);
    if (!original) throw notFound("intent");
    const card = testCardEntry(cardThatSucceeds);
    const second = await duplicateIntent(processor, original, amount ?? original.amount, card);
    return reply.code(201).send(present(second));
  });

  app.post<IdPath>("/test/intents/:id/amount", async (request, reply) => {
    const amount = new Fields(request.body).integer("amount", 1, amountMax);
    const changed = await changeIntent(processor, request.params.id, (intent) => changeAmount(intent, amount));
    return reply.send(present(requireAllowed(changed).intent));
  });

  app.post<IdPath>("/test/intents/:id/end-page", async (request, reply) => {
    const now = new Date().toISOString();
    await changeIntent(processor, request.params.id, (found) => endPage(found, now));
    const intent = await findIntent(processor.db, request.params.id);
    return reply.send(intent && present(intent));
  });

  app.post<IdPath>("/test/intents/:id/lose", async (request, reply) => {
    const now = new Date().toISOString();
    const { intent } = await changeIntent(processor, request.params.id, (found) => loseIntent(found, now));
    return reply.send(present(intent));
  });

  app.post<IdPath>("/test/refunds/:id/duplicate", async (request, reply) => {
    const amount = new Fields(request.body).optionalInteger("amount", 1, amountMax);
    const intentId = await intentIdOf(processor.db, "refunds", request.params.id);
    if (intentId === undefined) throw notFound("refund");
    const id = newId("rf");
    const changed = await changeIntent(processor, intentId, (intent) => {
      const original = intent.refunds.find((refund) => refund.id === request.params.id);
      if (!original) throw notFound("refund");
      const { reason, reference } = original;
      const now = new Date().toISOString();
      return createRefund(intent, {
        id,
        amount: amount ?? original.amount,
        status: "succeeded",
        reason,
        reference,
        now,
      });
    });
    return reply.code(201).send(refundOf(requireAllowed(changed).intent, id));
  });
}
