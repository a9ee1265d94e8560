// The final comparison of a run: processor = payments = journal = sessions = lists = delivered events = answers that
// clients got. Waits, within a limit, until no work is pending, and returns each remaining difference.
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { connectPeer } from "#platform/rpc/client.ts";
import { StatementService } from "#proto/payments/v1/statement_pb.ts";
import { checkBooks } from "../../deploy/cli/health/journal.ts";
import { databaseUrlOf } from "../../deploy/local/databases.ts";
import { eventually } from "../harness/eventually.ts";
import { answeredDifferences } from "./answer-checks.ts";
import { balanceDifferences } from "./balance-checks.ts";
import { disputeDifferences } from "./dispute-answers.ts";
import type { MoneyRig } from "./money-rig.ts";
import {
  type AnnouncementCounts,
  announcementsByPayment,
  deliveriesByPayment,
  type OurPayment,
  ourPayments,
  pendingWork,
  schedulesOf,
  unsignedDeliveries,
} from "./money-truth.ts";
import { differencesWithProcessor } from "./payment-checks.ts";
import { type ProcessorTruth, processorTruth } from "./processor-truth.ts";
import { differencesWithClient, differencesWithSession, eventDifferences } from "./promise-checks.ts";
import type { Seen } from "./seen.ts";

export interface CheckLimits {
  /** How long the services get to bring everything in doubt to its end, milliseconds. */
  readonly limitMs: number;
}

/** Longer than any run that is compared with a statement, and at most a day. */
const matchedMs = 12 * 3_600_000;

/** @returns one line per difference; empty when all the books agree. */
export async function finalDifferences(rig: MoneyRig, seen: Seen, { limitMs }: CheckLimits): Promise<string[]> {
  // Held webhooks stay held: the books must agree without them.
  (await rig.processor.delete("/test/faults?keep=held")).expect(204);
  let found: string[] = [];
  try {
    await eventually(
      "the books to agree",
      async () => {
        found = await pendingWork(rig);
        if (found.length === 0) found = await allDifferences(rig, seen);
        if (found.length === 0) found = await answeredDifferences(rig);
        if (found.length === 0) found = await disputeDifferences(rig, seen);
        if (found.length === 0) found = await alarms(rig);
        if (found.length === 0) found = await balanceDifferences(rig);
        return found.length === 0;
      },
      { limitMs, everyMs: 500 },
    );
    return seen.offences;
  } catch (error) {
    if (found.length === 0) return [String(error), ...seen.offences];
    // Reported in addition to other differences.
    const answered = await answeredDifferences(rig).catch((cause) => [`the answers could not be compared: ${cause}`]);
    return [...new Set([...found, ...answered]), ...seen.offences];
  }
}

/** Findings that faults of the processor leave for an operator. */
const faultFindings: ReadonlySet<string> = new Set(["intent_mismatch", "other_capture"]);

/** `journal check` and the statement match report nothing when the books are right. */
async function alarms(rig: MoneyRig): Promise<string[]> {
  const { stack } = rig.running;
  const found: string[] = [];
  const env = { DATABASE_URL: databaseUrlOf(stack.database, "payments") };
  await checkBooks(env, ({ about, differences }) => found.push(...differences.map((one) => `${about}: audit: ${one}`)));
  const lost = [...(await processorTruth(rig)).intents.values()].flat().filter(({ isLost }) => isLost);
  const isLost = (paymentId: string) => lost.some(({ reference }) => reference === paymentId);
  const peer = connectPeer({ url: stack.rpc.payments, token: stack.rpc_token });
  try {
    const statements = peer.client(StatementService);
    const now = Date.now();
    const period = { from: timestampFromMs(now - matchedMs), to: timestampFromMs(now) };
    const accounts = (await rig.merchant.get("/v1/merchants/me/connectors")).expect(200).list("data") as {
      id: string;
    }[];
    for (const { id: connectorAccountId } of accounts) {
      await statements.matchStatement({ connectorAccountId, ...period });
      const { differences } = await statements.listStatementDifferences({ connectorAccountId, limit: 200 });
      for (const { paymentId, object, ref, kind, ours, theirs } of differences) {
        if (!isLost(paymentId) && !faultFindings.has(kind))
          found.push(`${paymentId}: statement: ${kind} of ${object} ${ref}: ${ours}, ${theirs}`);
      }
    }
  } finally {
    peer.close();
  }
  return found;
}

async function allDifferences(rig: MoneyRig, seen: Seen): Promise<string[]> {
  const found: string[] = unsignedDeliveries(rig);
  const [ours, theirs, announcements] = [
    await ourPayments(rig),
    await processorTruth(rig),
    await announcementsByPayment(rig),
  ];
  const schedules = await schedulesOf(rig);
  const deliveries = deliveriesByPayment(rig);
  if (ours.size > seen.creations) {
    found.push(`${seen.creations} sessions and payments were asked for, ${ours.size} payments were made`);
  }
  for (const payment of ours.values()) {
    const intents = theirs.intents.get(payment.id) ?? [];
    const own = intents.find(({ id }) => id === payment.ref) ?? intents[0];
    const client = seen.payments.get(payment.id);
    const differences = [
      ...differencesWithProcessor(payment, { intents, statement: theirs.statement, schedules }),
      ...differencesWithSession(payment),
      ...(client ? differencesWithClient(payment, client) : []),
      ...eventDifferences(
        payment,
        own,
        announcements.get(payment.id) ?? noAnnouncements,
        deliveries.get(payment.id) ?? none,
      ),
    ];
    found.push(...differences.map((one) => `${payment.id}${client ? ` (${client.story})` : ""}: ${one}`));
  }
  for (const id of seen.payments.keys()) if (!ours.has(id)) found.push(`${id}: a client has it, we do not`);
  for (const id of deliveries.keys()) if (!ours.has(id)) found.push(`${id}: a webhook names it, we do not have it`);
  return [...found, ...foreignObjects(ours, theirs), ...repeatedOperations(theirs)];
}

const none: ReadonlyMap<string, number> = new Map();
const noAnnouncements: AnnouncementCounts = { byStatus: none, byObject: none };

/** Objects of the processor that we do not know. */
export function foreignObjects(ours: ReadonlyMap<string, OurPayment>, theirs: ProcessorTruth): string[] {
  const unknown = new Set(theirs.statement.keys());
  const found: string[] = [];
  for (const [reference, intents] of theirs.intents) {
    if (!ours.has(reference)) found.push(`${reference}: an intent at the processor, no payment of ours`);
    for (const intent of intents) {
      for (const { id } of [intent, ...intent.refunds, ...intent.disputes]) unknown.delete(id);
    }
  }
  return [...found, ...[...unknown].map((id) => `${id}: in the processor's statement, not in our books`)];
}

/** Each operation took effect once at the processor, and each key belongs to one operation. */
export function repeatedOperations({ operations }: ProcessorTruth): string[] {
  const found: string[] = [];
  const byKey = new Map<string, number>();
  for (const [reference, made] of operations) {
    for (const { idempotency_key: key } of made) if (key !== "") byKey.set(key, (byKey.get(key) ?? 0) + 1);
    for (const kind of ["intents.create", "refunds.create", "intents.capture", "disputes.evidence"]) {
      const count = made.filter((one) => one.kind === kind).length;
      // A refund of unexpected funds that failed is made again; what is refunded in all was compared with their row.
      if (count > 1 && !reference.startsWith("su_"))
        found.push(`${reference}: ${kind} was done ${count} times at the processor`);
    }
  }
  for (const [key, count] of byKey) if (count > 1) found.push(`idempotency key ${key}: ${count} operations`);
  return found;
}
