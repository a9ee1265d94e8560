// Converts payments, refunds, disputes and journal entries to messages of the internal API.
import { create } from "@bufbuild/protobuf";
import { messageFields } from "#platform/database/columns.ts";
import {
  type DisputeFile,
  DisputeFileSchema,
  type DisputeRecord as DisputeRecordMessage,
  DisputeRecordSchema,
} from "#proto/payments/v1/disputes_pb.ts";
import { type JournalEntry, JournalEntrySchema } from "#proto/payments/v1/journal_pb.ts";
import {
  type AccountStatus,
  AccountStatusSchema,
  type ListedPayment,
  ListedPaymentSchema,
  type Payment,
  type PaymentFailure,
  PaymentSchema,
  type PaymentState,
  PaymentStateSchema,
  type Refund,
  RefundSchema,
  SessionOutcome,
} from "#proto/payments/v1/payments_pb.ts";
import { type Report, ReportSchema } from "#proto/payments/v1/reports_pb.ts";
import type { AccountReport } from "./connectors/connector.ts";
import type { DisputeItem } from "./lists/disputes.ts";
import { type FailureNames, failureCodeOf, failureCodes } from "./rules/failure-code.ts";
import { isReleased, isReturned, type Outcome, type PaymentMethod } from "./rules/payment.ts";
import type { StoredFile } from "./store/disputes/dispute-files.ts";
import type { JournalRow } from "./store/journal.ts";
import type { AttemptRecord, DisputeRecord, PaymentItem, PaymentRecord } from "./store/payment-records.ts";
import type { StoredPayment } from "./store/payments.ts";
import type { StoredRefund } from "./store/refunds/refunds.ts";
import type { StoredReport } from "./store/reports.ts";

/** Outcome of the checkout session by the outcome of its payment's intent. */
const sessionOutcomes: { readonly [O in Outcome]: SessionOutcome } = {
  pending: SessionOutcome.OPEN,
  requires_action: SessionOutcome.OPEN,
  processing: SessionOutcome.PROCESSING,
  succeeded: SessionOutcome.PAID,
  // A declined attempt leaves the session open for another try (docs/contract.md §4).
  failed: SessionOutcome.OPEN,
  canceled: SessionOutcome.CANCELED,
};

/** @param failure of the last attempt, if the caller needs the reason */
export function toPaymentState(payment: StoredPayment, failure?: PaymentFailure): PaymentState {
  return create(PaymentStateSchema, {
    paymentId: payment.id,
    status: payment.status,
    // The session stays completed after a returned debit or an authorization that was never captured.
    outcome: wasPaid(payment.state) ? SessionOutcome.PAID : sessionOutcomes[payment.state.outcome],
    receiptUrl: payment.state.receiptUrl,
    capturedAmount: payment.state.capturedAmount,
    failedAttempts: payment.state.failedAttempts,
    cardFingerprint: payment.state.card?.fingerprint ?? "",
    version: BigInt(payment.version),
    ...(failure && { failure }),
  });
}

function wasPaid(state: StoredPayment["state"]): boolean {
  return isReturned(state) || isReleased(state);
}

export function toListedPayment(item: PaymentItem): ListedPayment {
  return create(ListedPaymentSchema, {
    ...messageFields(item),
    method: toMethod(item),
  });
}

/** @param names the processor's failure codes */
export function toPayment(record: PaymentRecord, names: FailureNames): Payment {
  return create(PaymentSchema, {
    ...messageFields(record),
    metadata: { ...record.metadata },
    method: toMethod(record),
    refunds: record.refunds.map(toRefund),
    dispute: record.dispute && toDispute(record.dispute),
    attempts: record.attempts.map((attempt) => ({
      ...toAttempt(attempt, names),
      connectorId: attempt.connectorAccountId || record.connectorAccountId,
    })),
    routing: record.routingReason && { rule: record.routingRule ?? 0, reason: record.routingReason },
    failure: record.failed && toFailure(record.failed, names),
    version: BigInt(record.version),
  });
}

function toAttempt(attempt: AttemptRecord, names: FailureNames) {
  const { ref: id, outcome, failureCode: reportedCode } = attempt;
  const failureCode = outcome === "failed" ? failureCodeOf(names, reportedCode) : "";
  const card = attempt.cardLast4 === "" ? undefined : {};
  return {
    ...{ ...messageFields(attempt), id, failureCode },
    method: toMethod({ method: attempt.method, card }),
  };
}

/** Cards of an earlier release have no method. */
function toMethod({ method, card }: { readonly method: PaymentMethod | undefined; readonly card: object | undefined }) {
  const { type, bank, wallet = "" } = method ?? { type: card ? "card" : "" };
  return type === "" ? undefined : { type, wallet, bankCountry: bank?.country ?? "", bankLast4: bank?.last4 ?? "" };
}

function toFailure({ failureCode: reportedCode, failureMessage }: AttemptRecord, names: FailureNames) {
  const code = failureCodeOf(names, reportedCode);
  const { advice, meaning } = failureCodes[code];
  return { code, message: failureMessage || meaning, advice };
}

export function toRefund(refund: StoredRefund): Refund {
  return create(RefundSchema, messageFields(refund));
}

export function toJournalEntry(entry: JournalRow): JournalEntry {
  return create(JournalEntrySchema, messageFields(entry));
}

export function toReport(stored: StoredReport): Report {
  const { rangeFrom: from, rangeTo: to, columns, ...report } = messageFields(stored);
  return create(ReportSchema, { ...report, columns: [...columns], from, to });
}

/** @param account undefined: the processor rejects the credentials */
export function toAccountStatus(account: AccountReport | undefined): AccountStatus {
  return create(AccountStatusSchema, account ? { ...account, credentialsTaken: true } : {});
}

export function toDisputeRecord(item: DisputeItem): DisputeRecordMessage {
  const { paymentId, currency, acceptance, evidence, version } = item;
  const { texts, files } = evidence;
  return create(DisputeRecordSchema, {
    dispute: toDispute(item),
    paymentId,
    currency,
    acceptance,
    version,
    evidence: { ...messageFields(evidence), texts: { ...texts }, files: { ...files } },
  });
}

export function toDisputeFile(file: StoredFile): DisputeFile {
  const { size, sha256 } = file;
  if (size === undefined || !sha256) throw new Error("the file is incomplete");
  return create(DisputeFileSchema, { ...messageFields(file), size, sha256 });
}

function toDispute(dispute: DisputeRecord) {
  return { ...messageFields(dispute), connectorDisputeId: dispute.connectorRef };
}
