// Drills of money and processors: books, suspense, statements, operations in doubt, and processors that fail.
import { type Drill, keepDoing } from "./drill.ts";
import { type AlarmRig, order } from "./rig.ts";

export const moneyDrills: readonly Drill[] = [
  {
    alerts: ["TollboothMoneyInvariant"],
    about: "a fee in the books is changed by SQL",
    begin: async ({ sql, paid }) => {
      const id = await paid();
      await sql("payments", "update payments set fee_amount = fee_amount + 1 where id = $1", [id]);
      await sql("payments", "update journal_check set after_id = '', due_at = now()");
      return async () => {
        await sql("payments", "update payments set fee_amount = fee_amount - 1 where id = $1", [id]);
        await sql("payments", "update journal_check set after_id = '', due_at = now()");
      };
    },
  },
  {
    alerts: ["TollboothMoneyInSuspense"],
    about: "the processor takes a second charge for one payment",
    begin: async ({ sql, paid, processor, operator }) => {
      const id = await paid();
      const [payment] = await sql("payments", "select connector_ref as ref from payments where id = $1", [id]);
      (await processor.post(`/test/intents/${payment?.ref}/duplicate`, {})).expect(201);
      return async () => {
        const [item] = await sql("payments", "select id from suspense where payment_id = $1", [id]);
        const decision = ["--by", "ada@example.com", "--note", "a drill"];
        await operator("suspense", "refund", String(item?.id), ...decision);
      };
    },
  },
  {
    // A statement is compared an hour behind the present: the payment is made two hours older, and another one's, in
    // our books.
    alerts: ["TollboothStatementDifferences"],
    about: "our books have a payment of two hours ago that the processor does not know",
    begin: async ({ sql, paid }) => {
      const id = await paid();
      const [payment] = await sql("payments", "select connector_ref as ref from payments where id = $1", [id]);
      const move =
        "update payments set connector_ref = $2, captured_at = captured_at - make_interval(hours => $3) where id = $1";
      await sql("payments", move, [id, `${payment?.ref}x`, 2]);
      await sql(
        "payments",
        `insert into statement_matches (connector_account_id, matched_until)
           select connector_account_id, now() - interval '3 hours' from payments where id = $1
         on conflict (connector_account_id) do update set matched_until = excluded.matched_until, due_at = now()`,
        [id],
      );
      return async () => {
        await sql("payments", move, [id, payment?.ref, -2]);
        await sql("payments", "update statement_differences set resolved_at = now() where payment_id = $1", [id]);
      };
    },
  },
  {
    // A week of unanswered attempts, simulated by the row that counts them.
    alerts: ["TollboothOperationsParked"],
    about: "the processor never reports the outcome of a refund",
    begin: async ({ sql, shop, paid }) => {
      const id = await paid();
      (await shop.post(`/v1/payments/${id}/refunds`, { amount: 50 })).expect(201);
      const refund = "where payment_id = $1 and kind = 'create_refund'";
      const doubt = `update operations set state = 'started', tries = 1000, next_try_at = now() ${refund}`;
      await sql("payments", doubt, [id]);
      return () => sql("payments", `update operations set state = 'done' ${refund}`, [id]);
    },
  },
  {
    alerts: ["TollboothProcessorWebhooksRefused"],
    about: "webhooks come without a signature",
    begin: async ({ shop }) => {
      const connectors = (await shop.get("/v1/merchants/me/connectors")).expect(200);
      const path = `/processors/simulator/${connectors.text("data.0.external_account_id")}`;
      return keepDoing(() => shop.post(path, {}));
    },
  },
  {
    alerts: ["TollboothEventListsBehind"],
    about: "the processor's event list answers 500",
    begin: async (rig) => {
      await rig.paid();
      return await fault(rig, { target: "api.events.get", kind: "error_before" });
    },
  },
  {
    alerts: ["TollboothConnectorUnknownOutcomes"],
    about: "every third question to the processor is answered 500",
    begin: async (rig) => {
      const end = await fault(rig, { target: "api.*", kind: "error_before", probability: 0.3 });
      return keepDoing(() => rig.shop.post("/v1/checkout-sessions", order), 1, end);
    },
  },
  {
    alerts: ["TollboothConnectorCircuitOpen"],
    about: "the processor answers 500 to everything",
    begin: async (rig) => {
      const end = await fault(rig, { target: "api.*", kind: "error_before" });
      return keepDoing(() => rig.shop.post("/v1/checkout-sessions", order), 1, end);
    },
  },
  {
    alerts: ["TollboothRecovering"],
    about: "an operator reports that the webhook service was restored",
    begin: async ({ operator }) => {
      const words = ["--service", "webhook", "--by", "ada@example.com", "--note", "a drill"];
      const since = new Date().toISOString();
      await operator("recovery", "begin", ...words);
      return () => operator("recovery", "end", "--since", since, ...words);
    },
  },
];

async function fault({ processor }: AlarmRig, body: object): Promise<() => Promise<unknown>> {
  (await processor.put("/test/faults", body)).expect(201);
  return async () => (await processor.delete("/test/faults")).expect(204);
}
