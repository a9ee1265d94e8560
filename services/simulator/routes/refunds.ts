// /api/refunds: create, read, look up by reference.
import type { FastifyInstance } from "fastify";
import { ApiFailure, notFound } from "../failure.ts";
import { assertNoOutage, changeIntent } from "../flows/change-intent.ts";
import { newId } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import type { Intent, Refund } from "../rules/intent.ts";
import { createRefund } from "../rules/refund.ts";
import { findRefund, findRefundsByReference } from "../store/intents.ts";
import { accountOf, answerApi, answerGet } from "./api-request.ts";
import { Fields } from "./fields.ts";
import { presentRefund } from "./intent-json.ts";
import { isShown, ownIntent, referenceMax, referenceShape, referencesOf } from "./intents.ts";

const reasonMax = 255;

export function refundRoutes(app: FastifyInstance, processor: Processor): void {
  app.post("/api/refunds", (request, reply) => {
    const fields = new Fields(request.body);
    const account = accountOf(request);
    const wanted = {
      intent: fields.text("intent", referenceMax),
      amount: fields.integer("amount", 1, Number.MAX_SAFE_INTEGER),
      reason: fields.optionalText("reason", reasonMax),
      reference: fields.text("reference", referenceMax, referenceShape),
    };
    const references = async () => [wanted.reference, ...(await referencesOf(processor, wanted.intent))];
    return answerApi(processor, request, reply, { target: "api.refunds.create", references }, async (stamp) => {
      const { intent: intentId, ...input } = wanted;
      const id = newId("rf");
      const created = (intent: Intent) => ({ status: 201, body: refundOf(intent, id) });
      const { intent, refusal } = await changeIntent(
        processor,
        intentId,
        (found) => {
          const now = new Date().toISOString();
          return createRefund(ownIntent(found, account), { ...input, id, status: "succeeded", now });
        },
        {
          along: (next) => ({
            key: stamp.key(created(next)),
            operation: stamp.operation({ id, reference: input.reference, intent: intentId }),
          }),
        },
      );
      if (!refusal) return { answer: created(intent), isWritten: true };
      const failure = new ApiFailure(400, "invalid_request", refusal.refused, refusal.message);
      return { answer: { status: 400, body: failure.body }, isWritten: false };
    });
  });

  app.get("/api/refunds", (request, reply) => {
    const reference = new Fields(request.query).text("reference", referenceMax);
    const account = accountOf(request);
    const call = { target: "api.refunds.get", does: "list", references: async () => [reference] } as const;
    return answerGet(processor, request, reply, call, async (shownUntil) => {
      const found = await findRefundsByReference(processor.db, account, reference);
      for (const refund of found) assertNoOutage(refund.outage_until);
      return { data: found.filter((refund) => isShown(refund, shownUntil)).map(presentLoneRefund) };
    });
  });

  app.get<{ Params: { id: string } }>("/api/refunds/:id", (request, reply) => {
    const account = accountOf(request);
    const find = () => findRefund(processor.db, account, request.params.id);
    const references = async () => {
      const refund = await find();
      return refund ? [refund.intent_reference, ...(refund.reference === null ? [] : [refund.reference])] : [];
    };
    return answerGet(processor, request, reply, { target: "api.refunds.get", does: "look", references }, async () => {
      const refund = await find();
      if (!refund) throw notFound("refund");
      assertNoOutage(refund.outage_until);
      return presentLoneRefund(refund);
    });
  });
}

export function refundOf(intent: Intent, id: string) {
  const refund = intent.refunds.find((one) => one.id === id);
  if (!refund) throw new Error("the refund is missing in its intent");
  return presentLoneRefund(refund);
}

function presentLoneRefund(refund: Refund) {
  return { ...presentRefund(refund), intent: refund.intent_id, account: refund.account };
}
