// Drills of processes: their jobs, clocks, connections, event loops, their callers, and public errors.
import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { connectPeer } from "#platform/rpc/client.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { apiClient } from "../../harness/api.ts";
import { type Drill, keepDoing, tableGone } from "./drill.ts";
import { type AlarmRig, order } from "./rig.ts";

export const processDrills: readonly Drill[] = [
  {
    alerts: ["TollboothCallerRefused"],
    about: "a caller uses an unknown token for payments",
    begin: async ({ running: { stack } }) => {
      const stranger = connectPeer({ url: stack.rpc.payments, token: "of a stranger" });
      await assert.rejects(stranger.client(PaymentsService).getPayment({ paymentId: "pay_1" }));
      return async () => stranger.close();
    },
  },
  {
    alerts: ["TollboothConsoleAway"],
    about: "the merchants' console is stopped",
    begin: async ({ running }) => {
      await running.halt("console");
      return () => running.resume("console");
    },
  },
  {
    alerts: ["TollboothMailsNotSent"],
    about: "the mail server is stopped and a member is invited",
    begin: async ({ running, operator }) => {
      await running.halt("mailbox");
      await operator("console", "invite", "late@example.com", "--merchant", running.stack.merchant_id);
      return () => running.resume("mailbox");
    },
  },
  {
    alerts: ["TollboothJobLate"],
    about: "the table with the position in the processor's event list is dropped",
    begin: (rig) => tableGone(rig, "payments", "event_cursors"),
  },
  {
    alerts: ["TollboothJobHangs"],
    about: "the table of the books' check is locked",
    begin: (rig) => locked(rig, "payments", "journal_check"),
  },
  {
    alerts: ["TollboothInternalErrors"],
    about: "a table of payments is gone, and a merchant asks for refunds",
    begin: async ({ sql, shop, paid }) => {
      const id = await paid();
      const end = await tableGone({ sql }, "payments", "refunds");
      await shop.get(`/v1/payments/${id}`);
      await shop.post(`/v1/payments/${id}/refunds`, { amount: 50 });
      return end;
    },
  },
  {
    alerts: ["TollboothClockOff"],
    about: "the clock of payments' machine is a minute ahead",
    begin: async ({ clocks }) => {
      clocks.step("payments", 60_000);
      return async () => clocks.mend();
    },
  },
  {
    alerts: ["TollboothDatabasePoolExhausted"],
    about: "checkout's table of sessions is locked while merchants list theirs",
    begin: async (rig) => {
      const unlock = await locked(rig, "checkout", "sessions");
      const end = keepDoing(() => rig.shop.get("/v1/checkout-sessions"), 40);
      return async () => {
        await unlock();
        await end();
      };
    },
  },
  {
    // Whether it computes or its machine gives it no time looks alike from inside.
    alerts: ["TollboothEventLoopLag"],
    about: "the gateway gets no time from its machine for six tenths of a second, again and again",
    begin: async ({ running: { stack } }) => {
      const gateway = stack.pids.gateway;
      if (gateway === undefined) throw new Error("no gateway runs");
      return keepDoing(async () => {
        process.kill(gateway, "SIGSTOP");
        await pause(650).finally(() => process.kill(gateway, "SIGCONT"));
        await pause(200);
      });
    },
  },
  {
    alerts: ["TollboothRequestLogDropped"],
    about: "merchant is away for more requests than a gateway keeps",
    begin: async ({ running }) => {
      await running.halt("merchant");
      return keepDoing(
        () => apiClient(running.stack.gateway).get("/v1/payments"),
        32,
        () => running.resume("merchant"),
      );
    },
  },
];

/** Drills of faults that buyers and merchants' backends see. */
export const publicDrills: readonly Drill[] = [
  {
    alerts: ["TollboothPublicErrors", "TollboothPublicErrorsSlowly"],
    about: "checkout is away while merchants make sessions",
    begin: async ({ running, shop }) => {
      await running.halt("checkout");
      return keepDoing(
        () => shop.post("/v1/checkout-sessions", order),
        1,
        async () => {
          await running.resume("checkout");
          // The alert is about the share of errors, which needs other responses.
          await shop.get("/v1/merchants/me");
        },
      );
    },
  },
  {
    alerts: ["TollboothCheckoutSlow", "TollboothCheckoutSlowly"],
    about: "the processor takes six seconds to make an intent",
    begin: async ({ processor, shop }) => {
      const fault = { target: "api.intents.create", kind: "delay", ms: 6_000 };
      (await processor.put("/test/faults", fault)).expect(201);
      const end = keepDoing(() => shop.post("/v1/checkout-sessions", order), 4);
      return async () => {
        (await processor.delete("/test/faults")).expect(204);
        await end();
      };
    },
  },
];

/** @returns ends the lock */
async function locked({ client }: AlarmRig, service: string, table: string): Promise<() => Promise<unknown>> {
  const holder = await client(service);
  await holder.query("begin");
  await holder.query(`lock table ${table} in access exclusive mode`);
  return async () => {
    await holder.query("rollback");
    holder.release();
  };
}
