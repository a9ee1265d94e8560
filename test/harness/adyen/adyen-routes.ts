// The paths of Adyen's Checkout API that its stand-in serves, with the models of each body. Payments, refunds and
// captures cannot be read, as at Adyen.
import type * as checkout from "@adyen/api-library/lib/src/typings/checkout/models.js";
import type { AdyenAccount, Page } from "./adyen-account.ts";
import type { Wire } from "./adyen-fields.ts";
import { timeOf } from "./adyen-notifications.ts";
import { refuseRequest } from "./adyen-refusals.ts";

type Models = typeof checkout;
type Name = { [K in keyof Models]: Models[K] extends new () => object ? K : never }[keyof Models];
type Body<N extends Name> = Models[N] extends (new () => infer T extends object) ? Wire<T> : never;

interface Call<B> {
  readonly account: AdyenAccount;
  readonly body: B;
  /** The part of the path that names an object. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly nowMs: number;
  readonly origin: string;
}
export interface Route {
  readonly takes?: string;
  readonly gives: string;
  readonly status: number;
  serve(call: Call<unknown>): object;
}

function route<T extends Name, G extends Name>(
  [takes, gives, status]: readonly [T, G, number],
  serve: (call: Call<Body<T>>) => Body<G>,
): Route {
  return { takes, gives, status, serve: (call) => serve(call as Call<Body<T>>) };
}

const hourMs = 3_600_000;
const sessionHoursMax = 24;
const linkDaysMax = 70;

/** By method and path. */
export const checkoutRoutes: Readonly<Record<string, Route>> = {
  "POST /v72/paymentMethods": route(["PaymentMethodsRequest", "PaymentMethodsResponse", 200], () => ({
    paymentMethods: [{ name: "Cards", type: "scheme", brands: ["visa", "mc", "amex"] }],
  })),
  "POST /v72/paymentLinks": route(["PaymentLinkRequest", "PaymentLinkResponse", 201], (call) => {
    judgeOrder(call, linkDaysMax * 24);
    return linkOf(call.account, call.account.addPage("link", call.body, 24 * hourMs));
  }),
  "GET /v72/paymentLinks/{id}": {
    ...{ gives: "PaymentLinkResponse", status: 200 },
    serve: (call) => linkOf(call.account, pageOf(call, "link")),
  },
  "PATCH /v72/paymentLinks/{id}": route(["UpdatePaymentLinkRequest", "PaymentLinkResponse", 200], (call) => {
    const page = pageOf(call, "link");
    // The document names no error of a link that has ended.
    if (call.account.statusOf(page) === "completed") refuseRequest(422, "000", "Payment link cannot be expired");
    page.expiresMs = Math.min(page.expiresMs, call.nowMs);
    return linkOf(call.account, page);
  }),
  "POST /v72/sessions": route(["CreateCheckoutSessionRequest", "CreateCheckoutSessionResponse", 201], (call) => {
    judgeOrder(call, sessionHoursMax);
    const page = call.account.addPage("session", call.body, hourMs);
    const { expiresMs, id, sessionData } = page;
    return { mode: "embedded" as const, ...call.body, id, sessionData, expiresAt: timeOf(expiresMs) };
  }),
  "GET /v72/sessions/{id}": {
    ...{ gives: "SessionResultResponse", status: 200 },
    serve: (call) => {
      const known = pageOf(call, "session").results.get(call.query.get("sessionResult") ?? "");
      return known ?? refuseRequest(422, "000", "Invalid sessionResult"); // the document has no error of this path
    },
  },
  "POST /v72/payments/{id}/captures": route(["PaymentCaptureRequest", "PaymentCaptureResponse", 201], (call) => {
    const { amount, reference } = call.body;
    return received(call, call.account.modify("CAPTURE", call.id, reference, amount));
  }),
  "POST /v72/payments/{id}/refunds": route(["PaymentRefundRequest", "PaymentRefundResponse", 201], (call) => {
    const { amount, reference } = call.body;
    return received(call, call.account.modify("REFUND", call.id, reference, amount));
  }),
  "POST /v72/payments/{id}/cancels": route(["PaymentCancelRequest", "PaymentCancelResponse", 201], (call) =>
    received(call, call.account.modify("CANCELLATION", call.id, call.body.reference)),
  ),
  "POST /v72/payments/{id}/reversals": route(["PaymentReversalRequest", "PaymentReversalResponse", 201], (call) =>
    received(call, call.account.modify("CANCEL_OR_REFUND", call.id, call.body.reference)),
  ),
  "POST /v72/cancels": route(["StandalonePaymentCancelRequest", "StandalonePaymentCancelResponse", 201], (call) => {
    const { paymentReference, reference } = call.body;
    const pspReference = call.account.modify("TECHNICAL_CANCEL", paymentReference, reference);
    return { ...withoutApplication(call.body), pspReference, status: "received" as const };
  }),
};

/** Always the same answer, also for a payment that does not exist (S10). */
function received<B extends object>(call: Call<B>, pspReference: string) {
  const rest = withoutApplication(call.body);
  return { ...rest, paymentPspReference: call.id, pspReference, status: "received" as const };
}

function withoutApplication<B extends object>(body: B) {
  const { applicationInfo: _not, ...rest } = body as B & { applicationInfo?: unknown };
  return rest;
}

function pageOf({ account, id }: Call<unknown>, kind: Page["kind"]): Page {
  const page = account.pages.get(id);
  if (page?.kind === kind) return page;
  return refuseRequest(422, "000", `No ${kind} ${id}`); // the document has no error of an unknown id
}

function linkOf(account: AdyenAccount, page: Page): Body<"PaymentLinkResponse"> {
  const status = account.statusOf(page);
  return {
    ...(page.request as Body<"PaymentLinkRequest">),
    ...{ id: page.id, expiresAt: new Date(page.expiresMs).toISOString().replace(/\.\d+/, "") },
    ...{ reusable: "reusable" in page.request && page.request.reusable === true },
    ...{ status: status === "refused" ? "expired" : status, url: `https://test.adyen.link/${page.id}` },
  };
}

type PageBody = Body<"PaymentLinkRequest"> | Body<"CreateCheckoutSessionRequest">;

/** The limits of Adyen's document, whose errors it does not list, but for the first. */
function judgeOrder({ body, nowMs }: Call<PageBody>, hoursMax: number): void {
  const { reference, metadata = {}, expiresAt, returnUrl = "", amount } = body;
  if (returnUrl.length > 1_024) refuseRequest(422, "14_030", "Return URL is too long.");
  if (reference.length > 80) refuseRequest(422, "702", "reference: at most 80 characters");
  if (!/^[A-Z]{3}$/.test(amount.currency) || amount.value < 0) refuseRequest(422, "137", "Invalid amount specified");
  const pairs = Object.entries(metadata);
  const isWide = pairs.length > 20 || pairs.some(([name, value]) => name.length > 20 || value.length > 80);
  if (isWide) refuseRequest(422, "702", "metadata: at most 20 pairs of 20 and 80 characters");
  if (expiresAt === undefined) return;
  const lifeMs = Date.parse(expiresAt) - nowMs;
  if (lifeMs <= 0 || lifeMs > hoursMax * hourMs) refuseRequest(422, "702", `expiresAt: within ${hoursMax} hours`);
}
