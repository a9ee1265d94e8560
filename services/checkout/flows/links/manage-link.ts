// Creates and closes payment links for the merchant's people. An idempotency key makes one link, each in ONE
// transaction with its event for the audit log. Closing stops new sessions; one that is open may still be paid.
import { create } from "@bufbuild/protobuf";
import { type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { idTimeMs, isId, newSecretId } from "#platform/values/id.ts";
import { type CreatePaymentLinkResponse, CreatePaymentLinkResponseSchema } from "#proto/checkout/v1/links_pb.ts";
import type { CheckoutContext } from "../../context.ts";
import { toPaymentLink } from "../../messages.ts";
import { linkViolations } from "../../rules/payment-link.ts";
import { closeStoredLink, insertLink, type NewLink, type StoredLink } from "../../store/payment-links.ts";
import type { Owner } from "../../store/session-lists.ts";
import { describeLink } from "./pay-link.ts";

interface LinkRequest extends Omit<NewLink, "id" | "status" | "createdAt"> {
  readonly idempotency: IdempotencyScope;
}

/** @throws Failure INVALID_BODY, IDEMPOTENCY_…. */
export async function createLink(context: CheckoutContext, request: LinkRequest): Promise<CreatePaymentLinkResponse> {
  const violations = linkViolations(request, clockNow());
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const { keys, db, outbox } = context;
  const schema = CreatePaymentLinkResponseSchema;
  return await withIdempotency(
    keys,
    schema,
    request.idempotency,
    newSecretId("paymentLink"),
    async ({ id, finish }) => {
      if (!isId("paymentLink", id)) throw new Error("the key belongs to another kind of object");
      const link = { ...request, id, status: "active", createdAt: new Date(idTimeMs(id)) } as const;
      const response = create(schema, {
        link: toPaymentLink(context.checkoutOrigin, { ...link, paid: 0, pending: 0 }),
      });
      await db.transaction(async (tx) => {
        await insertLink(tx, link);
        await outbox.append(tx, [linkEvent("payment_link.created", link)]);
        await finish?.(tx, response);
      });
      outbox.wake();
      return response;
    },
  );
}

/** @throws Failure NOT_FOUND. */
export async function closeLink(context: CheckoutContext, owner: Owner, linkId: string): Promise<StoredLink> {
  const { db, outbox } = context;
  const link = await findOwnLink(context, owner, linkId);
  await db.transaction(async (tx) => {
    if (await closeStoredLink(tx, link.id)) await outbox.append(tx, [linkEvent("payment_link.closed", link)]);
  });
  outbox.wake();
  return { ...link, status: "closed" };
}

/** @throws Failure NOT_FOUND. */
export async function findOwnLink(
  { db }: Pick<CheckoutContext, "db">,
  { merchantId, environment }: Owner,
  linkId: string,
): Promise<StoredLink> {
  const link = await describeLink({ db }, linkId);
  if (link.merchantId !== merchantId || link.environment !== environment) throw new Failure("NOT_FOUND");
  return link;
}

function linkEvent(type: "payment_link.created" | "payment_link.closed", link: Pick<NewLink, "id"> & Owner) {
  const { id, merchantId, environment } = link;
  return { type, merchantId, environment, objectId: id, status: type.slice("payment_link.".length), at: clockNow() };
}
