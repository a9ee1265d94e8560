// The page of a payment link, `/l/{link id}`, complete without a script. Only its form, a POST, makes a session; mail
// scanners that open the link change nothing.
import type { FastifyReply, FastifyRequest } from "fastify";
import { callContext } from "#platform/values/call-context.ts";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { PaymentLink } from "#proto/checkout/v1/links_pb.ts";
import { Environment, type GetBrandingResponse } from "#proto/merchant/v1/merchant_pb.ts";
import type { GatewayContext } from "../../auth/auth.ts";
import { minorUnits } from "../../console/view/values.ts";
import { takesPayments } from "../../json/checkout.ts";
import type { Peers } from "../../peers.ts";
import { linkIdIn } from "../../web/session-link.ts";
import type { PageFiles } from "../../web/shell.ts";
import { alonePage } from "../../web/views/parts.ts";
import { type LinkPageState, linkPage } from "../../web/views/payment-link.ts";
import { formRoute, languageOf, sellerOf, sendView, shellMerchant } from "./page-view.ts";

interface LinkContext extends Pick<GatewayContext, "app" | "addresses" | "limits"> {
  readonly files: PageFiles;
  readonly headers: Readonly<Record<string, string>>;
}

type LinkPeers = Pick<Peers, "links" | "brandingOf">;

export function paymentLinkRoutes(context: LinkContext, peers: LinkPeers): void {
  const { app, limits } = context;
  app.get<{ Params: { "*": string } }>("/l/*", (request, reply) =>
    sendLinkView(context, peers, request, reply, linkIdIn(request.params["*"])),
  );
  formRoute<{ id: string }>(app, "/l/:id", async (request, reply) => {
    const { id } = request.params;
    const typed = (request.body?.get("amount") ?? "").slice(0, 40);
    return await sendLinkView(context, peers, request, reply, id, async (link) => {
      limits.takeForLink(request.ip, reply);
      const isFixed = link.amountMin === link.amountMax;
      const amount = isFixed ? link.amountMin : minorUnits(typed, link.currency);
      const fits = amount !== undefined && amount >= link.amountMin && amount <= link.amountMax;
      if (!fits) return { state: "active", typed, isWrong: true };
      const { state, checkoutUrl } = await peers.links.openPaymentLink({ linkId: link.id, amount });
      return checkoutUrl === "" ? { state: stateNamed(state), typed, isWrong: false } : new URL(checkoutUrl);
    });
  });
}

/** @param pay the buyer pressed the button; answers what to show, or where the payment is */
async function sendLinkView(
  { addresses, files, headers }: LinkContext,
  { links, brandingOf }: LinkPeers,
  request: Pick<FastifyRequest, "query" | "headers" | "call" | "ip">,
  reply: FastifyReply,
  linkId: string,
  pay?: (link: PaymentLink) => Promise<LinkPageState | URL>,
): Promise<FastifyReply> {
  reply.headers(headers).header("vary", "accept-language").type("text/html; charset=utf-8");
  const lookup = async () => {
    if (!isId("paymentLink", linkId)) throw new Failure("NOT_FOUND");
    const { link } = await links.describePaymentLink({ linkId });
    if (!link) throw new Error("the payment link is missing");
    const { merchantId, environment } = link;
    return { link, branding: await brandingOf({ merchantId, environment }) };
  };
  return await callContext.run(request.call, () =>
    sendView(request, reply, { locale: "", files }, async () => {
      const known = await addresses.allow("page", request, reply, lookup).catch(orUndefined);
      if (!known) {
        reply.code(404);
        const language = languageOf(request, "");
        const { invalidTitle: title, invalidText: text } = language.texts;
        return alonePage(language, files, { sign: "attention", title, text });
      }
      const { link, branding } = known;
      const shown = await showOrPay(link, branding, pay);
      if (shown instanceof URL) {
        reply.code(303).header("location", shown.pathname + shown.hash);
        return "";
      }
      if (pay) reply.code(shown.isWrong ? 422 : 409);
      const language = languageOf(request, link.locale);
      const isTest = link.environment === Environment.SANDBOX;
      const parts = { language, files, merchant: shellMerchant(branding), seller: sellerOf(branding), isTest };
      return linkPage(parts, link, shown);
    }),
  );
}

function orUndefined(error: unknown): undefined {
  if (error instanceof Failure && error.reason === "NOT_FOUND") return undefined;
  throw error;
}

/** Refusals that are the merchant's matter: the buyer can only ask. */
const merchantRefusals: ReadonlySet<string> = new Set(["PAYMENT_BLOCKED", "NO_CONNECTOR", "FORBIDDEN", "INVALID_BODY"]);

async function showOrPay(
  link: PaymentLink,
  { merchantStatus }: GetBrandingResponse,
  pay: ((link: PaymentLink) => Promise<LinkPageState | URL>) | undefined,
): Promise<LinkPageState | URL> {
  const shown = { typed: "", isWrong: false };
  if (!takesPayments(merchantStatus)) return { ...shown, state: "unavailable" };
  // A link for one payment that is being paid opens the same payment again.
  const isOpen = link.state === "active" || (link.state === "busy" && link.usesMax === 1);
  if (!pay || !isOpen) return { ...shown, state: isOpen ? "active" : stateNamed(link.state) };
  try {
    return await pay(link);
  } catch (error) {
    if (error instanceof Failure && merchantRefusals.has(error.reason)) return { ...shown, state: "unavailable" };
    throw error;
  }
}

function stateNamed(text: string): LinkPageState["state"] {
  const named = (["active", "closed", "expired", "sold_out", "busy"] as const).find((each) => each === text);
  if (!named) throw new Error("unknown state of a payment link");
  return named;
}
