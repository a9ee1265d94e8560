// The receipt page, `/c/{session id}?receipt=<token>`, and its form that sends the receipt by mail. The token opens the
// receipt of a completed session and nothing else; a wrong one looks like any incomplete link.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { FastifyReply, FastifyRequest } from "fastify";
import { callContext } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { DescribeReceiptResponse } from "#proto/checkout/v1/checkout_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { GatewayContext } from "../../auth/auth.ts";
import { ApiError } from "../../failures.ts";
import type { Peers } from "../../peers.ts";
import type { PageFiles } from "../../web/shell.ts";
import { receiptPage } from "../../web/views/receipt.ts";
import { formRoute, isToken, languageOf, sellerOf, shellMerchant } from "./page-view.ts";

type PageContext = Pick<GatewayContext, "app" | "addresses" | "limits">;

interface ReceiptQuery {
  readonly receipt?: unknown;
  readonly mail?: unknown;
}

/** @returns undefined without a token, or with a wrong one, for which the status is set @throws ApiError, Failure */
export async function receiptView(
  { addresses, limits, files }: PageContext & { readonly files: PageFiles },
  { checkout, brandingOf }: Pick<Peers, "checkout" | "brandingOf">,
  request: FastifyRequest,
  reply: FastifyReply,
  sessionId: string,
): Promise<string | undefined> {
  const { receipt: receiptToken, mail } = request.query as ReceiptQuery;
  if (receiptToken === undefined) return undefined;
  const lookup = async () => {
    if (!isId("session", sessionId) || !isToken(receiptToken)) throw new Failure("NOT_FOUND");
    limits.takeForResolve(sessionId, receiptToken, reply);
    const found = await checkout.describeReceipt({ sessionId, receiptToken });
    const { merchantId = "", environment = Environment.UNSPECIFIED } = found.session ?? {};
    return { found, receiptToken, branding: await brandingOf({ merchantId, environment }) };
  };
  const opened = await addresses
    .allow("secret", request, reply, () => callContext.run(request.call, lookup))
    .catch(orUndefined);
  if (!opened) {
    reply.code(404);
    return undefined;
  }
  const { found, branding } = opened;
  const parts = {
    language: languageOf(request, found.session?.locale ?? ""),
    files,
    merchant: shellMerchant(branding),
    seller: sellerOf(branding),
    isTest: found.session?.environment === Environment.SANDBOX,
  };
  const outcome = mail === "sent" || mail === "failed" ? mail : undefined;
  return receiptPage(parts, factsOf(found, opened.receiptToken, branding.canMail, outcome));
}

function orUndefined(error: unknown): undefined {
  if (error instanceof Failure && error.reason === "NOT_FOUND") return undefined;
  throw error;
}

function factsOf(
  { session, payment, hasEmail }: DescribeReceiptResponse,
  token: string,
  canMail: boolean,
  mail: "sent" | "failed" | undefined,
): Parameters<typeof receiptPage>[1] {
  if (!session || !payment) throw new Error("the receipt is missing");
  const { amount, currency, description, lineItems: lines, successUrl, cancelUrl } = session;
  const { capturedAmount, refundedAmount, cardBrand, cardLast4, paidAt, paymentMethod, wallet, bankLast4 } = payment;
  return {
    ...{ sessionId: session.id, token, amount, currency, description, lines, mail },
    ...{
      paymentMethod,
      wallet,
      bankLast4,
      capturedAmount,
      refundedAmount,
      cardBrand,
      cardLast4,
      paymentStatus: payment.status,
    },
    paidAt: paidAt && timestampDate(paidAt),
    reference: session.orderReference,
    backUrl: successUrl || cancelUrl,
    canEmail: canMail && hasEmail && capturedAmount > 0n,
  };
}

/** The answer shows the receipt again, with the outcome. */
export function mailReceiptRoute({ app, addresses, limits }: PageContext, { checkout }: Pick<Peers, "checkout">): void {
  formRoute<{ id: string }>(app, "/c/:id/receipt", async (request, reply) => {
    const { id: sessionId } = request.params;
    const receiptToken = request.body?.get("receipt") ?? "";
    if (!isId("session", sessionId) || !isToken(receiptToken)) throw new ApiError("not_found");
    limits.takeForResolve(sessionId, receiptToken, reply);
    const send = () => callContext.run(request.call, () => checkout.mailReceipt({ sessionId, receiptToken }));
    const { queued } = await addresses.allow("secret", request, reply, send);
    const outcome = queued ? "sent" : "failed";
    const address = `/c/${sessionId}?receipt=${encodeURIComponent(receiptToken)}&mail=${outcome}`;
    return await reply.header("referrer-policy", "no-referrer").redirect(address, 303);
  });
}
