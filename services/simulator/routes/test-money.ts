// /test/payouts and /test/movements: payouts at once, failed and returned ones, and movements without a payment. Absent
// if test controls are off.
import type { FastifyInstance } from "fastify";
import { ApiFailure } from "../failure.ts";
import { newId } from "../new-id.ts";
import type { Processor } from "../processor.ts";
import { insertMovement } from "../store/movements.ts";
import { makePayouts, movePayout, type PayoutRow, payoutStatuses } from "../store/payouts.ts";
import { Fields } from "./fields.ts";
import { amountMax, referenceMax } from "./intents.ts";
import type { IdPath } from "./test-actions.ts";

const messageMax = 255;
const accountShape = /^acct_[a-z0-9]{1,64}$/;
/** By type, whether it lowers the balance. */
const types = { reserve: true, release: false, processor_fee: true, adjustment: false } as const;
const typeNames = ["reserve", "release", "processor_fee", "adjustment"] as const;

const present = ({ seq: _order, ...payout }: PayoutRow) => payout;

export function testMoneyRoutes(app: FastifyInstance, processor: Processor): void {
  const { db, delayMs } = processor;

  app.post("/test/payouts", async (request, reply) => {
    const account = new Fields(request.body).text("account", referenceMax, accountShape);
    const made = await makePayouts(db, { everySeconds: 0, delayMs, account });
    return reply.code(201).send({ data: made.map(present) });
  });

  app.post<IdPath>("/test/payouts/:id", async (request, reply) => {
    const fields = new Fields(request.body);
    const status = fields.oneOf("status", payoutStatuses);
    const isBack = status === "failed" || status === "returned";
    const message = fields.optionalText("failure_message", messageMax) ?? "The bank account does not exist.";
    const moved = await movePayout(db, request.params.id, status, isBack ? message : null);
    if (moved) return reply.send(present(moved));
    throw new ApiFailure(400, "invalid_request", "payout_not_movable", `No such payout can become ${status}.`);
  });

  app.post("/test/movements", async (request, reply) => {
    const fields = new Fields(request.body);
    const type = fields.oneOf("type", typeNames);
    const amount = fields.integer("amount", 1, amountMax);
    const movement = {
      id: newId("txn"),
      account: fields.text("account", referenceMax, accountShape),
      type,
      amount: types[type] ? -amount : amount,
      currency: fields.text("currency", 3, /^[A-Z]{3}$/),
    };
    await insertMovement(db, movement);
    return reply.code(201).send(movement);
  });
}
