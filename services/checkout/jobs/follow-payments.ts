// Applies payment events to sessions, so that a session completes even if the buyer never returns. Only events that
// payments confirms are applied. A batch, its effects and its inbox rows are one transaction; repeated and late events
// change nothing. `payment.erased` erases the session, also when events are published again after a restore.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Consumer } from "#platform/events/event-consumer.ts";
import { markConsumed } from "#platform/events/inbox.ts";
import { crashPoint } from "#platform/process/crash-point.ts";
import { clockNow } from "#platform/values/clock.ts";
import { type Id, isId } from "#platform/values/id.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { durableConsumers } from "../../services.ts";
import type { CheckoutContext } from "../context.ts";
import { sessionEvent } from "../flows/apply-fact.ts";
import type { PrivacyContext } from "../flows/buyers/find-buyer.ts";
import { isCardDecline } from "../rules/risk.ts";
import { decideSession, type PaymentFact, type PaymentOutcome, statusIfCanceled } from "../rules/session.ts";
import { eraseSessions } from "../store/erasures.ts";
import { type RiskAttempt, recordAttempts } from "../store/risk-attempts.ts";
import { changeSessions, lockSessions, type SessionChange, type StoredSession } from "../store/sessions.ts";

const { name } = durableConsumers.followPayments;

export function followPayments(
  context: Pick<CheckoutContext, "db" | "outbox" | "log" | "payments"> & Pick<PrivacyContext, "buyerData">,
): Consumer {
  return {
    ...durableConsumers.followPayments,
    announcer: context.payments,
    handle: async (events) => {
      await consumeBatch(context, events);
      await followErasures(context, events);
    },
  };
}

/** Both are erased already, unless one of the databases was restored from a backup. */
async function followErasures(
  { db, buyerData }: Pick<PrivacyContext, "db" | "buyerData">,
  events: readonly Event[],
): Promise<void> {
  for (const { type, merchantId, environment, objectId, attributes } of events) {
    if (type !== "payment.erased") continue;
    const { session_id: sessionId } = attributes;
    if (sessionId) await db.transaction((tx) => eraseSessions(tx, { merchantId, environment }, [sessionId]));
    await buyerData.erasePayments({ merchantId, environment, paymentIds: [objectId] });
  }
}

interface SessionFact {
  readonly eventId: string;
  readonly sessionId: Id<"session">;
  readonly fact: PaymentFact;
  /** An attempt failed because of its card. */
  readonly isDecline: boolean;
  /** Card fingerprint of the last attempt; empty: unknown. */
  readonly card: string;
}

/** Exported for tests without a broker. */
export async function consumeBatch(
  context: Pick<CheckoutContext, "db" | "outbox" | "log">,
  events: readonly Event[],
): Promise<void> {
  const facts = events.flatMap((event) => sessionFact(event) ?? []);
  if (facts.length === 0) return;
  await context.db.transaction(async (tx) => {
    const fresh = await markConsumed(tx, name, [...new Set(facts.map((f) => f.eventId))]);
    const newFacts = facts.filter((f) => fresh.has(f.eventId));
    const sessions = new Map<string, StoredSession>();
    for (const session of await lockSessions(tx, [...new Set(newFacts.map((f) => f.sessionId))])) {
      sessions.set(session.id, session);
    }
    await recordAttempts(
      tx,
      newFacts.flatMap((one) => attemptOf(one, sessions.get(one.sessionId)) ?? []),
    );
    const factsOf = Map.groupBy(newFacts, ({ sessionId }) => sessionId);
    // Each statement writes the next change of every session.
    for (;;) {
      const changes = [...sessions.values()].flatMap((session) => {
        return nextChange(context, session, factsOf.get(session.id) ?? []) ?? [];
      });
      if (changes.length === 0) return;
      for (const changed of await changeSessions(tx, changes)) {
        if (!changed) throw new Error("a locked session changed");
        sessions.set(changed.id, changed);
      }
    }
  });
  crashPoint("follow-payments.1-consumed");
  context.outbox.wake();
}

/** Removes facts up to the first that changes the session. @returns its change; undefined: no fact changes it */
function nextChange(
  context: Pick<CheckoutContext, "outbox" | "log">,
  session: StoredSession,
  facts: SessionFact[],
): SessionChange | undefined {
  for (let next = facts.shift(); next; next = facts.shift()) {
    const decision = decideSession(session.state, next.fact, statusIfCanceled(session, clockNow()));
    if (decision.kind === "ignored") {
      context.log.debug({ session_id: session.id, why: decision.reason }, "payment event changes nothing");
      continue;
    }
    const announcements = decision.event ? [sessionEvent(decision.event, session, decision.state)] : [];
    return { session, state: decision.state, events: context.outbox.toRows(announcements) };
  }
  return undefined;
}

// Outcome of the session by the outcome of its intent.
const outcomes = new Map<string, PaymentOutcome>([
  ["pending", "open"],
  ["requires_action", "open"],
  ["failed", "open"],
  ["processing", "processing"],
  ["succeeded", "paid"],
  ["canceled", "canceled"],
]);

/** @returns undefined: the event is about a payment without a session */
function sessionFact({ id: eventId, status, occurredAt, attributes }: Event): SessionFact | undefined {
  const { session_id: sessionId = "", receipt_url: receiptUrl = "", card_fingerprint: card = "" } = attributes;
  const { failed_attempts: failed = "0", version = "0", captured_amount: captured } = attributes;
  const outcome = outcomes.get(attributes.outcome ?? "");
  if (!isId("session", sessionId) || !outcome || !occurredAt) return undefined;
  if (!/^\d{1,9}$/.test(failed) || !/^\d{1,18}$/.test(version)) return undefined;
  const fact: PaymentFact = {
    outcome,
    // The event's status may differ from the payment's, as for a refund of a disputed payment.
    paymentStatus: attributes.payment_status || status,
    receiptUrl,
    capturedAmount: captured !== undefined && /^\d{1,9}$/.test(captured) ? BigInt(captured) : undefined,
    failedAttempts: Number(failed),
    version: BigInt(version),
    at: timestampDate(occurredAt),
  };
  const isDecline = status === "failed" && isCardDecline(attributes.failure_code ?? "");
  return { eventId, sessionId, fact, isDecline, card };
}

/** A paid or declined attempt with a known card, for the rules that count cards. */
function attemptOf(
  { sessionId, fact, isDecline, card }: SessionFact,
  session: StoredSession | undefined,
): RiskAttempt | undefined {
  if (!session || card === "" || (fact.outcome !== "paid" && !isDecline)) return undefined;
  const { merchantId, environment, customerEmail } = session;
  const email = customerEmail.toLowerCase();
  const occurrence = isDecline ? String(fact.failedAttempts) : "";
  const what = isDecline ? "declined" : "paid";
  return { sessionId, merchantId, environment, fact: what, occurrence, email, addressHash: undefined, card };
}
