// The final comparison of a run: processor = our payments = journal = sessions = events delivered = what clients were told. Waits
// until nothing is on its way any more, within a limit, and answers every difference that is left.
import { checkJournal } from "../../services/payments/jobs/check-journal.ts";
import { eventually } from "../harness/eventually.ts";
import type { MoneyRig } from "./money-rig.ts";
import {
  announced,
  delivered,
  type OurPayment,
  ourPayments,
  type TheirIntent,
  theirIntents,
  theirOperations,
  theirStatement,
  underWay,
} from "./money-truth.ts";
import { differencesWithClient, differencesWithProcessor, eventDifferences } from "./payment-checks.ts";
import type { Seen } from "./seen.ts";

export interface CheckLimits {
  /** How long the services get to bring everything in doubt to its end, milliseconds. */
  readonly limitMs: number;
}

const inFlightMax = 8;

/** @returns one line per difference; empty when all the books agree. */
export async function finalDifferences(rig: MoneyRig, seen: Seen, { limitMs }: CheckLimits): Promise<string[]> {
  (await rig.processor.delete("/test/faults")).expect(204);
  let found: string[] = [];
  try {
    await eventually(
      "the books to agree",
      async () => {
        found = await underWay(rig);
        if (found.length === 0) found = await allDifferences(rig, seen);
        return found.length === 0;
      },
      { limitMs, everyMs: 500 },
    );
    return seen.offences;
  } catch (error) {
    return found.length > 0 ? [...found, ...seen.offences] : [String(error), ...seen.offences];
  }
}

async function allDifferences(rig: MoneyRig, seen: Seen): Promise<string[]> {
  const found: string[] = [];
  await checkJournal(rig.books.payments, (one) =>
    found.push(`${one.paymentId}: journal: ${one.differences.join("; ")}`),
  );
  const ours = await ourPayments(rig);
  if (ours.size > seen.creations)
    found.push(`${seen.creations} sessions were asked for, ${ours.size} payments were made`);
  const [events, heard] = [await announced(rig), delivered(rig)];
  const keys = new Set([...events.keys(), ...heard.keys()]);
  for (const key of keys) {
    const [told, came] = [events.get(key) ?? 0, heard.get(key) ?? 0];
    if (told !== came) found.push(`${key}: announced ${told} times, delivered ${came} times`);
  }
  const statement = await theirStatement(rig.processor);
  const told = toldByPayment(events);
  const waiting = [...ours.values()].values();
  const worker = async () => {
    for (const payment of waiting) {
      const intents = await theirIntents(rig.processor, payment.id);
      const about = (differences: string[]) => {
        const story = seen.payments.get(payment.id)?.story;
        found.push(...differences.map((one) => `${payment.id}${story ? ` (${story})` : ""}: ${one}`));
      };
      about(differencesWithProcessor(payment, intents, statement));
      about(await operationDifferences(rig, payment, intents));
      const client = seen.payments.get(payment.id);
      if (client) about(differencesWithClient(payment, client));
      about(eventDifferences(payment, intents[0], told.get(payment.id) ?? new Map()));
      statementPart(statement, intents);
    }
  };
  await Promise.all(Array.from({ length: inFlightMax }, worker));
  for (const id of seen.payments.keys()) if (!ours.has(id)) found.push(`${id}: a client has it, we do not`);
  for (const id of statement.keys()) found.push(`${id}: in the processor's statement, not in our books`);
  return found;
}

/** Takes the rows that belong to known intents out of the statement; what stays nobody of us knows. */
function statementPart(statement: Map<string, unknown>, intents: readonly TheirIntent[]): void {
  for (const intent of intents) {
    for (const { id } of [intent, ...intent.refunds, ...intent.disputes]) statement.delete(id);
  }
}

/** However often something was tried, the processor did it once. */
async function operationDifferences(
  { processor }: MoneyRig,
  payment: OurPayment,
  intents: readonly TheirIntent[],
): Promise<string[]> {
  const found: string[] = [];
  const creations = (await theirOperations(processor, payment.id)).filter((one) => one.kind.includes("create"));
  if (creations.length > 1 || intents.length > 1) {
    found.push(`${creations.length} creations and ${intents.length} intents at the processor`);
  }
  for (const refund of payment.refunds) {
    const made = await theirOperations(processor, refund.id);
    if (made.length > 1) found.push(`refund ${refund.id} was made ${made.length} times at the processor`);
  }
  return found;
}

/** Announcements of each payment by `type status`. */
function toldByPayment(events: ReadonlyMap<string, number>): Map<string, Map<string, number>> {
  const told = new Map<string, Map<string, number>>();
  for (const [key, count] of events) {
    const [type = "", id = "", status = ""] = key.split(" ");
    const own = told.get(id) ?? new Map<string, number>();
    own.set(`${type} ${status}`, count);
    told.set(id, own);
  }
  return told;
}
