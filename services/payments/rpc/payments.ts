// payments.v1.PaymentsService, in proto order.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import { scopeOf } from "#platform/database/idempotency.ts";
import { announcedDigests } from "#platform/events/outbox.ts";
import { findCursor } from "#platform/lists/cursor.ts";
import { readPage } from "#platform/lists/dated-list.ts";
import { timeRange } from "#platform/lists/day-range.ts";
import type { Recovery } from "#platform/service/recovery.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import type { ListPaymentsRequest, ListRefundsRequest, PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import type { Archive } from "../../archive/archive.ts";
import { previewRouting } from "../flows/accounts/choose-account.ts";
import type { ConnectorAccountDeps } from "../flows/accounts/connector-accounts.ts";
import { chooseMethods, listMethods } from "../flows/accounts/payment-methods.ts";
import { addNote } from "../flows/add-note.ts";
import { cancelIntent } from "../flows/cancel-intent.ts";
import { confirmIntent } from "../flows/confirm-intent.ts";
import { type CreateIntentDeps, createIntent } from "../flows/create-intent.ts";
import { createPayment } from "../flows/create-payment.ts";
import { cancelPayment } from "../flows/endings/cancel-payment.ts";
import { capturePayment } from "../flows/endings/capture-payment.ts";
import { type ReadDeps, readPayment } from "../flows/read-payment.ts";
import { findProcessorAccounts, receiveProcessorEvent } from "../flows/receive-processor-event.ts";
import { type RefundDeps, refundPayment } from "../flows/refunds/refund-payment.ts";
import { renewIntent } from "../flows/renewals/renew-intent.ts";
import { findArchivedRefund, requireRecord } from "../flows/restore-archived.ts";
import type { VerifyDeps } from "../flows/verify-intent.ts";
import { readOverview } from "../lists/overview.ts";
import { listPayments, type PaymentFilters } from "../lists/payments.ts";
import { findBuyers, findRefundRecord, listChosenRefunds, listRefundRecords } from "../lists/refunds.ts";
import { listUpdatedPayments } from "../lists/updated-payments.ts";
import { toJournalEntry, toListedPayment, toPayment, toPaymentState, toRefund } from "../messages.ts";
import type { CaptureMethod } from "../rules/payment.ts";
import { readArchivedEntries, readBalances, readEntries } from "../store/journal.ts";
import { listNotes } from "../store/payment-notes.ts";
import { findRecord, findRecordsById, type PaymentRecord } from "../store/payment-records.ts";
import { recordCustomerEmail } from "../store/payments.ts";

type PaymentsDeps = CreateIntentDeps &
  ConnectorAccountDeps &
  VerifyDeps &
  RefundDeps &
  ReadDeps & {
    /** Blocks new requests to processors, where a lost operation may have been executed already. */
    readonly recovery: Pick<Recovery, "assertOff">;
    readonly archive: Archive;
  };

export function paymentsRpc(deps: PaymentsDeps): ServiceImpl<typeof PaymentsService> {
  const { db, recovery, connectors } = deps;
  const payment = (record: PaymentRecord) => toPayment(record, connectors.find(record.connector)?.failureNames ?? {});
  return {
    createIntent: async (request) => {
      recovery.assertOff();
      return await createIntent(deps, {
        ...request,
        captureMethod: captureMethodOf(request),
        id: request.paymentId,
        expiresAt: request.expiresAt ? timestampDate(request.expiresAt) : clockNow(),
      });
    },
    ...routingMethods(deps),
    verifyIntent: async ({ paymentId, redirectResult }) => {
      const after = await confirmIntent(deps, paymentId, "confirm", redirectResult);
      // The failure reason is in another table, which is read only after a decline.
      const record = after.state.outcome === "failed" ? await findRecord(db, after, paymentId) : undefined;
      return { payment: toPaymentState(after, record && payment(record).failure) };
    },
    ...buyerMethods(deps),
    renewIntent: async (request) => {
      recovery.assertOff();
      const { payment: after, render } = await renewIntent(deps, request);
      return { payment: toPaymentState(after), ...(render && { render }) };
    },
    ...accountMethods(deps),
    createPayment: async (request) => {
      recovery.assertOff();
      const captureMethod = captureMethodOf(request);
      const record = await createPayment(deps, { ...request, id: request.paymentId, captureMethod });
      return { payment: payment(record) };
    },
    getPayment: async (request) => {
      const record = await readPayment(deps, request, request.paymentId);
      return { payment: payment(record) };
    },
    batchGetPayments: async ({ paymentIds }) => {
      const records = await findRecordsById(db, paymentIds);
      const payments = records.flatMap((record) => (record ? [payment(record)] : []));
      return { payments, missingIds: paymentIds.filter((_, i) => !records[i]) };
    },
    listPayments: async (request) => {
      const filters = filtersOf(request);
      const { rows, total, hasMore } = await readPage(
        request,
        (id) => findCursor(db, "payments", request, id),
        (window) => listPayments(db, request, filters, { ...window, isUncounted: request.withoutTotal }),
      );
      return { payments: rows.map(toListedPayment), total, hasMore, ...(await archivedBefore(deps)) };
    },
    listUpdatedPayments: async (request) => {
      const { updatedFrom, updatedTo, pageSize: limit, pageToken } = request;
      const timeOf = (bound: typeof updatedFrom) => (bound ? timestampDate(bound) : new Date(0));
      const window = { from: timeOf(updatedFrom), to: timeOf(updatedTo), limit, pageToken };
      const { rows, nextPageToken } = await listUpdatedPayments(db, request, window);
      return { payments: rows.map(toListedPayment), nextPageToken };
    },
    refundPayment: (request) => {
      recovery.assertOff();
      const idempotency = scopeOf("refund_payment", request);
      return refundPayment(deps, { ...request, amount: request.amount, idempotency });
    },
    ...endingMethods(deps),
    getRefund: async (request) => {
      const refund = await findRefundRecord(db, request, request.refundId);
      if (refund) return { refund: toRefund(refund) };
      const archived = requireFound(await findArchivedRefund(deps, request, request.refundId));
      return { refund: { ...toRefund(archived), archived: true } };
    },
    listRefunds: (request) => listRefunds(deps, request),
    ...noteMethods(deps),
    findProcessorAccount: async (request) => {
      await findProcessorAccounts(deps, request);
      return {};
    },
    receiveProcessorEvent: async (request) => await receiveProcessorEvent(deps, request),
    confirmAnnouncements: async ({ claims }) => {
      const digests = await announcedDigests(db, claims);
      // During a recovery an unknown event may have been announced; its consumers ask again.
      if (digests.length < claims.length) recovery.assertOff();
      return { announcedDigests: digests };
    },
    ...bookMethods(deps),
  };
}

function routingMethods(deps: PaymentsDeps): Pick<ServiceImpl<typeof PaymentsService>, "previewRouting"> {
  return {
    previewRouting: async (request) => {
      const previews = await previewRouting(deps, { ...request, captureMethod: captureMethodOf(request) });
      return {
        previews: previews.map(({ routing, ...each }) => ({
          ...each,
          routing: { ...routing, rule: routing.rule ?? 0 },
        })),
      };
    },
  };
}

function accountMethods(
  deps: ConnectorAccountDeps,
): Pick<ServiceImpl<typeof PaymentsService>, "listPaymentMethods" | "choosePaymentMethods"> {
  return {
    listPaymentMethods: async (request) => {
      const { methods, chosen } = await listMethods(deps, request);
      const listed = methods.map((terms) => ({ ...terms, currencies: [...terms.currencies] }));
      return { methods: listed, chosen: [...chosen] };
    },
    choosePaymentMethods: async (request) => {
      const connector = await chooseMethods(deps, request);
      return { ...(connector && { connector }) };
    },
  };
}

async function listRefunds(deps: PaymentsDeps, request: ListRefundsRequest) {
  const { db } = deps;
  const { paymentId, orderReference, customerEmail, needsAction, status, from, to } = request;
  const record = paymentId === "" ? undefined : await requireRecord(deps, request, paymentId);
  if (record?.archived) return archivedRefunds(record);
  const filters = { status, range: timeRange(from && timestampDate(from), to && timestampDate(to)) };
  const isChosen = paymentId !== "" || orderReference !== "" || customerEmail !== "" || needsAction;
  const { rows, total, hasMore } = await readPage(
    request,
    (id) => findCursor(db, "refunds", request, id),
    (window) =>
      isChosen
        ? listChosenRefunds(db, request, request, filters, window)
        : listRefundRecords(db, request, filters, window),
  );
  const buyers = await findBuyers(db, rows);
  const refunds = rows.map((row) => ({ ...toRefund(row), ...buyers.get(row.paymentId) }));
  return { refunds, total, hasMore, ...(await archivedBefore(deps)) };
}

/** All, since a page of an archived payment's refunds has no position in the database. */
function archivedRefunds({ refunds }: PaymentRecord) {
  return { refunds: refunds.map(toRefund).reverse(), total: BigInt(refunds.length), hasMore: false };
}

async function archivedBefore({ archive }: PaymentsDeps) {
  return messageFields({ archivedBefore: await archive.archivedBefore() });
}

function noteMethods(
  deps: PaymentsDeps,
): Pick<ServiceImpl<typeof PaymentsService>, "addPaymentNote" | "listPaymentNotes"> {
  return {
    addPaymentNote: async (request) => {
      await addNote(deps, request, request.paymentId, request.note);
      return {};
    },
    listPaymentNotes: async (request) => {
      return { notes: (await listNotes(deps.db, request, request.paymentId)).map(messageFields) };
    },
  };
}

function buyerMethods({ db }: PaymentsDeps): Pick<ServiceImpl<typeof PaymentsService>, "noteCustomerEmail"> {
  return {
    noteCustomerEmail: async ({ paymentId, customerEmail, turn }) => {
      if (!(await recordCustomerEmail(db, paymentId, customerEmail, turn))) throw new Failure("NOT_FOUND");
      return {};
    },
  };
}

function bookMethods(
  deps: PaymentsDeps,
): Pick<ServiceImpl<typeof PaymentsService>, "getBalances" | "listPaymentEntries" | "getOverview"> {
  const { db } = deps;
  return {
    getBalances: async (request) => ({ balances: await readBalances(db, request) }),
    listPaymentEntries: async (request) => {
      const { archived } = await requireRecord(deps, request, request.paymentId);
      const document = archived && (await deps.archive.find(request.paymentId));
      const entries = document
        ? await readArchivedEntries(db, document)
        : await readEntries(db, request, request.paymentId);
      return { entries: entries.map(toJournalEntry) };
    },
    getOverview: async (request) => await readOverview(db, request, request.days),
  };
}

function endingMethods(
  deps: PaymentsDeps,
): Pick<ServiceImpl<typeof PaymentsService>, "cancelIntent" | "capturePayment" | "cancelPayment"> {
  return {
    cancelIntent: async ({ paymentId, merchantAsked: byMerchant }) => {
      const after = await cancelIntent(deps, paymentId, byMerchant);
      return { payment: toPaymentState(after) };
    },
    capturePayment: (request) => {
      deps.recovery.assertOff();
      const idempotency = scopeOf("capture_payment", request);
      return capturePayment(deps, { ...request, amount: request.amount, idempotency });
    },
    cancelPayment: (request) => {
      deps.recovery.assertOff();
      const idempotency = scopeOf("cancel_payment", request);
      return cancelPayment(deps, { ...request, idempotency });
    },
  };
}

/** The previous release sends an empty text. */
function captureMethodOf({ captureMethod }: { captureMethod: string }): CaptureMethod {
  return captureMethod === "manual" ? "manual" : "automatic";
}

function filtersOf(request: ListPaymentsRequest): PaymentFilters {
  const { status, orderReference, q, minAmount, maxAmount, currency, connector } = request;
  return {
    ...{ status, orderReference, q, minAmount, maxAmount, currency, connector },
    from: request.from && timestampDate(request.from),
    to: request.to && timestampDate(request.to),
    capturedFrom: request.capturedFrom && timestampDate(request.capturedFrom),
    capturedTo: request.capturedTo && timestampDate(request.capturedTo),
  };
}
