// checkout.v1.PaymentLinkService, in proto order.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { scopeOf } from "#platform/database/idempotency.ts";
import type { Recovery } from "#platform/service/recovery.ts";
import { invalidField } from "#platform/values/failure.ts";
import type { PaymentLinkService } from "#proto/checkout/v1/links_pb.ts";
import type { CheckoutContext } from "../context.ts";
import { closeLink, createLink, findOwnLink } from "../flows/links/manage-link.ts";
import { describeLink, payLink } from "../flows/links/pay-link.ts";
import { toPaymentLink } from "../messages.ts";
import { listLinks, type StoredLink } from "../store/payment-links.ts";

/** @param context.recovery blocks new links and payments, as it does for sessions */
export function paymentLinksRpc(
  context: CheckoutContext & { readonly recovery: Pick<Recovery, "assertOff"> },
): ServiceImpl<typeof PaymentLinkService> {
  const toWire = (link: StoredLink) => toPaymentLink(context.checkoutOrigin, link);
  return {
    createPaymentLink: async (request) => {
      context.recovery.assertOff();
      const { usesMax, expiresAt } = request;
      const idempotency = scopeOf("create_payment_link", request);
      if (!idempotency) throw invalidField("idempotency", "is required");
      return await createLink(context, {
        ...request,
        captureMethod: request.captureMethod || "automatic",
        usesMax: usesMax === 0 ? undefined : usesMax,
        expiresAt: expiresAt && timestampDate(expiresAt),
        idempotency,
      });
    },
    getPaymentLink: async (request) => ({ link: toWire(await findOwnLink(context, request, request.linkId)) }),
    listPaymentLinks: async (request) => {
      const found = await listLinks(context.db, request, request.limit + 1);
      return { links: found.slice(0, request.limit).map(toWire), hasMore: found.length > request.limit };
    },
    closePaymentLink: async (request) => ({ link: toWire(await closeLink(context, request, request.linkId)) }),
    describePaymentLink: async ({ linkId }) => {
      const link = await describeLink(context, linkId);
      return { link: { ...toWire(link), orderReference: "", customerEmail: "", createdBy: "" } };
    },
    openPaymentLink: async ({ linkId, amount }) => {
      context.recovery.assertOff();
      return await payLink(context, linkId, amount);
    },
  };
}
