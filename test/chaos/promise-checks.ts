// Compares one payment of ours with its clients' answers, its session, and its announced and delivered events. Pure:
// books in, differences out.
import type { TheirIntent } from "./expected-money.ts";
import type { AnnouncementCounts, OurPayment } from "./money-truth.ts";
import type { SeenPayment } from "./seen.ts";

/** Answers to clients hold: completed sessions are paid, answered refunds exist, and each key made one refund. */
export function differencesWithClient(ours: OurPayment, seen: SeenPayment): string[] {
  const found: string[] = [];
  // A debit may be returned days after it was reported paid.
  if ((seen.reportedPaid || seen.knownPaid) && !wasPaid(ours))
    found.push(`a buyer got paid, the outcome is ${ours.outcome}`);
  if (seen.reportedExpired && ours.sessionStatus !== "expired")
    found.push(`a merchant got expired, the session is ${ours.sessionStatus}`);
  if (seen.reportedCaptured !== undefined && seen.reportedCaptured !== ours.captured)
    found.push(`a merchant got ${seen.reportedCaptured} captured, it is ${ours.captured}`);
  if (seen.reportedCanceled && ours.outcome !== "canceled")
    found.push(`a merchant got canceled, the outcome is ${ours.outcome}`);
  if (seen.amount !== ours.amount || seen.currency !== ours.currency)
    found.push(`${seen.amount} ${seen.currency} were asked for, the payment has ${ours.amount} ${ours.currency}`);
  const amounts = new Map(ours.refunds.map((refund) => [refund.ref, refund.amount]));
  for (const { key, answers } of seen.refunds) {
    const [first] = answers;
    if (key && answers.some((answer) => answer.raw !== first?.raw)) found.push(`refund key ${key} has two answers`);
    for (const answer of answers) {
      const ref = answer.at("connector_ref");
      if (typeof ref !== "string" || ref === "") continue;
      const [reported, booked] = [answer.at("refunded"), amounts.get(ref)];
      if (reported !== booked) found.push(`a client got refund ${ref} of ${reported}, we have ${booked ?? "none"}`);
    }
  }
  return [...found, ...refundCounts(ours, seen)];
}

/** It succeeded at some time: a debit may be returned later, an authorization may end. */
function wasPaid({ outcome, wasReturned, wasReleased }: OurPayment): boolean {
  return outcome === "succeeded" || wasReturned || wasReleased;
}

/** One refund for each key and for each call without one; never more than were asked for. */
function refundCounts(ours: OurPayment, seen: SeenPayment): string[] {
  const found: string[] = [];
  const distinct = seen.refunds.reduce(
    (sum, { key, answers }) => sum + (key ? Math.min(1, answers.length) : answers.length),
    0,
  );
  if (distinct > ours.refundOperations)
    found.push(`${distinct} refunds were answered, we made ${ours.refundOperations}`);
  if (seen.refunds.length < ours.refundOperations) {
    found.push(`${seen.refunds.length} refunds were asked for, we made ${ours.refundOperations}`);
  }
  return found;
}

/** A session has its payment's status. */
export function differencesWithSession(ours: OurPayment): string[] {
  if (ours.session === "") return [];
  const found: string[] = [];
  if (wasPaid(ours) !== (ours.sessionStatus === "completed")) {
    found.push(`the outcome is ${ours.outcome}, the session ${ours.sessionStatus}`);
  }
  if (ours.sessionAmount !== ours.amount)
    found.push(`the payment is of ${ours.amount}, its session of ${ours.sessionAmount}`);
  const isUnpaidEnd = ours.outcome === "canceled" && !ours.wasReleased;
  if (isUnpaidEnd && !["expired", "canceled"].includes(ours.sessionStatus)) {
    found.push(`the payment is canceled, the session ${ours.sessionStatus}`);
  }
  if (ours.sessionStatus === "completed" && ours.sessionPaymentStatus !== ours.status) {
    found.push(`the payment is ${ours.status}, its session has ${ours.sessionPaymentStatus}`);
  }
  return found;
}

/** docs/contract.md §9: which statuses an event may carry; one that is not named may carry any. */
const eventStatuses: Readonly<Record<string, readonly string[]>> = {
  "payment.succeeded": ["succeeded"],
  "payment.failed": ["failed"],
  "payment.processing": ["processing"],
  "payment.refunded": ["refunded", "partially_refunded"],
  "authorization.canceled": ["canceled"],
  "authorization.expired": ["canceled"],
  "refund.succeeded": ["succeeded"],
  "refund.failed": ["failed", "canceled"],
  "dispute.created": ["needs_response", "under_review", "warning_needs_response", "warning_under_review"],
  "dispute.updated": ["needs_response", "under_review", "warning_under_review"],
  "dispute.won": ["won"],
  "dispute.lost": ["lost"],
  "dispute.closed": ["warning_closed"],
  "checkout_session.completed": ["completed"],
  "checkout_session.expired": ["expired"],
  "checkout_session.canceled": ["canceled"],
};

/**
 * docs/contract.md §9: succeeded once per path, failed once per declined attempt, refunded per refund, disputed once
 * per dispute, each status of a dispute, and how each refund and each session ended.
 */
export function eventDifferences(
  ours: OurPayment,
  intent: TheirIntent | undefined,
  announcements: AnnouncementCounts,
  deliveries: ReadonlyMap<string, number>,
): string[] {
  const found: string[] = [];
  for (const event of new Set([...announcements.byStatus.keys(), ...deliveries.keys()])) {
    const [announced, came] = [announcements.byStatus.get(event) ?? 0, deliveries.get(event) ?? 0];
    if (announced !== came) found.push(`${event}: announced ${announced} times, delivered ${came} times`);
    const [type = "", status = ""] = event.split(" ");
    if (eventStatuses[type]?.includes(status) === false) found.push(`${type} has status ${status}`);
  }
  const count = (type: string) =>
    [...announcements.byStatus].reduce((sum, [key, n]) => (key.startsWith(`${type} `) ? sum + n : sum), 0);
  return [
    ...found,
    ...successDifferences(ours, intent, count("payment.succeeded")),
    ...authorizationEvents(ours, intent, count),
    ...failureDifferences(ours, intent, count("payment.failed")),
    ...refundEvents(ours, announcements, count("payment.refunded")),
    ...refundEnds(ours, announcements),
    ...sessionEnds(ours, count),
    ...disputeEvents(ours, intent, announcements, count("payment.disputed")),
    ...disputeStatuses(ours, announcements, count("dispute.created")),
  ];
}

function successDifferences(ours: OurPayment, intent: TheirIntent | undefined, announced: number): string[] {
  const found: string[] = [];
  const isPaid = wasPaid(ours);
  if (isPaid && announced === 0) found.push("no webhook announced that it is paid");
  if (!isPaid && announced > 0) found.push(`payment.succeeded was announced, the outcome is ${ours.outcome}`);
  // A returned debit clears the record of announcements, even if its capture was never reported: the next payment is
  // announced again.
  if (ours.wasReturned || intent?.wasReturned) return found;
  const paths = Number(ours.byConfirm) + Number(ours.byProcessor);
  if (announced !== paths) found.push(`payment.succeeded was announced ${announced} times by ${paths} paths`);
  // A webhook that is held or lost announces nothing; a later report takes its place.
  // An ended authorization is announced only as ended, and earlier refunds and disputes as themselves.
  const isMoved = ours.refunds.length > 0 || ours.disputes.length > 0;
  // An operator's acceptance announces a charge whose webhook came before.
  const isAccepted = ours.suspense.some(({ ref, resolution }) => ref === intent?.id && resolution === "taken");
  if (isPaid && !ours.wasReleased && !isMoved && !isAccepted && !ours.byProcessor && intent?.untold === 0)
    found.push("the processor's webhook announced nothing");
  return found;
}

/** Each capture that takes money is announced; the end of an authorization once, with the processor's reason. */
function authorizationEvents(
  ours: OurPayment,
  intent: TheirIntent | undefined,
  count: (type: string) => number,
): string[] {
  const { captureMethod, captures, wasReleased } = ours;
  const must = {
    "authorization.captured": captureMethod === "manual" ? captures : 0,
    "authorization.canceled": wasReleased && !intent?.isExpired ? 1 : 0,
    "authorization.expired": wasReleased && intent?.isExpired ? 1 : 0,
  };
  return Object.entries(must).flatMap(([type, times]) =>
    count(type) === times ? [] : [`${type} was announced ${count(type)} times, it must be ${times}`],
  );
}

function failureDifferences(ours: OurPayment, intent: TheirIntent | undefined, announced: number): string[] {
  // A payment that never came to be has no attempt, and its end is announced all the same.
  const most = ours.declined + Number(intent === undefined || intent.isLost || ours.wasReturned);
  // Attempts reported after the payment has ended announce nothing, except a returned debit.
  const least = ours.wasReturned ? 1 : ours.outcome === "failed" ? Math.max(1, ours.declined) : 0;
  return announced > most || announced < least
    ? [`payment.failed was announced ${announced} times for ${ours.declined} declined attempts`]
    : [];
}

function refundEvents(ours: OurPayment, announcements: AnnouncementCounts, announced: number): string[] {
  const found: string[] = [];
  const reached = ours.refunds.filter((refund) => refund.ref !== "");
  for (const refund of reached.filter(({ unasked }) => !unasked)) {
    const times = announcements.byObject.get(`payment.refunded ${refund.id}`) ?? 0;
    const isEffective = refund.status === "pending" || refund.status === "succeeded";
    // Once when it is made, and once when one that was pending has succeeded.
    if (times > 2 || (isEffective && times === 0)) {
      found.push(`payment.refunded was announced ${times} times for refund ${refund.id}, which is ${refund.status}`);
    }
  }
  if (announced > 2 * reached.length) {
    found.push(`payment.refunded was announced ${announced} times for ${reached.length} refunds`);
  }
  return found;
}

/** A success is announced once; a failure at least once, since its request may be retried. */
function refundEnds(ours: OurPayment, announcements: AnnouncementCounts): string[] {
  const times = (type: string, id: string) => announcements.byObject.get(`${type} ${id}`) ?? 0;
  return ours.refunds
    .filter(({ unasked }) => !unasked)
    .flatMap(({ id, status }) => {
      const [paid, failed] = [times("refund.succeeded", id), times("refund.failed", id)];
      const isAnnounced =
        status === "succeeded" ? paid === 1 : status === "pending" ? paid === 0 : failed > 0 && paid < 2;
      return isAnnounced
        ? []
        : [`refund ${id} is ${status}; announced succeeded ${paid} times, failed ${failed} times`];
    });
}

/** A session ends once, except that an expired or canceled one may be paid later. */
function sessionEnds({ session, sessionStatus }: OurPayment, count: (type: string) => number): string[] {
  if (session === "") return [];
  const ends = ["completed", "expired", "canceled"].map((end) => [end, count(`checkout_session.${end}`)] as const);
  return ends
    .filter(([end, times]) => (end === sessionStatus ? times !== 1 : sessionStatus !== "completed" && times > 0))
    .map(([end, times]) => `checkout_session.${end} was announced ${times} times, the session is ${sessionStatus}`);
}

function disputeEvents(
  ours: OurPayment,
  intent: TheirIntent | undefined,
  announcements: AnnouncementCounts,
  announced: number,
): string[] {
  // An intent with another amount is in suspense and announces nothing.
  const isHeld = ours.suspense.some(({ kind }) => kind === "other_amount") && ours.outcome !== "succeeded";
  const opened = isHeld
    ? 0
    : (intent?.disputes ?? []).filter((dispute) => !dispute.status.startsWith("warning_")).length;
  const found: string[] = [];
  if (announced !== opened) found.push(`payment.disputed was announced ${announced} times for ${opened} disputes`);
  for (const { id, status } of ours.disputes) {
    const must = status.startsWith("warning_") ? 0 : 1;
    const times = announcements.byObject.get(`payment.disputed ${id}`) ?? 0;
    if (times !== must)
      found.push(`payment.disputed was announced ${times} times for dispute ${id}, which is ${status}`);
  }
  return found;
}

/** A dispute goes through its statuses once; only a decision may be overturned, and overturned again. */
function disputeStatuses({ disputes }: OurPayment, { byObject }: AnnouncementCounts, created: number): string[] {
  const found: string[] = [];
  if (created > disputes.length) found.push(`dispute.created was announced ${created} times`);
  for (const { id, status } of disputes) {
    const times = (of: string) => byObject.get(`dispute ${of} ${id}`) ?? 0;
    if (times(status) === 0) found.push(`no webhook announced that dispute ${id} is ${status}`);
    const twice = passedStatuses.filter((one) => times(one) > 1);
    for (const one of twice) found.push(`that dispute ${id} is ${one} was announced ${times(one)} times`);
    const ahead = status === "lost" ? times("lost") - times("won") : times("won") - times("lost");
    const most = status === "won" || status === "lost" ? 1 : 0;
    if (ahead < 0 || ahead > most)
      found.push(`dispute ${id} was announced won ${times("won")} times, lost ${times("lost")}`);
  }
  return found;
}

const passedStatuses = [
  ...["warning_needs_response", "warning_under_review", "warning_closed"],
  ...["needs_response", "under_review"],
];
