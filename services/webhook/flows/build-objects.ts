// Completes deliveries that show the object itself. Phases, each safe to rerun: 1 claim a batch · 2 read the objects
// from payments and checkout · 3 freeze the bodies and queue them, in one statement. A read follows the event's commit,
// so that the state is never older than the event; one that fails is repeated and delays no other delivery.
import type { Client } from "@connectrpc/connect";
import type { Database } from "#platform/database/database.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { Failure } from "#platform/values/failure.ts";
import { idTimeMs } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import type { CheckoutService } from "#proto/checkout/v1/checkout_pb.ts";
import type { BalanceService } from "#proto/payments/v1/balance_pb.ts";
import type { DisputeService } from "#proto/payments/v1/disputes_pb.ts";
import type { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import type { ReportService } from "#proto/payments/v1/reports_pb.ts";
import { presentPayout } from "../../public-json/balance.ts";
import { presentSession } from "../../public-json/checkout-session.ts";
import { presentDisputeOwn } from "../../public-json/dispute.ts";
import { presentPayment } from "../../public-json/payment.ts";
import { presentMessage } from "../../public-json/present.ts";
import { RefundItem } from "../../public-json/refund.ts";
import { presentReport } from "../../public-json/report.ts";
import { type AwaitedObject, claimAwaited, claimMax, queueObjects } from "../store/awaited-objects.ts";
import type { LaneKey } from "../store/delivery-queue.ts";

export interface BuildDeps {
  readonly db: Database;
  readonly log: Log;
  readonly payments: Client<typeof PaymentsService>;
  readonly disputes: Client<typeof DisputeService>;
  readonly balance: Client<typeof BalanceService>;
  readonly reports: Client<typeof ReportService>;
  readonly sessions: Client<typeof CheckoutService>;
  readonly wakeLane: (lane: LaneKey) => void;
}

// docs/contract.md §9. A process holds thousands of bodies at once.
const bodyBytesMax = 65_536;
// An object that its service has lost comes back when the operators have recovered its database. Then we stop waiting.
const patienceSeconds = 3_600;
const timeoutMs = 5_000;

/** An object in its state at a version of its payment or session. */
interface ShownObject {
  readonly sequence: number;
  readonly data: object;
}

/** @returns true if there may be more */
export async function buildObjects(deps: BuildDeps): Promise<boolean> {
  const awaited = await claimAwaited(deps.db);
  if (awaited.length === 0) return false;
  const { objects, isAnswered, problem } = await readObjects(deps, awaited);
  const built = awaited.flatMap((one) => {
    const body = bodyOf(one, objects.get(keyOf(one, objectIdOf(one))), isAnswered);
    return body === undefined ? [] : [{ ...one, body }];
  });
  const left = awaited.length - built.length;
  if (left > 0) deps.log.warn({ err: problem, deliveries: left }, "objects not read: retrying");
  for (const lane of await queueObjects(deps.db, built)) deps.wakeLane(lane);
  return awaited.length === claimMax && left === 0;
}

/** @param isAnswered no read failed @returns undefined: the object is to be read again */
function bodyOf(
  { eventId: id, eventType: type, version, ageSeconds }: AwaitedObject,
  found: ShownObject | undefined,
  isAnswered: boolean,
): Buffer | undefined {
  const shown = found && found.sequence >= version ? found : undefined;
  if (!shown && !(isAnswered && ageSeconds > patienceSeconds)) return undefined;
  const created_at = new Date(idTimeMs(id)).toISOString();
  const { sequence, data } = shown ?? { sequence: version, data: null };
  const body = Buffer.from(JSON.stringify({ type, id, created_at, sequence, data }));
  return body.length <= bodyBytesMax
    ? body
    : Buffer.from(JSON.stringify({ type, id, created_at, sequence, data: null }));
}

/** Names an object of one merchant and environment: another one's object is not found under it. */
function keyOf(owner: { readonly merchantId: string; readonly environment: number }, id: string): string {
  return `${owner.merchantId}/${owner.environment}/${id}`;
}

function objectIdOf({ reference }: AwaitedObject): string {
  const ids = membersOf(JSON.parse(reference.toString()));
  return String(ids.refund_id ?? ids.dispute_id ?? ids.session_id ?? ids.payout_id ?? ids.report_id ?? ids.payment_id);
}

/** @returns the objects that were read, whether every read was answered, and why others may be missing */
async function readObjects(
  deps: BuildDeps,
  awaited: readonly AwaitedObject[],
): Promise<{ objects: ReadonlyMap<string, ShownObject>; isAnswered: boolean; problem: unknown }> {
  const objects = new Map<string, ShownObject>();
  let problem: unknown;
  const add: AddObject = (owner, id, version, present) => {
    try {
      objects.set(keyOf(owner, id), { sequence: Number(version), data: present() });
    } catch (error) {
      problem = error;
    }
  };
  const reads = [
    readPayments(deps, awaited, add),
    readSessions(deps, awaited, add),
    ...awaited.map((one) => readDispute(deps, one, add)),
    ...awaited.map((one) => readPayout(deps, one, add)),
    ...awaited.map((one) => readReport(deps, one, add)),
  ];
  const failed = (await Promise.allSettled(reads)).filter((read) => read.status === "rejected");
  return { objects, isAnswered: failed.length === 0, problem: problem ?? failed[0]?.reason };
}

type AddObject = (
  owner: Parameters<typeof keyOf>[0],
  id: string,
  version: bigint | number,
  present: () => object,
) => void;

/** A payment is read with its refunds, in one state. */
async function readPayments({ payments }: BuildDeps, awaited: readonly AwaitedObject[], add: AddObject) {
  const ids = new Set(awaited.map(objectIdOf));
  const wanted = awaited.filter((one) => /^(?:pay|re)_/.test(objectIdOf(one)));
  const paymentIds = [...new Set(wanted.flatMap(({ paymentId }) => paymentId ?? []))];
  if (paymentIds.length === 0) return;
  const answer = await payments.batchGetPayments({ paymentIds }, { timeoutMs });
  for (const payment of answer.payments) {
    add(payment, payment.id, payment.version, () => presentPayment(payment));
    for (const refund of payment.refunds.filter(({ id }) => ids.has(id))) {
      add(payment, refund.id, payment.version, () => presentMessage(RefundItem, refund));
    }
  }
}

async function readSessions({ sessions }: BuildDeps, awaited: readonly AwaitedObject[], add: AddObject) {
  const sessionIds = [...new Set(awaited.map(objectIdOf))].filter((id) => id.startsWith("cs_"));
  if (sessionIds.length === 0) return;
  const answer = await sessions.batchGetSessions({ sessionIds }, { timeoutMs });
  for (const session of answer.sessions) add(session, session.id, session.version, () => presentSession(session));
}

async function readDispute({ disputes }: BuildDeps, one: AwaitedObject, add: AddObject) {
  const { merchantId, environment } = one;
  const disputeId = objectIdOf(one);
  if (!disputeId.startsWith("dp_")) return;
  const request = { merchantId, environment, disputeId };
  const { dispute } = await unlessUnknown(disputes.getDispute(request, { timeoutMs }));
  if (dispute) add(one, disputeId, dispute.version, () => presentDisputeOwn(dispute));
}

async function readPayout({ balance }: BuildDeps, one: AwaitedObject, add: AddObject) {
  const { merchantId, environment } = one;
  const id = objectIdOf(one);
  if (!id.startsWith("po_")) return;
  const { payout } = await unlessUnknown(balance.getPayout({ merchantId, environment, id }, { timeoutMs }));
  if (payout) add(one, id, payout.version, () => presentPayout(payout));
}

async function readReport({ reports }: BuildDeps, one: AwaitedObject, add: AddObject) {
  const { merchantId, environment } = one;
  const id = objectIdOf(one);
  if (!id.startsWith("rpt_")) return;
  const { report } = await unlessUnknown(reports.getReport({ merchantId, environment, id }, { timeoutMs }));
  if (report) add(one, id, report.version, () => presentReport(report));
}

/** An object that its service does not know is absent. */
async function unlessUnknown<T extends object>(answer: Promise<T>): Promise<Partial<T>> {
  return await answer.catch((error: unknown) => {
    if (error instanceof Failure && error.reason === "NOT_FOUND") return {};
    throw error;
  });
}
