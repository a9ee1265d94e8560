// Adjusts the journal: one person proposes, another approves (which posts) or rejects. Each step is ONE transaction
// with its event for the audit log.
import type { Database } from "#platform/database/database.ts";
import type { Announcement, Outbox } from "#platform/events/outbox.ts";
import { callContext } from "#platform/values/call-context.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import { isId, newId } from "#platform/values/id.ts";
import { decideAdjustment } from "../rules/adjustment.ts";
import { appendAdjustment } from "../store/journal.ts";
import {
  findProposal,
  insertAdjustment,
  lockAdjustment,
  type NewAdjustment,
  type StoredAdjustment,
  saveDecision,
} from "../store/ledger/adjustments.ts";
import { findPayment } from "../store/payments.ts";

export interface AdjustDeps {
  readonly db: Database;
  readonly outbox: Outbox;
}

/** @throws Failure FORBIDDEN (no person), INVALID_BODY (the payment), IDEMPOTENCY_KEY_REUSE. */
export async function proposeAdjustment(
  { db, outbox }: AdjustDeps,
  input: Omit<NewAdjustment, "id" | "proposedBy">,
): Promise<StoredAdjustment> {
  const adjustment = { ...input, id: newId("adjustment"), proposedBy: actingPerson() };
  const stored = await db.transaction(async (tx) => {
    if (input.aboutPaymentId !== "") {
      const payment = await findPayment(tx, input.aboutPaymentId);
      const isTheirs = payment?.merchantId === input.merchantId && payment.environment === input.environment;
      if (!isTheirs) throw invalidField("about_payment_id", "is not a payment of this merchant and environment");
    }
    const isNew = await insertAdjustment(tx, adjustment);
    const proposed = await findProposal(tx, adjustment.proposedBy, input.idempotencyKey);
    if (!proposed) throw new Error("the proposal is gone");
    if (!isNew && !isSame(proposed, input)) throw new Failure("IDEMPOTENCY_KEY_REUSE");
    if (isNew) await outbox.append(tx, [announcement("adjustment.proposed", proposed)]);
    return proposed;
  });
  outbox.wake();
  return stored;
}

/** @throws Failure NOT_FOUND, FORBIDDEN (no person, or the proposer), INVALID_BODY (decided otherwise). */
export async function decideProposal(
  { db, outbox }: AdjustDeps,
  adjustmentId: string,
  verdict: { readonly state: "approved" | "rejected"; readonly note: string },
): Promise<StoredAdjustment> {
  const person = actingPerson();
  const decided = await db.transaction(async (tx) => {
    const adjustment = requireFound(await lockAdjustment(tx, adjustmentId));
    const decision = decideAdjustment(adjustment, verdict.state, person);
    if (decision.kind === "unchanged") return adjustment;
    if (decision.kind === "own") throw new Failure("FORBIDDEN");
    if (decision.kind === "decided") throw invalidField("adjustment_id", `is already ${adjustment.state}`);
    await saveDecision(tx, adjustmentId, { ...verdict, decidedBy: person });
    if (verdict.state === "approved") await appendAdjustment(tx, adjustment);
    const after = await lockAdjustment(tx, adjustmentId);
    if (!after) throw new Error("the locked adjustment is gone");
    await outbox.append(tx, [announcement(`adjustment.${verdict.state}`, after)]);
    return after;
  });
  outbox.wake();
  return decided;
}

/** A token without a person cannot act: approval needs two people. */
function actingPerson(): string {
  const actor = callContext.getStore()?.actor ?? "";
  if (!isId("person", actor)) throw new Failure("FORBIDDEN");
  return actor;
}

function isSame(stored: StoredAdjustment, input: Omit<NewAdjustment, "id" | "proposedBy">): boolean {
  const serialize = ({
    merchantId,
    environment,
    aboutPaymentId,
    reason,
    lines,
  }: Omit<NewAdjustment, "id" | "proposedBy">) =>
    JSON.stringify([
      ...[merchantId, environment, aboutPaymentId, reason],
      lines.map(({ currency, debit, credit, amount }) => [currency, debit, credit, String(amount)]),
    ]);
  return serialize(stored) === serialize(input);
}

function announcement(type: string, adjustment: StoredAdjustment): Announcement {
  const { id, merchantId, environment, state, aboutPaymentId, lines, proposedBy } = adjustment;
  const descriptions = lines.map(
    ({ currency, debit, credit, amount }) => `${amount} ${currency} from ${debit} to ${credit}`,
  );
  return {
    type,
    merchantId,
    environment,
    objectId: id,
    status: state,
    at: clockNow(),
    attributes: {
      lines: descriptions.join("; "),
      proposed_by: proposedBy,
      ...(aboutPaymentId !== "" && { payment_id: aboutPaymentId }),
    },
  };
}
