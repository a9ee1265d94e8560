// Checks after a restore and its recovery: our books equal the processor's, the merchant got every event at least once,
// and repeated requests create nothing. Returns each remaining difference.
import { setTimeout as pause } from "node:timers/promises";
import { checkBooks } from "../../deploy/cli/health/journal.ts";
import { eventually } from "../harness/eventually.ts";
import type { ReceivedRequest } from "../harness/receiver.ts";
import { answeredDifferences } from "./answer-checks.ts";
import { foreignObjects, repeatedOperations } from "./money-checks.ts";
import {
  deliveriesByPayment,
  type OurPayment,
  ourPayments,
  pendingWork,
  schedulesOf,
  unsignedDeliveries,
} from "./money-truth.ts";
import { differencesWithProcessor } from "./payment-checks.ts";
import { type ProcessorTruth, processorTruth } from "./processor-truth.ts";
import { differencesWithSession } from "./promise-checks.ts";
import type { RestoreRig } from "./restore-rig.ts";
import type { Order, RepeatableRequest } from "./restore-traffic.ts";

const limitMs = 90_000;
const pauseMs = 20;

export interface ExpectedOutcome {
  readonly orders: readonly Order[];
  /** Payments that cannot be recovered: without an event, and without money that moved. */
  readonly isKnownLost: (paymentId: string) => boolean;
  /** Its session is in no database and no event. */
  readonly isWithoutSession: (paymentId: string) => boolean;
  /** The merchant refused the delivery. */
  readonly wasRefused: (request: ReceivedRequest) => boolean;
}

/** Waits until nothing is on its way, within a limit. */
export async function restoredDifferences(rig: RestoreRig, expected: ExpectedOutcome): Promise<string[]> {
  // The rig's own endpoint; the drill makes others, which have other secrets.
  const isCounted = (request: ReceivedRequest) => request.path === "/hook" && !expected.wasRefused(request);
  let found: string[] = [];
  const agree = async () => {
    found = await pendingWork(rig);
    const { receiver } = rig;
    const counted = { ...rig, receiver: { ...receiver, received: receiver.received.filter(isCounted) } };
    if (found.length === 0) found = await allDifferences(counted, expected);
    return found.length === 0;
  };
  await eventually("the books to agree", agree, { limitMs, everyMs: 1_000 }).catch(() => {});
  return found;
}

async function allDifferences(
  rig: RestoreRig,
  { orders, isKnownLost, isWithoutSession }: ExpectedOutcome,
): Promise<string[]> {
  const found = unsignedDeliveries(rig);
  const payments = rig.databaseOf("payments");
  await checkBooks({ DATABASE_URL: payments }, ({ about, differences }) =>
    found.push(`${about}: ${differences.join("; ")}`),
  );
  const [ours, all, schedules] = [await ourPayments(rig), await processorTruth(rig), await schedulesOf(rig)];
  const theirs = withoutLost(all, (reference) => isKnownLost(reference) && !ours.has(reference));
  for (const payment of ours.values()) {
    const intents = theirs.intents.get(payment.id) ?? [];
    const { statement } = theirs;
    const differences = [
      ...differencesWithProcessor(payment, { intents, statement, schedules }),
      ...(payment.sessionStatus === "" && isWithoutSession(payment.id) ? [] : differencesWithSession(payment)),
    ];
    found.push(...differences.map((one) => `${payment.id}: ${one}`));
  }
  found.push(...foreignObjects(ours, theirs), ...repeatedOperations(theirs));
  found.push(...missingDeliveries(rig, orders, ours), ...(await answeredDifferences(rig)));
  return found;
}

function withoutLost(truth: ProcessorTruth, isKnownLost: (paymentId: string) => boolean): ProcessorTruth {
  const intents = new Map([...truth.intents].filter(([reference]) => !isKnownLost(reference)));
  return { ...truth, intents };
}

/** Merchants receive each payment and each refund at least once. */
function missingDeliveries(rig: RestoreRig, orders: readonly Order[], ours: ReadonlyMap<string, OurPayment>): string[] {
  const deliveries = deliveriesByPayment(rig);
  const wasDelivered = (paymentId: string, type: string) =>
    [...(deliveries.get(paymentId)?.keys() ?? [])].some((event) => event.startsWith(`${type} `));
  return orders.flatMap(({ paymentId, isPaid, refunds }) => {
    if (!isPaid) return [];
    const payment = ours.get(paymentId);
    if (payment?.outcome !== "succeeded")
      return [`${paymentId}: a buyer paid it, we have ${payment?.outcome ?? "nothing"}`];
    const missing = ["payment.succeeded", ...(refunds.length > 0 ? ["payment.refunded"] : [])];
    return missing
      .filter((type) => !wasDelivered(paymentId, type))
      .map((type) => `${paymentId}: ${type} was never delivered`);
  });
}

export interface Repeats {
  /**
   * After the recovery: sends each request again. @returns requests without an answer, those with another object than
   * before, and new objects
   */
  end(): Promise<string[]>;
}

/** The merchant repeats its requests with their keys, newest first, over and over, whatever goes on meanwhile. */
export async function startRepeats(rig: RestoreRig, requests: readonly RepeatableRequest[]): Promise<Repeats> {
  const wrong: string[] = [];
  const before = await madeAtProcessor(rig);
  const repeat = async ({ path, body, key, at, id }: RepeatableRequest) => {
    const answer = await rig.merchant.post(path, body, { "idempotency-key": key });
    const isOther = answer.status === 201 && id !== "" && answer.at(at) !== id;
    if (isOther) wrong.push(`${key} made ${id}, and is answered ${answer}`);
    return answer;
  };
  let isOpen = true;
  const loop = async () => {
    while (isOpen) {
      for (const each of requests.toReversed()) {
        if (isOpen) await repeat(each).catch(() => {});
        await pause(pauseMs);
      }
    }
  };
  const looping = Promise.all([loop(), loop(), loop()]);
  return {
    async end() {
      isOpen = false;
      await looping;
      for (const each of requests) {
        const answer = await repeat(each);
        if (answer.status !== 201) wrong.push(`${each.key} made ${each.id}, and is answered ${answer}`);
      }
      const after = await madeAtProcessor(rig);
      if (after !== before) wrong.push(`${before} intents and refunds at the processor, ${after} after the repeats`);
      return wrong;
    },
  };
}

async function madeAtProcessor({ books }: RestoreRig): Promise<number> {
  const [row] = await books.simulator.rows<{ n: number }>(
    "select (select count(*) from intents)::int + (select count(*) from refunds)::int as n",
  );
  return row?.n ?? -1;
}
