// The door of the payments service: every method of the services of payments.v1, in their order.
import { create } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { clockNow } from "#platform/clock.ts";
import { Failure } from "#platform/failure.ts";
import type { IdempotencyScope } from "#platform/idempotency.ts";
import { announcedDigests } from "#platform/outbox.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import {
  CancelIntentResponseSchema,
  type ConnectorAccountService,
  CreateIntentResponseSchema,
  CreatePaymentResponseSchema,
  GetBalancesResponseSchema,
  GetPaymentResponseSchema,
  type Idempotency,
  ListPaymentsResponseSchema,
  ListRefundsResponseSchema,
  type PaymentsService,
  ReceiveProcessorEventResponseSchema,
  VerifyIntentResponseSchema,
} from "#proto/payments/v1/payments_pb.ts";
import { cancelIntent } from "./flows/cancel-intent.ts";
import { confirmIntent } from "./flows/confirm-intent.ts";
import {
  addAccount,
  type ConnectorAccountDeps,
  checkAccount,
  deactivateAccount,
  rotateCredentials,
} from "./flows/connector-accounts.ts";
import { type CreateIntentDeps, createIntent } from "./flows/create-intent.ts";
import { createPayment } from "./flows/create-payment.ts";
import { type ReadDeps, readPayment } from "./flows/read-payment.ts";
import { findProcessorAccounts, receiveProcessorEvent } from "./flows/receive-processor-event.ts";
import { type RefundDeps, refundPayment } from "./flows/refund-payment.ts";
import type { VerifyDeps } from "./flows/verify-intent.ts";
import { balances } from "./store/journal.ts";
import { listPayments } from "./store/payment-lists.ts";
import { findRecord } from "./store/payment-records.ts";
import { listRefundRecords, listRefundsOfPayment } from "./store/refund-lists.ts";
import { itemMessage, recordMessage, refundMessage, stateMessage, statusMessage } from "./wire.ts";

export type PaymentsDeps = CreateIntentDeps & VerifyDeps & RefundDeps & ReadDeps;

export function paymentsRpc(deps: PaymentsDeps): ServiceImpl<typeof PaymentsService> {
  const { db } = deps;
  return {
    createIntent: async (request) => {
      const made = await createIntent(deps, {
        ...request,
        id: request.paymentId,
        expiresAt: request.expiresAt ? timestampDate(request.expiresAt) : clockNow(),
      });
      return create(CreateIntentResponseSchema, made);
    },
    verifyIntent: async ({ paymentId }) =>
      create(VerifyIntentResponseSchema, { payment: stateMessage(await confirmIntent(deps, paymentId, "confirm")) }),
    cancelIntent: async ({ paymentId }) =>
      create(CancelIntentResponseSchema, { payment: stateMessage(await cancelIntent(deps, paymentId)) }),
    createPayment: async (request) => {
      const record = await createPayment(deps, { ...request, id: request.paymentId });
      return create(CreatePaymentResponseSchema, { payment: recordMessage(record) });
    },
    getPayment: async (request) => {
      const record = await readPayment(deps, request, request.paymentId);
      return create(GetPaymentResponseSchema, { payment: recordMessage(record) });
    },
    listPayments: async (request) => {
      const filters = {
        status: request.status,
        from: request.from && timestampDate(request.from),
        to: request.to && timestampDate(request.to),
        q: request.q,
        minAmount: request.minAmount,
        maxAmount: request.maxAmount,
      };
      const { items, total } = await listPayments(db, request, filters, request);
      return create(ListPaymentsResponseSchema, { payments: items.map(itemMessage), total });
    },
    refundPayment: (request) =>
      refundPayment(deps, { ...request, amount: request.amount, idempotency: scopeOf(request, request.idempotency) }),
    listRefunds: async (request) => {
      const { paymentId } = request;
      if (paymentId && !(await findRecord(db, request, paymentId))) throw new Failure("NOT_FOUND");
      const { refunds, total } = paymentId
        ? await listRefundsOfPayment(db, request, paymentId, request)
        : await listRefundRecords(db, request, request);
      return create(ListRefundsResponseSchema, { refunds: refunds.map(refundMessage), total });
    },
    findProcessorAccount: async (request) => {
      await findProcessorAccounts(deps, request);
      return {};
    },
    receiveProcessorEvent: async (request) =>
      create(ReceiveProcessorEventResponseSchema, await receiveProcessorEvent(deps, request)),
    confirmAnnouncements: async ({ claims }) => ({ announcedDigests: await announcedDigests(db, claims) }),
    getBalances: async (request) => create(GetBalancesResponseSchema, { balances: await balances(db, request) }),
  };
}

export function connectorAccountsRpc(deps: ConnectorAccountDeps): ServiceImpl<typeof ConnectorAccountService> {
  return {
    addConnectorAccount: async (request) => {
      const { connector, account, webhookPath } = await addAccount(deps, request);
      return { ...(connector && { connector }), account: statusMessage(account), webhookPath };
    },
    checkConnectorAccount: async (request) => ({ account: statusMessage(await checkAccount(deps, request)) }),
    rotateConnectorCredentials: async (request) => {
      const { connector, account } = await rotateCredentials(deps, request);
      return { ...(connector && { connector }), account: statusMessage(account) };
    },
    deactivateConnectorAccount: async (request) => {
      const connector = await deactivateAccount(deps, request);
      return { ...(connector && { connector }) };
    },
  };
}

function scopeOf(
  owner: { merchantId: string; environment: Environment },
  idempotency: Idempotency | undefined,
): IdempotencyScope | undefined {
  if (!idempotency) return undefined;
  const { merchantId, environment } = owner;
  const operation = "refund_payment";
  return { merchantId, environment, operation, key: idempotency.key, fingerprint: idempotency.fingerprint };
}
