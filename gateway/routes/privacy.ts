// A buyer's rights to their personal data: erasure and export (docs/contract.md §5).
import { Type } from "typebox";
import { idSchema } from "../../services/public-json/field.ts";
import { BuyerExportJson, ErasureJson, presentErasure, presentExport } from "../../services/public-json/privacy.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { idempotencyOf, markReplay } from "../idempotency.ts";
import { strict } from "../operation.ts";
import type { Peers } from "../peers.ts";

const tag = "Privacy";

const Buyer = Type.Object(
  {
    customer_email: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 254,
        description: "Everything with this e-mail, in any case.",
        examples: ["ada@example.com"],
      }),
    ),
    payment_id: Type.Optional(idSchema("payment", "Only this payment with its session.")),
  },
  strict,
);
const messages = { not_found: "no such payment" };

export function privacyRoutes(context: GatewayContext, { privacy }: Pick<Peers, "privacy">): void {
  merchantRoute(context, {
    id: "createErasure",
    method: "POST",
    path: "/v1/privacy/erasures",
    scope: "merchant:write",
    tag,
    summary: "Erase a buyer",
    description:
      "Erases e-mail, descriptions, metadata, line items, texts and files of evidence, notes, card fingerprints and risk data of a buyer, given by `customer_email` or `payment_id`. Amounts, states, ids and order references stay. Most erasures are finished in the response.",
    status: 201,
    body: Buyer,
    response: ErasureJson,
    whileSuspended: true,
    idempotent: true,
    errors: ["not_found", "erasure_blocked"],
    messages,
    handle: async ({ principal: { merchantId, environment }, body, request, reply }) => {
      const buyer = {
        merchantId,
        environment,
        customerEmail: body.customer_email ?? "",
        paymentId: body.payment_id ?? "",
      };
      const answer = await privacy.createErasure({ ...buyer, ...idempotencyOf(request) });
      markReplay(reply, answer.replayed);
      return presentErasure(answer.erasure);
    },
  });
  merchantRoute(context, {
    id: "getErasure",
    method: "GET",
    path: "/v1/privacy/erasures/:id",
    scope: "merchant:read",
    tag,
    summary: "Read an erasure",
    description: "It does not name the buyer.",
    params: Type.Object({ id: idSchema("erasure", "Id of the erasure.") }),
    response: ErasureJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      return presentErasure((await privacy.getErasure({ merchantId, environment, id: params.id })).erasure);
    },
  });
  merchantRoute(context, {
    id: "exportBuyer",
    method: "POST",
    path: "/v1/privacy/exports",
    scope: "payments:read",
    tag,
    summary: "Export a buyer",
    description:
      "Answers the newest 1,000 sessions and payments of a buyer, given by `customer_email` or `payment_id`.",
    body: Buyer,
    response: BuyerExportJson,
    errors: ["not_found"],
    messages,
    handle: async ({ principal: { merchantId, environment }, body }) => {
      const buyer = { customerEmail: body.customer_email ?? "", paymentId: body.payment_id ?? "" };
      return presentExport(await privacy.exportBuyer({ merchantId, environment, ...buyer }));
    },
  });
}
