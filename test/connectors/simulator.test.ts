// The simulator connector against the simulator: the contract of every connector.
import { createHmac } from "node:crypto";
import type { CreatedIntent } from "../../services/payments/connectors/connector.ts";
import { webhookSecret } from "../flows/simulator/service.ts";
import { eventually } from "../harness/eventually.ts";
import { bank, cards, debits, payInFrame } from "../harness/pay.ts";
import { type ConnectorRig, connectorContract } from "./contract.ts";
import { startSimulatorRig } from "./simulator-rig.ts";

connectorContract("simulator", async (): Promise<ConnectorRig> => {
  const { rig, connector, unreachable, account, token, stop } = await startSimulatorRig();
  return {
    connector,
    unreachable,
    account,
    wrongCredential: { name: "secret_key", value: "sk_test_wrong" },
    last4: "4242",
    signs: "bytes",
    filesGo: "before",
    pay: async ({ mount }: CreatedIntent, outcome) => {
      await payInFrame(mount.frameUrl || mount.redirectUrl, outcome === "paid" ? cards.succeeds : cards.declined);
    },
    payBy: async ({ report }, type) => {
      const card = type === "ideal" ? bank : debits.settles;
      const { body } = await rig.call<{ challenge_url?: string }>("POST", `/test/intents/${report.ref}/pay`, { card });
      if (!body.challenge_url) return;
      const { pathname, hash } = new URL(body.challenge_url);
      const answer = { token: hash.slice(1), outcome: "pass" };
      await rig.call("POST", pathname.replace("/bank/", "/challenge/"), answer);
    },
    decide: async (ref, outcome) => {
      if (outcome === "returned") return void (await rig.call("POST", `/test/intents/${ref}/return`, {}));
      await eventually(
        "the debit",
        async () => (await rig.call("GET", `/api/intents/${ref}`)).body.status === "succeeded",
      );
    },
    tokens: async () => ({
      good: await token(cards.succeeds),
      declined: await token(cards.declined),
      unknown: "pm_unknown",
    }),
    dispute: async (ref, status) => {
      const { body } = await rig.call<{ id: string }>("POST", `/test/intents/${ref}/disputes`, { status });
      return body.id;
    },
    money: {
      raise: async (times) => {
        const raised = { account: account.externalAccountId, type: "adjustment", amount: 100, currency: "EUR" };
        await Promise.all(Array.from({ length: times }, () => rig.call("POST", "/test/movements", raised)));
      },
      payOut: async () => {
        const { externalAccountId } = account;
        const made = await rig.call<{ data: { id: string }[] }>("POST", "/test/payouts", {
          account: externalAccountId,
        });
        return made.body.data[0]?.id ?? "";
      },
    },
    failNext: async (what, trouble) => {
      const kind = trouble === "fault" ? "error_before" : "hang_after";
      const targets = {
        intent: "api.intents.create",
        refund: "api.refunds.create",
        capture: "api.intents.capture",
        evidence: "api.disputes.evidence",
      };
      const target = targets[what];
      await rig.call("PUT", "/test/faults", { target, kind, count: 1 });
    },
    lapse: async ({ ref }) => void (await rig.call("POST", `/test/intents/${ref}/lapse`, {})),
    event: async ({ report }, at) => {
      const { body: intent } = await rig.call("GET", `/api/intents/${report.ref}`);
      const created_at = new Date(at * 1_000).toISOString();
      const known = { id: `evt_${report.ref}`, type: "intent.updated", account: account.externalAccountId, created_at };
      const body = Buffer.from(JSON.stringify({ ...known, data: { intent } }));
      const signature = createHmac("sha256", webhookSecret).update(`${at}.`).update(body).digest("hex");
      return { body, headers: { "processor-signature": `t=${at},v1=${signature}` } };
    },
    stop,
  };
});
