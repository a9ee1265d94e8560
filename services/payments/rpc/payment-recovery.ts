// payments.v1.PaymentRecoveryService, in proto order. It rebuilds payments that a restored database lacks.
import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { Recovery } from "#platform/service/recovery.ts";
import { announcedSince } from "#platform/service/recovery-store.ts";
import { invalidField } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { type PaymentRecoveryService, RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { hasStatement, matchStatement } from "../flows/match-statement.ts";
import { type LostPayment, type RebuildDeps, rebuildPayment, unknownOrder } from "../flows/recovery/rebuild-payment.ts";
import { type RebuildRefundDeps, type RebuiltRefund, rebuildRefund } from "../flows/recovery/rebuild-refund.ts";
import { endedPayment, restoreEndingKey } from "../flows/recovery/sealed-key.ts";
import { checkStretch } from "../jobs/check-journal.ts";
import { fromPeriod } from "./statements.ts";

// Each payment costs one or two processor calls, so a page stays well within the deadline.
const pageMax = 10;

interface PaymentRecoveryDeps extends RebuildRefundDeps {
  readonly recovery: Recovery;
}

export function paymentRecoveryRpc(deps: PaymentRecoveryDeps): ServiceImpl<typeof PaymentRecoveryService> {
  return {
    rebuildPayment: async ({ paymentId: id, amount, currency, expiresAt, captureMethod: method, ...request }) => {
      const money = amount > 0n ? { amount, currency } : undefined;
      const captureMethod = knownMethods.find((known) => known === method);
      const lost = { ...request, id, money, captureMethod, expiresAt: expiresAt && timestampDate(expiresAt) };
      return { rebuilt: { paymentId: id, ...(await rebuildPayment(deps, lost)) } };
    },
    rebuildAnnounced: async ({ after }) => {
      const events = await announcedSince(deps.db, after, pageMax);
      const announced = events.map(({ body }) => fromBinary(EventSchema, body));
      const lost = new Map(announced.flatMap((event) => fromLostEvent(event) ?? []).map((each) => [each.id, each]));
      const payments = await Promise.all([...lost.values()].map((each) => rebuiltOrFailed(deps, each)));
      const refunds: RebuiltRefund[] = [];
      // Sequential, because several refunds may belong to one payment.
      for (const event of announced) {
        refunds.push(...(await rebuiltRefunds(deps, event)));
        await restoreEndingKey(deps, event);
      }
      const next = BigInt(events.length === pageMax ? (events.at(-1)?.streamSeq ?? 0) : 0);
      return { payments, refunds, next };
    },
    rebuildFromStatement: async ({ connectorAccountId, from, to }) => {
      const period = fromPeriod(from, to);
      if (!deps.recovery.isOn)
        throw invalidField("connector_account_id", "can be rebuilt only while payments recovers");
      const account = await deps.accounts.byId(connectorAccountId);
      if (!hasStatement(deps.connectors.get(account.connector))) return { hasStatement: false };
      const payments: RebuildReply[] = [];
      const { merchantId, environment } = account;
      const { lines, differences } = await matchStatement(deps, account, period, async (id) => {
        payments.push(await rebuiltOrFailed(deps, { ...unknownOrder, id, merchantId, environment, sessionId: "" }));
      });
      return { hasStatement: true, lines, differences, payments };
    },
    checkBooks: async ({ after }) => {
      const { count, found, next } = await checkStretch(deps.db, after);
      const differences = found.map((each) => ({ ...each, differences: [...each.differences] }));
      return { checked: count, differences, next };
    },
  };
}

const knownMethods = ["automatic", "manual"] as const;

type RebuildReply = Awaited<ReturnType<typeof rebuiltOrFailed>>;

async function rebuiltOrFailed(deps: RebuildDeps, lost: LostPayment) {
  const paymentId = lost.id;
  try {
    return { paymentId, ...(await rebuildPayment(deps, lost)) };
  } catch (error) {
    deps.log.warn({ err: error, payment_id: paymentId }, "payment rebuild failed");
    return { paymentId, outcome: RebuildOutcome.FAILED, status: "" };
  }
}

async function rebuiltRefunds(deps: RebuildRefundDeps, event: Event): Promise<RebuiltRefund[]> {
  const { type, objectId, attributes } = event;
  const { payment_id: paymentId = "" } = attributes;
  if (type !== "refund.requested" || !isId("refund", objectId) || !isId("payment", paymentId)) return [];
  return [await rebuildRefund(deps, objectId, paymentId, event)];
}

/** The payment of an event; undefined: it concerns no payment. */
function fromLostEvent(event: Event): LostPayment | undefined {
  const { type, objectId: id, merchantId, environment, attributes } = event;
  const ended = endedPayment(event);
  if (ended) return { ...unknownOrder, id: ended, merchantId, environment, sessionId: "" };
  if (!type.startsWith("payment.") || !isId("payment", id)) return undefined;
  const { session_id: sessionId = "" } = attributes;
  return { ...unknownOrder, id, merchantId, environment, sessionId };
}
