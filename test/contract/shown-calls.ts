// The calls that /docs shows, read from its pages as a reader copies them, and a merchant with one object of each kind,
// whose ids stand in for those of the examples.

import { membersOf } from "#platform/values/unchecked.ts";
import { operationsOf } from "../../deploy/generate/docs/reference/api-operation.ts";
import type { StackInfo } from "../../deploy/local/stack-file.ts";
import { disputedPurchase } from "../console/purchases.ts";
import { type Api, apiClient } from "../harness/api.ts";
import { eventually } from "../harness/eventually.ts";
import { freshMerchant } from "../harness/merchant.ts";
import { cardToken } from "../harness/pay.ts";
import { payOut } from "./operator.ts";

/** A call of the reference in one language. */
export interface ShownCall {
  readonly operation: string;
  readonly code: string;
}

/** By the language's name on the page; in an order in which they can be made: what ends an object comes last. */
export async function shownCalls(gateway: string, document: object, language: string): Promise<ShownCall[]> {
  const tags = new Map(operationsOf(membersOf(document)).map(({ id, tag }) => [id, tag] as const));
  const addresses = [...new Set(tags.values())].map((tag) =>
    tag
      .toLowerCase()
      .replace(/[^a-z]+/g, "-")
      .replace(/-$/, ""),
  );
  const calls: ShownCall[] = [];
  for (const address of addresses) {
    const page = (await apiClient(gateway).get(`/docs/api/${address}`)).expect(200).raw;
    for (const section of page.split('<section class="operation"').slice(1)) {
      const operation = /<h2 id="(\w+)"/.exec(section)?.[1];
      const figures = section.match(/<figure class="code"[\s\S]*?<\/figure>/g) ?? [];
      const isOnlyCurl = !section.includes('<div class="group"');
      const figure =
        isOnlyCurl && language === "curl"
          ? figures[0]
          : figures.find((each) => each.includes(`data-lang="${language}"`));
      if (operation !== undefined && figure !== undefined) calls.push({ operation, code: textOf(figure) });
    }
  }
  return calls.sort((a, b) => rankOf(a.operation) - rankOf(b.operation));
}

const enders = /^(?:expire|submitApp|accept|roll|revoke|delete)/;
// Files and evidence go while a dispute waits for them; what is rolled is rolled before it goes.
const firsts = ["uploadDisputeFile", "rollApiKey", "rollWebhookSecret"];
const rankOf = (operation: string) => (firsts.includes(operation) ? 0 : enders.test(operation) ? 2 : 1);

/** The text that a copy button copies. */
function textOf(figure: string): string {
  const [, inner = ""] = /<pre[^>]*>([\s\S]*?)<\/pre>/.exec(figure) ?? [];
  return inner.replace(/<[^>]+>/g, "").replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
}

/** A merchant whose objects the calls are about. */
export interface Story {
  readonly apiKey: string;
  readonly sessionSecret: string;
  /** The call with the ids of this merchant's objects. */
  render(call: ShownCall): string;
}

/** @param hook an address that takes deliveries */
export async function storyOf(running: StackInfo, hook: string): Promise<Story> {
  const merchant = await freshMerchant(running);
  const { apiKey, api: own } = merchant;
  const connector = (await own.get("/v1/merchants/me/connectors")).expect(200);
  const token = await cardToken(running.processor, connector.text("data.0.external_account_id"));
  await payOut(running, merchant, 1_000);
  const session = (await own.post("/v1/checkout-sessions", { amount: 1050, currency: "EUR" })).expect(201);
  const [paid, toCapture, toCancel] = [
    await payment(own, token, "automatic"),
    await payment(own, token, "manual"),
    await payment(own, token, "manual"),
  ];
  const refund = (await own.post(`/v1/payments/${paid}/refunds`, { amount: 100 })).expect(201).text("id");
  const endpoint = { url: `${hook}/hook`, event_types: ["payment.succeeded"] };
  const hooks = (await own.post("/v1/merchants/me/webhooks", endpoint)).expect(201).text("id");
  (await own.post(`/v1/merchants/me/webhooks/${hooks}/test`)).expect(200);
  const delivery = await eventually("the delivery", async () =>
    (await own.get(`/v1/merchants/me/webhooks/${hooks}/deliveries?status=delivered`)).expect(200).text("data.0.id"),
  );
  const retry = { since: new Date(Date.now() - 60_000).toISOString() };
  const run = (await own.post(`/v1/merchants/me/webhooks/${hooks}/retry-failed`, retry)).expect(200).text("id");
  const key = (await own.post("/v1/merchants/me/api-keys", { name: "extra", scopes: ["payments:read"] })).expect(201);
  const [{ dispute: disputed }, { dispute: toAccept }] = [
    await disputedPurchase(running, merchant),
    await disputedPurchase(running, merchant),
  ];
  const month = { type: "refunds", from: "2025-11-01", to: "2025-12-01" };
  const report = (await own.post("/v1/reports", month)).expect(201).text("id");
  await eventually("the report", async () => (await own.get(`/v1/reports/${report}`)).text("status") === "ready");
  const buyer = { customer_email: "grace@example.com" };
  const erasure = (await own.post("/v1/privacy/erasures", buyer)).expect(201).text("id");
  const request = await eventually("a request of the log", async () =>
    (await own.get("/v1/merchants/me/requests")).expect(200).text("data.0.id"),
  );
  const event = await eventually("an event", async () => (await own.get("/v1/events")).expect(200).text("data.0.id"));
  const transaction = await eventually("a balance transaction", async () =>
    (await own.get("/v1/balance-transactions")).expect(200).text("data.0.id"),
  );
  const payout = (await own.get("/v1/payouts")).expect(200).text("data.0.id");
  const ids: Readonly<Record<string, string>> = {
    cs: session.text("id"),
    pay: paid,
    re: refund,
    dp: disputed,
    txn: transaction,
    po: payout,
    evt: event,
    rpt: report,
    era: erasure,
    [kindOf(hooks)]: hooks,
    [kindOf(delivery)]: delivery,
    ak: key.text("id"),
    mco: connector.text("data.0.id"),
    ma: await application(running.gateway),
    req: request,
    pm: token,
    [kindOf(run)]: run,
  };
  const ofOperation: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    capturePayment: { pay: toCapture },
    cancelPayment: { pay: toCancel },
    acceptDispute: { dp: toAccept },
  };
  return {
    apiKey,
    sessionSecret: session.text("session_secret"),
    render: ({ operation, code }) =>
      code.replace(
        /\b([a-z]+)_[0-9a-hjkmnp-tv-z]{25,26}\b/g,
        (example, kind: string) => ofOperation[operation]?.[kind] ?? ids[kind] ?? `${example} has no object`,
      ),
  };
}

async function payment(own: Api, token: string, capture_method: string): Promise<string> {
  const body = { amount: 1050, currency: "EUR", payment_method: token, capture_method };
  return (await own.post("/v1/payments", body)).expect(201).text("id");
}

const kindOf = (id: string) => id.split("_")[0] ?? "";

async function application(gateway: string): Promise<string> {
  const whole = {
    applicant_email: "owner@example.com",
    legal_name: "Lemon Books GmbH",
    trading_name: "Lemon Books",
    country_code: "DE",
    currency_code: "EUR",
  };
  return (await apiClient(gateway).post("/v1/onboarding/applications", whole)).expect(201).text("id");
}
