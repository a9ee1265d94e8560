// Drills about merchants: webhooks, API keys, the audit log, encryption keys.
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { merchantApi } from "../../harness/api.ts";
import { freshMerchant } from "../../harness/merchant.ts";
import { type Drill, keepDoing } from "./drill.ts";

const me = "/v1/merchants/me";
const from = (address: string) => ({ "x-forwarded-for": address });

export const webhookDrills: readonly Drill[] = [
  {
    alerts: ["TollboothWebhooksFail"],
    about: "the merchant's endpoint answers 500",
    begin: async ({ listen, paid, receiver }) => {
      await listen();
      receiver.answer({ status: 500 });
      return keepDoing(paid, 1, () => receiver.answer({ status: 200 }));
    },
  },
  {
    alerts: ["TollboothWebhooksLate"],
    about: "the merchant's endpoint takes eight seconds for each answer",
    begin: async ({ listen, paid, receiver }) => {
      await listen();
      receiver.answer({ status: 200, delayMs: 8_000 });
      return keepDoing(paid, 1, () => receiver.answer({ status: 200 }));
    },
  },
  {
    alerts: ["TollboothWebhookAddressesBlocked"],
    about: "a merchant registers addresses inside, again and again",
    begin: async ({ shop }) => {
      const endpoint = { url: "https://10.0.0.1/", event_types: ["payment.succeeded"] };
      return keepDoing(() => shop.post(`${me}/webhooks`, endpoint));
    },
  },
];

export const keyDrills: readonly Drill[] = [
  {
    alerts: ["TollboothWrongKeys"],
    about: "a client tries random API keys",
    begin: async ({ running: { stack } }) => keepDoing(() => merchantApi(stack.gateway, "x").get(me)),
  },
  {
    alerts: ["TollboothKeyFromElsewhere"],
    about: "a live key that is limited to an address is used from another one",
    begin: async ({ running: { stack } }) => {
      const merchant = await freshMerchant(stack, { environment: Environment.LIVE });
      const body = { name: "limited", allowed_ips: ["203.0.113.7"] };
      const limited = (await merchant.api.post(`${me}/api-keys`, body)).expect(201).text("api_key");
      (await merchantApi(stack.gateway, limited).get(me, from("192.0.2.1"))).expect(403);
      return undefined;
    },
  },
  {
    alerts: ["TollboothManyNewKeys"],
    about: "a merchant makes eleven keys at once",
    begin: async ({ running: { stack } }) => {
      const merchant = await freshMerchant(stack);
      for (let i = 0; i < 11; i++) (await merchant.api.post(`${me}/api-keys`, { name: `till ${i}` })).expect(201);
      return undefined;
    },
  },
  {
    alerts: ["TollboothKeyFromNewNetwork"],
    about: "a live key is used from a second network",
    begin: async ({ running: { stack } }) => {
      const merchant = await freshMerchant(stack, { environment: Environment.LIVE });
      for (const address of ["203.0.113.7", "2001:db8:7::1"]) (await merchant.api.get(me, from(address))).expect(200);
      return undefined;
    },
  },
];

const passDue = "update audit_check set due_at = now()";

export const auditDrills: readonly Drill[] = [
  {
    alerts: ["TollboothAuditBroken"],
    about: "the owner of the database changes an audit entry",
    begin: async ({ sql }) => {
      const change = (from: string, to: string) =>
        sql(
          "merchant",
          `do $$ begin
             set local session_replication_role = replica;
             update audit_entries set object_id = replace(object_id, '${from}', '${to}')
               where id = (select min(entry_id) from audit_links);
           end $$`,
        );
      await change("_", "~");
      // One pass over the audit log after the other, instead of one a day.
      const pass = async () => {
        await sql("merchant", `${passDue} where due_at > now() + interval '1 hour'`);
        await new Promise((resolve) => setTimeout(resolve, 500));
      };
      return keepDoing(pass, 1, async () => {
        await change("~", "_");
        await sql("merchant", passDue);
      });
    },
  },
  {
    // A pass that held ends each day: its time is made older, and the next pass is not due.
    alerts: ["TollboothAuditUnproved"],
    about: "the audit log was last found whole three days ago",
    begin: async ({ sql }) => {
      await sql(
        "merchant",
        "update audit_check set held_at = now() - interval '3 days', due_at = now() + interval '1 hour'",
      );
      return () => sql("merchant", passDue);
    },
  },
];

const setAge = "update encryption_counts set first_used_at = first_used_at";

export const encryptionDrills: readonly Drill[] = [
  {
    alerts: ["TollboothEncryptionKeyOld"],
    about: "checkout's encryption key is a year and a day old, by its row",
    begin: async ({ sql }) => {
      await sql("checkout", `${setAge} - interval '366 days'`);
      return () => sql("checkout", `${setAge} + interval '366 days'`);
    },
  },
];
