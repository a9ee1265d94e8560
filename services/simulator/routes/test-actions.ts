// /test/…: actions at the processor's dashboard and of a buyer, mishaps that the caller did not request, and reads, for
// tests without a browser. Absent if test controls are off.
import type { FastifyInstance } from "fastify";
import { ApiFailure, badField, notFound } from "../failure.ts";
import { changeIntent } from "../flows/change-intent.ts";
import { duplicateIntent } from "../flows/new-intent.ts";
import { keptCard, payWith } from "../flows/pay-intent.ts";
import { newId } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import { type CardEntry, readCardEntry } from "../rules/card-entry.ts";
import { moveDispute, openDispute } from "../rules/dispute.ts";
import type { Change, Intent, Refusal } from "../rules/intent.ts";
import { captureMore, changeAmount, endPage, loseIntent, returnDebit } from "../rules/mishap.ts";
import { cancelIntent, lapseAuthorization } from "../rules/pay-intent.ts";
import { bankMethod, debitMethod } from "../rules/payment-method.ts";
import { createRefund, moveRefund } from "../rules/refund.ts";
import { testBank } from "../rules/test-card.ts";
import { listEvents, resendEvent } from "../store/events.ts";
import { listOperations } from "../store/idempotency-keys.ts";
import { findIntent, intentIdOf } from "../store/intents.ts";
import { Fields } from "./fields.ts";
import { presentIntent } from "./intent-json.ts";
import { amountMax, readCapture, referenceMax } from "./intents.ts";
import { refundOf } from "./refunds.ts";

export type IdPath = { Params: { id: string } };

const reasonMax = 255;
const codeMax = 64;

export function testActionRoutes(app: FastifyInstance, processor: Processor): void {
  payRoute(app, processor);
  refundActions(app, processor);
  disputeActions(app, processor);
  evidenceAction(app, processor);

  app.post<IdPath>("/test/events/:id/resend", async (request, reply) => {
    if (!(await resendEvent(processor.db, request.params.id))) throw notFound("event");
    processor.wakeSender();
    return reply.send({ queued: true });
  });

  app.get("/test/events", async (request, reply) => {
    const intent = new Fields(request.query).text("intent", referenceMax);
    return reply.send({ data: await listEvents(processor.db, intent) });
  });

  app.get("/test/operations", async (request, reply) => {
    const reference = new Fields(request.query).text("reference", referenceMax);
    return reply.send({ data: await listOperations(processor.db, reference) });
  });
}

function payRoute(app: FastifyInstance, processor: Processor): void {
  app.post<IdPath>("/test/intents/:id/pay", async (request, reply) => {
    const number = new Fields(request.body).text("card", 30);
    const method = number === testBank.number ? bankMethod : debitMethod(number);
    return reply.send(
      await payWith(processor, request.params.id, method ?? keptCard(processor, testCardEntry(number))),
    );
  });
}

/** A valid card with the number. @throws ApiFailure 400 */
function testCardEntry(number: string): CardEntry {
  const now = new Date();
  const cvc = /^3[47]/.test(number) ? "1234" : "123";
  const entry = readCardEntry({ number, exp_month: 12, exp_year: now.getUTCFullYear() + 3, cvc }, now);
  if ("code" in entry) throw badField("card", "is no card number");
  return entry;
}

function refundActions(app: FastifyInstance, processor: Processor): void {
  app.post<IdPath>("/test/intents/:id/refunds", async (request, reply) => {
    const fields = new Fields(request.body);
    const id = newId("rf");
    const facts = {
      id,
      amount: fields.integer("amount", 1, amountMax),
      status: fields.optionalOneOf("status", ["pending", "succeeded"]) ?? "succeeded",
      reason: fields.optionalText("reason", reasonMax),
      reference: null,
      now: new Date().toISOString(),
    };
    const changed = await change(processor, request.params.id, (intent) => createRefund(intent, facts));
    return reply.code(201).send(refundOf(changed, id));
  });

  app.post<IdPath>("/test/refunds/:id", async (request, reply) => {
    const { id } = request.params;
    const fields = new Fields(request.body);
    const to = {
      status: fields.oneOf("status", ["pending", "succeeded", "failed", "canceled"]),
      failure_code: fields.optionalText("failure_code", codeMax),
      now: new Date().toISOString(),
    };
    const intentId = await ownerOf(processor, "refunds", id);
    const changed = await change(processor, intentId, (intent) => moveRefund(intent, id, to));
    return reply.send(refundOf(changed, id));
  });
}

function disputeActions(app: FastifyInstance, processor: Processor): void {
  app.post<IdPath>("/test/intents/:id/disputes", async (request, reply) => {
    const fields = new Fields(request.body);
    const facts = {
      id: newId("dsp"),
      amount: fields.optionalInteger("amount", 1, amountMax),
      reason: fields.optionalText("reason", reasonMax) ?? "fraudulent",
      status: fields.optionalOneOf("status", ["needs_response", "warning_needs_response"]) ?? "needs_response",
      now: new Date().toISOString(),
    };
    const changed = await change(processor, request.params.id, (intent) => openDispute(intent, facts));
    return reply.code(201).send(disputeOf(processor, changed, facts.id));
  });

  app.post<IdPath>("/test/disputes/:id", async (request, reply) => {
    const { id } = request.params;
    const status = new Fields(request.body).oneOf("status", [
      "warning_needs_response",
      "warning_under_review",
      "warning_closed",
      "needs_response",
      "under_review",
      "won",
      "lost",
    ]);
    const intentId = await ownerOf(processor, "disputes", id);
    const now = new Date().toISOString();
    const changed = await change(processor, intentId, (intent) => moveDispute(intent, id, status, now));
    return reply.send(disputeOf(processor, changed, id));
  });
}

/** The exact evidence sent to the bank. */
function evidenceAction(app: FastifyInstance, processor: Processor): void {
  app.get<IdPath>("/test/disputes/:id/evidence", async (request, reply) => {
    const intent = await findIntent(processor.db, await ownerOf(processor, "disputes", request.params.id));
    const dispute = intent?.disputes.find((one) => one.id === request.params.id);
    if (!dispute) throw notFound("dispute");
    const { evidence_reference: reference, evidence, evidence_at: at } = dispute;
    return reply.send({ reference, evidence, at });
  });
}

async function ownerOf(processor: Processor, table: "refunds" | "disputes", id: string): Promise<string> {
  const intentId = await intentIdOf(processor.db, table, id);
  if (intentId === undefined) throw notFound(table.slice(0, -1));
  return intentId;
}

/** @throws ApiFailure 400 if the rule refused */
async function change(processor: Processor, intentId: string, decide: Parameters<typeof changeIntent>[2]) {
  const { intent, refusal } = await changeIntent(processor, intentId, decide);
  if (refusal) throw new ApiFailure(400, "invalid_request", refusal.refused, refusal.message);
  return intent;
}

function disputeOf(processor: Processor, intent: Intent, id: string) {
  const { disputes } = presentIntent(intent, processor.publicUrl);
  return { ...disputes.find((dispute) => dispute.id === id), intent: intent.id };
}

const cardThatSucceeds = "4242424242424242";

type Decide = (intent: Intent, now: string) => Change | Refusal | null;

/** Rules by their path, each with its input. */
const intentChanges: Readonly<Record<string, (fields: Fields) => Decide>> = {
  return: () => returnDebit,
  capture: readCapture,
  cancel: () => (intent, now) => cancelIntent(intent, now),
  lapse: () => lapseAuthorization,
  lose: () => loseIntent,
  "capture-more": (fields) => {
    const amount = fields.optionalInteger("amount", 1, amountMax);
    return (intent) => captureMore(intent, amount);
  },
  amount: (fields) => {
    const amount = fields.integer("amount", 1, amountMax);
    return (intent) => changeAmount(intent, amount);
  },
};

export function testIntentRoutes(app: FastifyInstance, processor: Processor): void {
  const present = (intent: Intent) => presentIntent(intent, processor.publicUrl);

  for (const [name, readDecision] of Object.entries(intentChanges)) {
    app.post<IdPath>(`/test/intents/:id/${name}`, async (request, reply) => {
      const decide = readDecision(new Fields(request.body));
      const now = new Date().toISOString();
      return reply.send(present(await change(processor, request.params.id, (intent) => decide(intent, now))));
    });
  }

  app.post<IdPath>("/test/intents/:id/duplicate", async (request, reply) => {
    const amount = new Fields(request.body).optionalInteger("amount", 1, amountMax);
    const original = await findIntent(processor.db, request.params.id);
    if (!original) throw notFound("intent");
    const card = testCardEntry(cardThatSucceeds);
    const second = await duplicateIntent(processor, original, amount ?? original.amount, card);
    return reply.code(201).send(present(second));
  });

  app.post<IdPath>("/test/intents/:id/end-page", async (request, reply) => {
    const now = new Date().toISOString();
    await changeIntent(processor, request.params.id, (found) => endPage(found, now));
    const intent = await findIntent(processor.db, request.params.id);
    return reply.send(intent && present(intent));
  });

  app.post<IdPath>("/test/refunds/:id/duplicate", async (request, reply) => {
    const amount = new Fields(request.body).optionalInteger("amount", 1, amountMax);
    const intentId = await ownerOf(processor, "refunds", request.params.id);
    const id = newId("rf");
    const changed = await change(processor, intentId, (intent) => {
      const original = intent.refunds.find((refund) => refund.id === request.params.id);
      if (!original) throw notFound("refund");
      const { reason, reference } = original;
      const facts = { id, amount: amount ?? original.amount, reason, reference, now: new Date().toISOString() };
      return createRefund(intent, { ...facts, status: "succeeded" });
    });
    return reply.code(201).send(refundOf(changed, id));
  });
}
