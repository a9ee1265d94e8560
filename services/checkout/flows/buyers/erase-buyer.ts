// Erases a buyer's personal data. Phases, each safe to rerun: 1 refuse while a dispute is open (payments) · 2 insert
// the erasure with its event · 3 for each batch: erase payments (payments), then sessions with the count, in one
// transaction · 4 erase links and finish · 5 store the answer. A job continues an unfinished one. Webhook erases its
// copies by the events of the payments.
import { create } from "@bufbuild/protobuf";
import { type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { type CreateErasureResponse, CreateErasureResponseSchema } from "#proto/checkout/v1/privacy_pb.ts";
import { toErasure } from "../../messages.ts";
import { paymentIdOf } from "../../rules/session.ts";
import {
  addErased,
  type BuyerKey,
  claimErasure,
  eraseLinks,
  eraseSessions,
  findErasure,
  finishErasure,
  insertErasure,
  type StoredErasure,
} from "../../store/erasures.ts";
import type { Owner } from "../../store/session-lists.ts";
import { checkBuyer, findBuyer, type PrivacyContext } from "./find-buyer.ts";

/** @throws Failure NOT_FOUND, INVALID_BODY, ERASURE_BLOCKED, IDEMPOTENCY_…. */
export async function requestErasure(
  context: PrivacyContext,
  request: Owner & BuyerKey,
  idempotency: IdempotencyScope | undefined,
): Promise<CreateErasureResponse> {
  const { db, keys, log, copiesDays } = context;
  const schema = CreateErasureResponseSchema;
  return await withIdempotency(keys, schema, idempotency, newId("erasure"), async ({ id, finish }) => {
    const accepted = (await findErasure(db, request, id)) ?? (await acceptErasure(context, request, id));
    if (!accepted.finishedAt)
      await driveErasure(context, accepted).catch((error) =>
        log.warn({ err: error, erasure: id }, "erasure not finished; a job continues it"),
      );
    const erasure = requireFound(await findErasure(db, request, id));
    const response = create(schema, { erasure: toErasure(erasure, copiesDays), replayed: false });
    await db.transaction(async (tx) => finish?.(tx, response));
    return response;
  });
}

async function acceptErasure(context: PrivacyContext, request: Owner & BuyerKey, id: string): Promise<StoredErasure> {
  await checkBuyer(context, request);
  const { disputedIds } = await findBuyer(context, request);
  if (disputedIds.length > 0) throw new Failure("ERASURE_BLOCKED", { explanation: disputedIds.join(", ") });
  const accepted = await context.db.transaction(async (tx) => {
    const erasure = await insertErasure(tx, request, id, clockNow());
    await context.outbox.append(tx, [erasureEvent("erasure.requested", erasure)]);
    return erasure;
  });
  context.outbox.wake();
  return accepted;
}

/** Continues the erasure that is due longest. @returns true: there may be more */
export async function continueErasure(context: PrivacyContext): Promise<boolean> {
  const due = await claimErasure(context.db);
  if (due) await driveErasure(context, due);
  return due !== undefined;
}

/** Phases 3 and 4. Data that a dispute or an unfinished order needs is left to the next try. */
async function driveErasure({ db, outbox, ...context }: PrivacyContext, erasure: StoredErasure): Promise<void> {
  const { merchantId, environment } = erasure;
  for (let hasMore = true; hasMore; ) {
    const found = await findBuyer({ db, ...context }, erasure);
    const paymentIds = [...found.paymentIds];
    const { erased, blockedIds } = await context.buyerData.erasePayments({ merchantId, environment, paymentIds });
    const sessionIds = found.sessionIds.filter((id) => !blockedIds.includes(paymentIdOf(id)));
    await db.transaction(async (tx) => addErased(tx, erasure.id, erased, await eraseSessions(tx, erasure, sessionIds)));
    if (blockedIds.length > 0) return;
    hasMore = found.hasMore;
  }
  await db.transaction(async (tx) => {
    const links = erasure.customerEmail === "" ? 0 : await eraseLinks(tx, erasure);
    const finished = await finishErasure(tx, erasure.id, links);
    if (finished) await outbox.append(tx, [erasureEvent("erasure.finished", finished)]);
  });
  outbox.wake();
}

function erasureEvent(type: "erasure.requested" | "erasure.finished", { id, merchantId, environment }: StoredErasure) {
  return { type, merchantId, environment, objectId: id, status: type.slice("erasure.".length), at: clockNow() };
}
