// Compares one payment of ours with the processor's objects. Pure: books in, differences out. Expected values come from
// expected-money.ts, never from our rules; promise-checks.ts compares clients and events.
import { expectedMoney, feesOf, netOf, type Schedule, type TheirIntent } from "./expected-money.ts";
import type { OurPayment, OurSuspense } from "./money-truth.ts";

type Statement = ReadonlyMap<string, { readonly amount: number; readonly status: string }>;

/** Our outcomes that an intent's status allows. */
const outcomes: Readonly<Record<string, readonly string[]>> = {
  requires_payment_method: ["pending", "failed"],
  // Cannot be paid any more; the payment continues with another intent, or we end it.
  expired: ["pending", "failed", "canceled"],
  requires_action: ["requires_action"],
  processing: ["processing"],
  requires_capture: ["succeeded"],
  succeeded: ["succeeded"],
  canceled: ["canceled"],
};

/** Everything that the processor has under a payment's reference. */
export interface Theirs {
  readonly intents: readonly TheirIntent[];
  readonly statement: Statement;
  readonly schedules: readonly Schedule[];
}

/** Status, amounts, fee, refunds and disputes of its intent; and what else is there in its name. */
export function differencesWithProcessor(ours: OurPayment, theirs: Theirs): string[] {
  const own = theirs.intents.find((intent) => intent.id === ours.ref) ?? theirs.intents[0];
  const strange = [...strangeCharges(ours, own, theirs.intents), ...clearingDifferences(ours, theirs.intents)];
  if (!own) return ours.captured > 0 || ours.ref !== "" ? ["the processor has no intent"] : strange;
  if (own.isLost) return [...strange, ...lostDifferences(ours)];
  if (isOther(ours, own)) return [...strange, ...otherAmountDifferences(ours, own)];
  if (hasExcess(own)) return [...strange, ...excessDifferences(ours, own)];
  return [
    ...strange,
    ...intentDifferences(ours, own, attemptsOf(own, theirs.intents)),
    ...moneyDifferences(ours, own, theirs.schedules),
    ...movementDifferences(ours, own),
    ...statementDifferences(ours, own, theirs.statement),
  ];
}

function isOther(ours: OurPayment, own: TheirIntent): boolean {
  return own.amount !== ours.amount || own.currency !== ours.currency;
}

function hasExcess(own: TheirIntent): boolean {
  return own.captured_amount > own.amount;
}

/**
 * Every unit of money is in the books once: all of the processor's money for the payment, however it is booked.
 * A returned debit has no balance, though its refunds or disputes may have taken more.
 */
function clearingDifferences(ours: OurPayment, intents: readonly TheirIntent[]): string[] {
  const isUnclear = (one: TheirIntent) =>
    one.isLost || (one.captured_amount === 0 && (one.refunds.length > 0 || one.disputes.length > 0));
  if (intents.some((one) => isUnclear(one) || one.wasReturned)) return [];
  const sum = (list: readonly { readonly amount: number }[]) => list.reduce((all, { amount }) => all + amount, 0);
  const there = intents.map((one) => {
    const back = one.refunds.filter(({ status }) => status === "succeeded");
    return one.captured_amount - sum(back) - sum(one.disputes.filter(({ status }) => status === "lost"));
  });
  return differ("the money at the processor", ours.clearing, sum(there.map((amount) => ({ amount }))));
}

/** Its attempts, with those at pages or accounts that ended before it took their place. */
function attemptsOf(own: TheirIntent, intents: readonly TheirIntent[]): TheirIntent["attempts"] {
  const isReplaced = ({ status }: TheirIntent) => status === "expired" || status === "canceled";
  return intents.filter((intent) => intent === own || isReplaced(intent)).flatMap((intent) => intent.attempts);
}

function intentDifferences(ours: OurPayment, own: TheirIntent, tries: TheirIntent["attempts"]): string[] {
  const found = differ("the intent", ours.ref === "" ? own.id : ours.ref, own.id);
  // A declined payment whose next account was not reached yet.
  const isMoving = ours.ref === "" && own.status === "canceled" && ours.declined > 0;
  const possible = own.isReturned ? ["failed"] : isMoving ? ["failed", "canceled"] : (outcomes[own.status] ?? []);
  if (!possible.includes(ours.outcome)) found.push(...differ("the outcome", ours.outcome, own.status));
  const attempts = (wanted: string) => tries.filter(({ status }) => status === wanted).length;
  const declined = attempts("failed");
  // An attempt that had paid before its debit came back need not count as a declined one, and one that the processor
  // forgot may.
  const least = own.wasReturned ? declined - 1 : declined;
  if (ours.declined < least || ours.declined > declined + attempts("forgotten")) {
    found.push(...differ("the number of declined attempts", ours.declined, declined));
  }
  // A capture that was reported after its return was never booked.
  if (own.isReturned && ours.wasCaptured && !ours.wasReturned)
    found.push("the debit was returned, and the journal has no row for it");
  if (ours.wasReturned && !own.wasReturned) found.push("the journal has a return without a returned debit");
  return found;
}

/** Stored values equal those of the processor's objects. */
function moneyDifferences(ours: OurPayment, own: TheirIntent, schedules: readonly Schedule[]): string[] {
  const captured = own.captured_amount;
  const expected = expectedMoney({ captured, refunds: own.refunds, disputes: own.disputes });
  const fees = feesOf(own.captures, ours, schedules, ours.bookedAt);
  const found = differ("the captured amount", ours.captured, captured);
  found.push(...differ("the refunded amount", ours.refunded, expected.refunded));
  if (!fees.includes(ours.fee))
    found.push(`the fee is ${ours.fee}, by the schedule in effect at capture it is ${fees.join(" or ")}`);
  if (captured === 0 && ours.captureBefore === 0 && own.status === "requires_capture")
    found.push("authorized without an end of its capture window");
  if (captured === 0) return found;
  found.push(...differ("the dispute hold", ours.hold, expected.hold));
  found.push(...differ("the disputed amount", ours.disputed, expected.disputed));
  found.push(...differ("the status", ours.status, expected.status));
  return found;
}

function movementDifferences(ours: OurPayment, own: TheirIntent): string[] {
  return [
    ...listDifferences("refund", ours.refunds.filter(reached), own.refunds),
    ...listDifferences("dispute", ours.disputes, own.disputes),
    ...secondRefunds(ours, own),
  ];
}

function statementDifferences(ours: OurPayment, own: TheirIntent, statement: Statement): string[] {
  const found: string[] = [];
  if (own.captured_amount > 0) {
    found.push(...differ("the captured amount of the statement", ours.captured, statement.get(own.id)?.amount));
  }
  for (const refund of ours.refunds.filter(reached)) {
    const entry = statement.get(refund.ref);
    const [mine, their] = [`${refund.amount} ${refund.status}`, `${entry?.amount} ${entry?.status}`];
    found.push(...differ(`refund ${refund.id} in the statement`, mine, their));
  }
  return found;
}

/** The API's answer, compared with the processor's objects. */
export function answerDifferences(
  ours: OurPayment,
  own: TheirIntent | undefined,
  answer: { at(path: string): unknown; readonly status: number },
): string[] {
  if (answer.status !== 200) return ours.visible ? [`reading it answers ${answer.status}`] : [];
  const must = expectedAnswer(ours, own);
  return must ? fieldDifferences("answered", must, (field) => answer.at(field)) : [];
}

/** Expected values of every read of a payment; undefined: the payment's intent is another one. */
export function expectedAnswer(ours: OurPayment, own: TheirIntent | undefined) {
  if (!own || own.isLost || isOther(ours, own) || hasExcess(own)) return undefined;
  const expected = expectedMoney({ captured: own.captured_amount, refunds: own.refunds, disputes: own.disputes });
  return {
    amount: own.amount,
    captured_amount: own.captured_amount,
    currency: ours.currency,
    fee_amount: ours.fee,
    refunded_amount: expected.refunded,
    net_amount: netOf(own.captured_amount, ours.fee, expected),
    // While nothing is captured the status is the outcome, which was compared.
    status: own.captured_amount > 0 ? expected.status : ours.outcome,
  };
}

export function fieldDifferences(where: string, must: object, actual: (field: string) => unknown): string[] {
  return Object.entries(must).flatMap(([field, value]) =>
    actual(field) === value ? [] : [`${field} is ${where} as ${actual(field)}, it must be ${value}`],
  );
}

/**
 * More than one captured intent of a reference: all but ours are second charges, and unexpected funds with what is left
 * of them.
 */
function strangeCharges(ours: OurPayment, own: TheirIntent | undefined, intents: readonly TheirIntent[]): string[] {
  const strangers = intents.filter((intent) => intent !== own && intent.captured_amount > 0);
  const found = strangers.flatMap((intent) => inSuspense(ours, intent, "second_charge"));
  const known = new Set(intents.map(({ id }) => id));
  for (const { kind, ref } of ours.suspense.filter(({ kind }) => kind !== "second_refund" && kind !== "lost_intent")) {
    if (!known.has(ref)) found.push(`${kind} ${ref} is in suspense, and the processor has none for this payment`);
  }
  return [...found, ...intents.flatMap((intent) => refundedAndKept(ours, intent))];
}

/** Money that an operator accepted or closed is not refunded as well. */
function refundedAndKept({ suspense }: OurPayment, { refunds }: TheirIntent): string[] {
  return suspense.flatMap(({ id, resolution }) => {
    const back = refunds.filter(({ reference, status }) => reference?.startsWith(id) && status !== "failed");
    return resolution === "taken" && back.length > 0 ? [`${id} was accepted, and ${back[0]?.id} refunds it`] : [];
  });
}

function inSuspense(ours: OurPayment, intent: TheirIntent, kind: string): string[] {
  const item = ours.suspense.find((one) => one.ref === intent.id && one.kind === kind);
  if (!item) return [`${intent.captured_amount} were captured by ${intent.id}, and no ${kind} is in suspense`];
  const { refunded } = expectedMoney({ captured: intent.captured_amount, refunds: intent.refunds, disputes: [] });
  const lost = intent.disputes.filter(({ status }) => status === "lost").reduce((sum, { amount }) => sum + amount, 0);
  const found = differ(`the amount of ${kind} ${intent.id}`, item.amount, intent.captured_amount);
  if (item.resolution !== "closed") {
    found.push(...differ(`returned of ${kind} ${intent.id}`, item.returned, refunded + lost));
  }
  return found;
}

function otherAmountDifferences(ours: OurPayment, own: TheirIntent): string[] {
  if (own.captured_amount === 0)
    return ours.captured === 0 ? [] : [`${ours.captured} captured, the processor has nothing`];
  return [...inSuspense(ours, own, "other_amount"), ...differ("the captured amount", ours.captured, 0)];
}

/** The payment has what was asked, and the rest is unexpected funds. */
function excessDifferences(ours: OurPayment, own: TheirIntent): string[] {
  const row = ours.suspense.find(({ kind, ref }) => kind === "excess_capture" && ref === own.id);
  if (!row) return [`${own.captured_amount} were captured by ${own.id}, and no excess is listed`];
  // A webhook that overtook the payment's last refunds shows them as part of the excess; the next check returns them.
  const back = own.refunds.filter(({ reference, status }) => reference?.startsWith(row.id) && status === "succeeded");
  const excess = own.captured_amount - own.amount - back.reduce((sum, { amount }) => sum + amount, 0);
  return [
    ...differ("the captured amount", ours.captured, own.amount),
    ...differ(`the excess of ${own.id}`, row.amount - row.returned, excess),
  ];
}

/** A payment that a buyer or merchant still waits for must stand in the operators' list when its intent is lost. */
function lostDifferences(ours: OurPayment): string[] {
  const waits =
    ["requires_action", "processing"].includes(ours.outcome) || (ours.outcome === "pending" && ours.visible);
  const isListed = ours.suspense.some(({ kind }: OurSuspense) => kind === "lost_intent");
  return waits && !isListed ? [`the processor lost the intent, the payment is ${ours.outcome} and in no list`] : [];
}

/**
 * Several standing refunds under one reference of ours: one of them was asked for, the others are in suspense or were
 * taken.
 */
function secondRefunds(ours: OurPayment, own: TheirIntent): string[] {
  const known = new Map(ours.refunds.map((refund) => [refund.ref, refund]));
  const listed = new Set(ours.suspense.filter(({ kind }) => kind === "second_refund").map(({ ref }) => ref));
  const byReference = new Map<string, string[]>();
  for (const { id, reference, status } of own.refunds) {
    if (!reference || status === "failed" || status === "canceled") continue;
    byReference.set(reference, [...(byReference.get(reference) ?? []), id]);
  }
  return [...byReference].flatMap(([reference, refs]) => {
    const requested = refs.filter((ref) => known.get(ref)?.unasked === false && !listed.has(ref));
    return refs.length > 1 && requested.length > 1
      ? [`${refs.length} refunds stand under ${reference}, and ${requested.length} of them as asked for`]
      : [];
  });
}

/** A refund without the processor's id never came to be there, and must have given its amount back. */
function reached(refund: { ref: string; status: string }): boolean {
  return refund.ref !== "" || refund.status === "pending" || refund.status === "succeeded";
}

type Movement = { readonly id: string; readonly amount: number; readonly status: string };

function listDifferences(
  what: string,
  mine: readonly (Movement & { readonly ref: string })[],
  theirs: readonly Movement[],
): string[] {
  const describe = (list: readonly Movement[]) => list.map((one) => `${one.id} ${one.amount} ${one.status}`).sort();
  const [ours, their] = [describe(mine.map((one) => ({ ...one, id: one.ref }))), describe(theirs)];
  const only = (list: readonly string[], other: readonly string[]) => list.filter((one) => !other.includes(one));
  return [
    ...only(ours, their).map((one) => `${what} ${one} is only with us`),
    ...only(their, ours).map((one) => `${what} ${one} is only at the processor`),
  ];
}

function differ(what: string, mine: unknown, theirs: unknown): string[] {
  return mine === theirs ? [] : [`${what} is ${mine} with us and ${theirs} at the processor`];
}
