// Compares one payment of ours with what the processor, its clients and its announcements say. Pure: books in, differences out.
import type { OurPayment } from "./money-truth.ts";
import type { TheirIntent } from "./processor-truth.ts";
import type { SeenPayment } from "./seen.ts";

type Statement = ReadonlyMap<string, { readonly amount: number; readonly status: string }>;

/** What an intent's status at the processor may be called with us. */
const outcomes: Readonly<Record<string, readonly string[]>> = {
  requires_payment_method: ["pending", "failed"],
  requires_action: ["requires_action"],
  processing: ["processing"],
  succeeded: ["succeeded"],
  canceled: ["canceled"],
};

/** Status, amounts, refunds and disputes, in the intent and in the statement. */
export function differencesWithProcessor(
  ours: OurPayment,
  intents: readonly TheirIntent[],
  statement: Statement,
): string[] {
  const [intent] = intents;
  if (!intent) return ours.captured > 0 || ours.ref !== "" ? ["the processor has no intent"] : [];
  const found: string[] = [];
  const expect = (what: string, mine: unknown, theirs: unknown) => {
    if (mine !== theirs) found.push(`${what} is ${mine} with us and ${theirs} at the processor`);
  };
  if (ours.ref !== "") expect("the intent", ours.ref, intent.id);
  const possible = outcomes[intent.status] ?? [];
  // An intent that no client ever heard of is nobody's: it is canceled after its time.
  if (!possible.includes(ours.outcome)) expect("the outcome", ours.outcome, intent.status);
  expect("the amount", ours.amount, intent.amount);
  expect("the captured amount", ours.captured, intent.captured_amount);
  expect("the number of declined attempts", ours.declined, intent.attempts.filter((a) => a.status === "failed").length);
  const feeOfAmount = Math.floor((ours.captured * 290 + 5_000) / 10_000) + 30;
  expect("the fee by the default schedule", ours.fee, ours.captured > 0 ? feeOfAmount : 0);
  found.push(...listDifferences("refund", ours.refunds.filter(reached), intent.refunds));
  found.push(...listDifferences("dispute", ours.disputes, intent.disputes));
  if (intent.captured_amount > 0) {
    expect("the captured amount of the statement", ours.captured, statement.get(intent.id)?.amount);
  }
  for (const refund of ours.refunds.filter(reached)) {
    const said = statement.get(refund.ref);
    expect(
      `refund ${refund.id} in the statement`,
      `${refund.amount} ${refund.status}`,
      `${said?.amount} ${said?.status}`,
    );
  }
  return found;
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
  const say = (list: readonly Movement[]) => list.map((one) => `${one.id} ${one.amount} ${one.status}`).sort();
  const [ours, their] = [say(mine.map((one) => ({ ...one, id: one.ref }))), say(theirs)];
  const only = (list: readonly string[], other: readonly string[]) => list.filter((one) => !other.includes(one));
  return [
    ...only(ours, their).map((one) => `${what} ${one} is only with us`),
    ...only(their, ours).map((one) => `${what} ${one} is only at the processor`),
  ];
}

/** What clients were told holds: completed sessions are paid, refunds that were answered exist, one key made one refund. */
export function differencesWithClient(ours: OurPayment, seen: SeenPayment): string[] {
  const found: string[] = [];
  if ((seen.toldPaid || seen.knownPaid) && ours.outcome !== "succeeded")
    found.push(`a buyer was told paid, the outcome is ${ours.outcome}`);
  if (seen.toldExpired && ours.sessionStatus !== "expired")
    found.push(`a merchant was told expired, the session is ${ours.sessionStatus}`);
  if (seen.amount !== ours.amount || seen.currency !== ours.currency)
    found.push(`${seen.amount} ${seen.currency} were asked for, the payment has ${ours.amount} ${ours.currency}`);
  if (ours.session !== "" && (ours.outcome === "succeeded") !== (ours.sessionStatus === "completed")) {
    found.push(`the outcome is ${ours.outcome}, the session ${ours.sessionStatus}`);
  }
  if (ours.session !== "" && ours.outcome === "canceled" && !["expired", "canceled"].includes(ours.sessionStatus)) {
    found.push(`the payment is canceled, the session ${ours.sessionStatus}`);
  }
  const amounts = new Map(ours.refunds.map((refund) => [refund.ref, refund.amount]));
  for (const { key, answers } of seen.refunds) {
    const [first] = answers;
    if (key && answers.some((answer) => answer.raw !== first?.raw)) found.push(`refund key ${key} has two answers`);
    for (const answer of answers) {
      const ref = answer.at("connector_ref");
      if (typeof ref !== "string" || ref === "") continue;
      const [told, booked] = [answer.at("refunded"), amounts.get(ref)];
      if (told !== booked) found.push(`a client was told of refund ${ref} of ${told}, we have ${booked ?? "none"}`);
    }
  }
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

/** SPEC.md §6: succeeded once per path, failed once per declined attempt, refunded per refund, disputed once per dispute. */
export function eventDifferences(
  ours: OurPayment,
  intent: TheirIntent | undefined,
  told: ReadonlyMap<string, number>,
  heard: ReadonlyMap<string, number>,
): string[] {
  const found: string[] = [];
  for (const event of new Set([...told.keys(), ...heard.keys()])) {
    const [announced, came] = [told.get(event) ?? 0, heard.get(event) ?? 0];
    if (announced !== came) found.push(`${event}: announced ${announced} times, delivered ${came} times`);
  }
  if (ours.outcome === "succeeded" && !heard.has("payment.succeeded succeeded"))
    found.push("no webhook told the merchant that it is paid");
  const count = (type: string) => [...told].reduce((sum, [key, n]) => (key.startsWith(`${type} `) ? sum + n : sum), 0);
  const paths = Number(ours.byConfirm) + Number(ours.byProcessor);
  if (count("payment.succeeded") !== paths) {
    found.push(`payment.succeeded was announced ${count("payment.succeeded")} times by ${paths} paths`);
  }
  if (ours.outcome === "succeeded" && !ours.byProcessor) found.push("the processor's webhook announced nothing");
  const declined = count("payment.failed");
  // Attempts that are heard of after the payment has ended announce nothing.
  const least = ours.outcome === "failed" ? ours.declined : 0;
  if (declined > ours.declined || declined < least) {
    found.push(`payment.failed was announced ${declined} times for ${ours.declined} declined attempts`);
  }
  const refunds = ours.refunds.filter((refund) => refund.ref !== "");
  const standing = refunds.filter((refund) => refund.status === "pending" || refund.status === "succeeded").length;
  const refunded = count("payment.refunded");
  if (refunded < standing || refunded > 2 * refunds.length) {
    found.push(`payment.refunded was announced ${refunded} times for ${refunds.length} refunds, ${standing} standing`);
  }
  const disputes = (intent?.disputes ?? []).filter((dispute) => !dispute.status.startsWith("warning_")).length;
  if (count("payment.disputed") !== disputes) {
    found.push(`payment.disputed was announced ${count("payment.disputed")} times for ${disputes} disputes`);
  }
  return found;
}
