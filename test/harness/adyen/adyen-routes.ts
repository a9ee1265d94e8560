// The paths of Adyen's Checkout API that its stand-in serves, with the models of each body, and the words of its
// errors. Payments, refunds and captures cannot be read, as at Adyen.
import type * as checkout from "@adyen/api-library/lib/src/typings/checkout/models.js";
import type { AdyenAccount, Page } from "./adyen-account.ts";
import type { Library, Wire } from "./adyen-fields.ts";
import { timeOf } from "./adyen-notifications.ts";

export interface Call<B = unknown> {
  readonly account: AdyenAccount;
  readonly body: B;
  /** The part of the path that names an object. */
  readonly id: string;
  readonly query: URLSearchParams;
  readonly nowMs: number;
}
export interface Route {
  readonly library: Library;
  /** The models of the request and of the answer. */
  readonly takes?: string;
  readonly gives: string;
  readonly status: number;
  serve(call: Call): object;
}
export interface Reply {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}
type Link = Wire<checkout.PaymentLinkRequest>;
type Payment = Wire<checkout.PaymentRequest>;
type Session = Wire<checkout.CreateCheckoutSessionRequest>;

const hourMs = 3_600_000;
const sessionHoursMax = 24;
const linkHoursMax = 70 * 24;

export function makeRoute<B>(takes: string, gives: string, status: number, serve: (call: Call<B>) => object): Route {
  return { library: "checkout", ...(takes && { takes }), gives, status, serve: (call) => serve(call as Call<B>) };
}

/** Always received, also for a payment that does not exist (second hand). */
function modification(name: string, code: Parameters<AdyenAccount["modify"]>[0]): Route {
  type Body = Wire<checkout.PaymentCaptureRequest & checkout.StandalonePaymentCancelRequest>;
  return makeRoute<Body>(`${name}Request`, `${name}Response`, 201, ({ account, id, body }) => {
    const { applicationInfo: _not, ...echo } = body;
    const pspReference = account.modify(code, id || body.paymentReference, body.reference, body.amount);
    return { ...echo, ...(id === "" ? {} : { paymentPspReference: id }), pspReference, status: "received" };
  });
}

/** By method and path. */
export const checkoutRoutes: Readonly<Record<string, Route>> = {
  "POST /v72/paymentMethods": makeRoute("PaymentMethodsRequest", "PaymentMethodsResponse", 200, () => ({
    paymentMethods: [{ name: "Cards", type: "scheme", brands: ["visa", "mc", "amex"] }],
  })),
  "POST /v72/paymentLinks": makeRoute<Link>("PaymentLinkRequest", "PaymentLinkResponse", 201, (call) => {
    judgeOrder(call, linkHoursMax);
    return linkOf(call, call.account.addPage("link", call.body, 24 * hourMs));
  }),
  "GET /v72/paymentLinks/{id}": makeRoute("", "PaymentLinkResponse", 200, (call) => linkOf(call, pageOf(call, "link"))),
  "PATCH /v72/paymentLinks/{id}": makeRoute("UpdatePaymentLinkRequest", "PaymentLinkResponse", 200, (call) => {
    const page = pageOf(call, "link");
    if (call.account.statusOf(page) === "completed") refuseRequest(422, "000", "Payment link is completed");
    page.expiresMs = Math.min(page.expiresMs, call.nowMs);
    return linkOf(call, page);
  }),
  "POST /v72/sessions": makeRoute<Session>(
    "CreateCheckoutSessionRequest",
    "CreateCheckoutSessionResponse",
    201,
    (call) => {
      judgeOrder(call, sessionHoursMax);
      const { expiresMs, id, sessionData } = call.account.addPage("session", call.body, hourMs);
      return { mode: "embedded", ...call.body, id, sessionData, expiresAt: timeOf(expiresMs) };
    },
  ),
  "GET /v72/sessions/{id}": makeRoute("", "SessionResultResponse", 200, (call) => {
    const known = pageOf(call, "session").results.get(call.query.get("sessionResult") ?? "");
    return known ?? refuseRequest(422, "000", "Invalid sessionResult");
  }),
  "POST /v72/payments": makeRoute<Payment>("PaymentRequest", "PaymentResponse", 200, payWithCard),
  "POST /v72/payments/{id}/captures": modification("PaymentCapture", "CAPTURE"),
  "POST /v72/payments/{id}/refunds": modification("PaymentRefund", "REFUND"),
  "POST /v72/payments/{id}/cancels": modification("PaymentCancel", "CANCELLATION"),
  "POST /v72/payments/{id}/reversals": modification("PaymentReversal", "CANCEL_OR_REFUND"),
  "POST /v72/cancels": modification("StandalonePaymentCancel", "TECHNICAL_CANCEL"),
};

const refusalCodes: Readonly<Record<string, string>> = {
  ...{ Refused: "2", "Expired Card": "6", "3D Not Authenticated": "11", "Not enough balance": "12" },
  ...{ FRAUD: "20", "CVC Declined": "24" },
};

/** Only with a card that Adyen keeps, without the buyer. */
function payWithCard({ account, body }: Call<Payment>): object {
  const { storedPaymentMethodId } = body.paymentMethod as Wire<checkout.CardDetails>;
  const isUsual = body.shopperInteraction === "ContAuth" && body.recurringProcessingModel !== undefined;
  if (!isUsual) throw new Error("the stand-in knows no other payment");
  const outcome = account.cards.get(`${body.shopperReference}/${storedPaymentMethodId}`);
  if (!outcome) return refuseRequest(422, "803", "PaymentDetail not found"); // the code by a constant of the library
  const { refused: refusalReason, card = "1111" } = outcome;
  const { psp: pspReference, method: brand, amount, reference } = account.payOrder(body, outcome, {});
  const refusal = refusalReason && { refusalReason, refusalReasonCode: refusalCodes[refusalReason] };
  const additionalData = { cardSummary: card.slice(-4), expiryDate: "03/2030" };
  const answer = { pspReference, amount, merchantReference: reference, paymentMethod: { type: "scheme", brand } };
  return { ...answer, additionalData, resultCode: refusal ? "Refused" : "Authorised", ...refusal };
}

function pageOf({ account, id }: Call, kind: Page["kind"]): Page {
  const page = account.pages.get(id);
  return page?.kind === kind ? page : refuseRequest(422, "000", `No ${kind} ${id}`);
}

function linkOf({ account }: Pick<Call, "account">, page: Page): object {
  const [{ id, request }, status] = [page, account.statusOf(page)];
  const expiresAt = new Date(page.expiresMs).toISOString().replace(/\.\d+/, "");
  return { reusable: false, ...request, id, expiresAt, status, url: `https://test.adyen.link/${id}` };
}

/** The limits of Adyen's document, which does not list their errors. */
function judgeOrder({ body, nowMs }: Pick<Call<Link | Session>, "body" | "nowMs">, hoursMax: number): void {
  const { reference, metadata = {}, expiresAt, returnUrl = "", amount, captureDelayHours } = body;
  const isReusable = "reusable" in body && body.reusable === true;
  if (captureDelayHours || isReusable) throw new Error("the stand-in knows no delayed capture and no link for many");
  const isLong = reference.length > 80 || returnUrl.length > 1_024;
  const pairs = Object.entries(metadata);
  const isWide = pairs.length > 20 || pairs.some(([name, value]) => name.length > 20 || value.length > 80);
  if (isLong || isWide) refuseRequest(422, "000", "reference, returnUrl or metadata: too long");
  if (!/^[A-Z]{3}$/.test(amount.currency) || amount.value < 0) refuseRequest(422, "137", "Invalid amount specified");
  const lifeMs = expiresAt === undefined ? 1 : Date.parse(expiresAt) - nowMs;
  if (lifeMs <= 0 || lifeMs > hoursMax * hourMs) refuseRequest(422, "000", `expiresAt: within ${hoursMax} hours`);
}

/** An error as Adyen writes it. @param code "000" where Adyen's document has none */
export function refusalReply(status: number, code: string, message: string, isTransient?: boolean): Reply {
  const ofRequest = status === 401 || status === 403 ? "security" : "validation";
  const body = { status, errorCode: code, message, errorType: status < 500 ? ofRequest : "internal" };
  return { status, body, ...(isTransient && { headers: { "transient-error": "true" } }) };
}

/** Ends a request that Adyen would refuse. */
function refuseRequest(...refusal: Parameters<typeof refusalReply>): never {
  throw new Error("refused", { cause: refusalReply(...refusal) });
}

/** The reply of a refused request; any other error goes on. */
export function replyOf(error: unknown): Reply {
  if (error instanceof Error && error.message === "refused") return error.cause as Reply;
  throw error;
}
