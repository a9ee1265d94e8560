// The paths of Stripe's API that the connector uses, for its stand-in, and the answer of each. Requests come from the
// SDK, whose types allow only parameters that Stripe has.
import type { StripeAccount } from "./stripe-account.ts";
import type { Call, Routes } from "./stripe-call.ts";
import { disputeRoutes } from "./stripe-disputes.ts";
import type { FormObject } from "./stripe-form.ts";
import { expandIntent, listPage, ofIntent, withCharges, withFailures, withSource } from "./stripe-lists.ts";
import type { Json } from "./stripe-records.ts";
import { isRefusal, type Reply, refusalReply, refuseRequest } from "./stripe-refusals.ts";
import { inVersion } from "./stripe-versions.ts";

/** Does the work of a request. */
export function serveRoutes(account: StripeAccount, method: string, path: string, params: FormObject): Reply {
  for (const [pattern, handler] of Object.entries(routes)) {
    const match = new RegExp(`^${pattern.replace("{id}", "([\\w]+)")}$`).exec(`${method} ${path}`);
    if (!match) continue;
    try {
      return { status: 200, body: structuredClone(handler({ account, params, id: match[1] ?? "" })) };
    } catch (error) {
      if (isRefusal(error)) return { status: error.status, body: { error: error.error } };
      throw error;
    }
  }
  return refusalReply(404, "invalid_request_error", "resource_missing");
}

const missing = () => refuseRequest(404, { code: "resource_missing" });
const intentOf = ({ account, id }: Call) => account.intents.get(id) ?? missing();
const sessionOf = ({ account, id }: Call) => account.sessions.get(id) ?? missing();

const smallest = 50; // Stripe's least amount in most currencies
const typesMax = 20; // of the event list's filter

const routes: Routes = {
  ...disputeRoutes,
  "GET /v1/account": ({ account }) => ({
    id: account.id,
    object: "account",
    country: "DE",
    charges_enabled: account.chargesEnabled,
    settings: { dashboard: { display_name: "Lemon Books" } },
  }),
  "POST /v1/payment_intents": createIntent,
  "GET /v1/payment_intents": ({ account, params }) => listPage(account, [...account.intents.values()], params),
  "GET /v1/payment_intents/search": ({ account, params }) => {
    const value = /^metadata\['tollbooth_payment'\]:'(\w+)'$/.exec(String(params.query))?.[1];
    const data = [...account.intents.values()].filter(
      ({ id, metadata }) => metadata.tollbooth_payment === value && account.isListed(id),
    );
    return { object: "search_result", data, has_more: false, next_page: null, url: "/v1/payment_intents/search" };
  },
  "GET /v1/payment_intents/{id}": (call) => expandIntent(call.account, intentOf(call), call.params),
  "POST /v1/payment_intents/{id}/cancel": (call) => {
    const intent = intentOf(call);
    const isPages = [...call.account.sessions.values()].some((session) => session.payment_intent === intent.id);
    const isOpen = ["requires_payment_method", "requires_action"].includes(intent.status) && !isPages;
    if (!isOpen && intent.status !== "requires_capture")
      refuseRequest(400, { code: "payment_intent_unexpected_state" });
    call.account.cancel(intent);
    return intent;
  },
  "POST /v1/payment_intents/{id}/capture": captureIntent,
  "GET /v1/charges": ({ account, params }) =>
    listPage(account, withFailures(account, ofIntent([...account.charges.values()], params), params), params),
  "POST /v1/refunds": createRefund,
  "GET /v1/refunds": ({ account, params }) =>
    listPage(account, withCharges(account, ofIntent([...account.refunds.values()], params), params), params),
  "GET /v1/disputes": ({ account, params }) =>
    listPage(account, withCharges(account, ofIntent([...account.disputes.values()], params), params), params),
  "POST /v1/checkout/sessions": createSession,
  "GET /v1/checkout/sessions": ({ account, params }) =>
    listPage(account, ofIntent([...account.sessions.values()], params), params),
  "GET /v1/events": ({ account, params }) => {
    const wanted = Object.values((params.types as FormObject | undefined) ?? {});
    if (wanted.length > typesMax) refuseRequest(400, { param: "types", message: "at most 20 types" });
    const events = account.events.filter(({ type }) => wanted.length === 0 || wanted.includes(type));
    const written = events.map((event) => inVersion(event, account.eventVersion));
    return listPage(account, written, params);
  },
  "GET /v1/balance_transactions": ({ account, params }) => {
    const all = params.payout === undefined ? account.movements : account.linesOf(params.payout);
    const movements = all.map((each) => withSource(account, each, params));
    return listPage(account, movements, params);
  },
  "GET /v1/balance": ({ account }) => account.balance(),
  "GET /v1/payouts": ({ account, params }) => listPage(account, [...account.payouts.values()], params),
  "GET /v1/payouts/{id}": ({ account, id }) => account.payouts.get(id) ?? missing(),
  "GET /v1/checkout/sessions/{id}": sessionOf,
  "POST /v1/checkout/sessions/{id}/expire": (call) => {
    const session = sessionOf(call);
    if (session.status !== "open")
      refuseRequest(400, { message: "Only Checkout Sessions with a status of open can be expired" });
    call.account.expirePage(call.id);
    return session;
  },
};

function createIntent({ account, params }: Call): Json {
  refuseOldNames(params);
  const amount = Number(params.amount);
  if (account.refusedCurrencies.has(String(params.currency)))
    refuseRequest(400, { param: "currency", message: "Invalid currency" });
  if (amount < smallest) refuseRequest(400, { code: "amount_too_small", param: "amount" });
  const token = params.payment_method;
  if (token !== undefined && account.methodOf(String(token)) === undefined) {
    refuseRequest(400, { code: "resource_missing", param: "payment_method" });
  }
  const intent = account.createIntent({ ...params, currency: String(params.currency) });
  if (params.confirm !== "true") return intent;
  const needsBuyer = token === "pm_card_authenticationRequired";
  account.pay(intent.id, needsBuyer ? "pm_card_chargeDeclined" : String(token));
  if (intent.status === "requires_payment_method") {
    const error = intent.last_payment_error as Json;
    refuseRequest(402, {
      type: "card_error",
      code: error.code,
      decline_code: error.decline_code,
      payment_intent: intent,
    });
  }
  return intent;
}

function captureIntent(call: Call): Json {
  const intent = intentOf(call);
  if (intent.status !== "requires_capture") refuseRequest(400, { code: "payment_intent_unexpected_state" });
  const { amount_to_capture: requested = intent.amount } = call.params;
  const amount = Number(requested);
  if (amount > intent.amount) refuseRequest(400, { code: "amount_too_large", param: "amount_to_capture" });
  return call.account.capture(intent, amount);
}

function createRefund({ account, params }: Call): Json {
  const intent = account.intents.get(String(params.payment_intent)) ?? missing();
  const charge = account.charges.get(intent.latest_charge ?? "");
  if (charge?.status !== "succeeded" || !charge.captured)
    refuseRequest(400, { code: "payment_intent_unexpected_state" });
  const open = [...account.disputes.values()].some(
    (each) => each.charge === charge?.id && each.status === "needs_response",
  );
  if (open) refuseRequest(400, { code: "charge_disputed" });
  const left = (charge?.amount ?? 0) - (charge?.amount_refunded ?? 0);
  if (left === 0) refuseRequest(400, { code: "charge_already_refunded" });
  const amount = Number(params.amount);
  if (amount > left) refuseRequest(400, { param: "amount", message: "greater than unrefunded amount on charge" });
  const { metadata = {}, reason = null } = params;
  return account.refund(intent, amount, { metadata, reason }, account.refundsPend ? "pending" : "succeeded");
}

/** Its present API has another name for the list. */
function refuseOldNames(params: Call["params"]): void {
  if (params.payment_method_types) refuseRequest(400, { code: "parameter_unknown", param: "payment_method_types" });
}

function createSession({ account, params }: Call): Json {
  refuseOldNames(params);
  const id = account.newId("cs_test");
  const lines = Object.values(params.line_items as FormObject) as FormObject[];
  const prices = lines.map((line) => ({ quantity: Number(line.quantity), price: line.price_data as FormObject }));
  const session = {
    object: "checkout.session",
    created: account.now(),
    expires_at: account.now() + account.pageSeconds,
    payment_status: "unpaid",
    ...params,
    id,
    status: "open",
    amount_total: prices.reduce((sum, { quantity, price }) => sum + quantity * Number(price.unit_amount), 0),
    currency: String(prices[0]?.price.currency),
    payment_intent: null,
    url: `https://checkout.stripe.com/c/pay/${id}`,
  };
  account.sessions.set(id, session);
  return session;
}
