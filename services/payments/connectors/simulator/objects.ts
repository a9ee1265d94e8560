// Validates the simulator's JSON objects and converts them to reports.
import Type, { type Static, type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import type { Attempt, Card, IntentFact, PaymentMethod, Verification } from "../../rules/payment.ts";
import type {
  DisputeReport,
  EventPage,
  IntentReport,
  ProcessorEvent,
  RefundReport,
  StatementPage,
} from "../connector.ts";

export const Text = Type.String();
export const MaybeText = Type.Union([Type.String(), Type.Null()]);
export const oneOf = <const T extends readonly string[]>(...values: T) =>
  Type.Unsafe<T[number]>({ type: "string", enum: values });
const Amount = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const CardShape = Type.Object({
  brand: Text,
  last4: Text,
  funding: Text,
  fingerprint: Text,
  exp_month: Type.Integer(),
  exp_year: Type.Integer(),
});
const VerificationShape = Type.Object({
  avs_line1: Text,
  avs_zip: Text,
  cvc_check: Text,
  three_ds_result: MaybeText,
  three_ds_version: MaybeText,
  risk_level: Text,
  risk_score: Type.Integer(),
});
const MethodShape = Type.Object({
  type: Text,
  bank: Type.Union([Type.Object({ country: Text, last4: Text }), Type.Null()]),
});
const AttemptShape = Type.Object({
  id: Text,
  status: oneOf("succeeded", "failed", "processing", "requires_action"),
  failure_code: MaybeText,
  failure_message: MaybeText,
  authorization_code: MaybeText,
  created_at: Text,
  settled_at: MaybeText,
  card: Type.Union([CardShape, Type.Null()]),
  verification: Type.Union([VerificationShape, Type.Null()]),
  // Absent in objects of an earlier simulator, which had only cards.
  payment_method: Type.Optional(MethodShape),
});
const RefundShape = Type.Object({
  id: Text,
  amount: Amount,
  status: oneOf("pending", "succeeded", "failed", "canceled"),
  reason: MaybeText,
  reference: MaybeText,
  failure_code: MaybeText,
  failure_message: MaybeText,
  created_at: Text,
});
const DisputeShape = Type.Object({
  id: Text,
  amount: Amount,
  status: oneOf(
    "warning_needs_response",
    "warning_under_review",
    "warning_closed",
    "needs_response",
    "under_review",
    "won",
    "lost",
  ),
  reason: Text,
  opened_at: Text,
  evidence_due_at: MaybeText,
  evidence_reference: Type.Optional(MaybeText),
});
const IntentShape = Type.Object({
  id: Text,
  amount: Amount,
  currency: Text,
  reference: Text,
  status: Text,
  client_secret: Text,
  captured_amount: Amount,
  // Absent in objects of an earlier simulator, which captured immediately.
  capture_method: Type.Optional(oneOf("automatic", "manual")),
  capture_before: Type.Optional(MaybeText),
  captured_at: Type.Optional(MaybeText),
  // Absent in events of an earlier release.
  page_expires_at: Type.Optional(MaybeText),
  renewal: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  canceled_at: MaybeText,
  cancellation_reason: Type.Optional(MaybeText),
  receipt_url: MaybeText,
  attempts: Type.Array(AttemptShape),
  refunds: Type.Array(RefundShape),
  disputes: Type.Array(DisputeShape),
});

export function shapeOf<T extends TSchema>(schema: T): { parse(value: unknown): Static<T> } {
  const validator = Compile(schema);
  return {
    parse: (value) => {
      if (validator.Check(value)) return value;
      const [first] = validator.Errors(value);
      throw new Error(`unexpected answer of the processor at ${first?.instancePath || "/"}: ${first?.message ?? ""}`);
    },
  };
}

export const SimulatorIntent = shapeOf(IntentShape);
export const SimulatorRefund = shapeOf(RefundShape);
export const SimulatorDispute = shapeOf(DisputeShape);
export const SimulatorFile = shapeOf(Type.Object({ id: Text }));
export const SimulatorList = shapeOf(Type.Object({ data: Type.Array(Type.Unknown()) }));

const EventShape = Type.Object({
  id: Text,
  type: Text,
  account: Text,
  created_at: Text,
  data: Type.Object({ intent: IntentShape }),
});
const SimulatorEvent = shapeOf(EventShape);
const EventPageShape = shapeOf(Type.Object({ data: Type.Array(Type.Unknown()), next: MaybeText }));

const StatementShape = shapeOf(
  Type.Object({
    data: Type.Array(
      Type.Object({
        type: oneOf("intent", "refund", "dispute"),
        id: Text,
        intent: Text,
        amount: Amount,
        currency: Text,
        status: Text,
      }),
    ),
    next: MaybeText,
  }),
);

export function readStatementPage(body: unknown): StatementPage {
  const { data, next } = StatementShape.parse(body);
  const lines = data.map(({ type, id, intent, amount, currency, status }) => ({
    object: type === "intent" ? ("payment" as const) : type,
    ref: id,
    intentRef: intent,
    amount: BigInt(amount),
    currency,
    // An intent's status also reflects refunds, so only its captured amount is compared.
    status: type === "intent" ? "" : status,
  }));
  return { lines, next: next ?? "" };
}

/** An event contains the whole intent. @throws Error: unreadable, or of another account. */
export function parseEvent(body: unknown, externalAccountId: string): ProcessorEvent {
  const event = SimulatorEvent.parse(body);
  if (event.account !== externalAccountId) throw new Error("another account's event");
  const { id, type } = event;
  return { id, createdAt: dateIn(event.created_at), type, report: readIntent(event.data.intent), intentRef: "" };
}

/** @throws as parseEvent: a page without one of its events would look complete. */
export function readEventPage(body: unknown, externalAccountId: string): EventPage {
  const { data, next } = EventPageShape.parse(body);
  return { events: data.map((event) => parseEvent(event, externalAccountId)), next: next ?? "" };
}

export function dateIn(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw new Error("unexpected answer of the processor: no time");
  return date;
}

export function readIntent(intent: Static<typeof IntentShape>): IntentReport {
  const facts: IntentFact[] = intent.attempts.map((attempt) => factOf(attempt, intent));
  if (intent.canceled_at !== null) {
    const isExpired = intent.cancellation_reason === "expired";
    facts.push({ kind: "intent_canceled", at: new Date(intent.canceled_at), ...(isExpired && { isExpired }) });
  }
  return {
    ref: intent.id,
    reference: intent.reference,
    amount: BigInt(intent.amount),
    currency: intent.currency,
    ...(intent.capture_method && { captureMethod: intent.capture_method }),
    ...(intent.renewal && { renewal: intent.renewal }),
    facts,
    ...(intent.status === "expired" && { pageEndedAt: dateIn(intent.page_expires_at ?? "") }),
    refunds: intent.refunds.map(readRefund),
    disputes: intent.disputes.map(readDispute),
  };
}

export function readDispute(dispute: Static<typeof DisputeShape>): DisputeReport {
  return {
    ref: dispute.id,
    amount: BigInt(dispute.amount),
    status: dispute.status,
    reason: dispute.reason,
    openedAt: new Date(dispute.opened_at),
    evidenceDueAt: dispute.evidence_due_at ? new Date(dispute.evidence_due_at) : undefined,
    ...(dispute.evidence_reference && { evidenceReference: dispute.evidence_reference }),
  };
}

export function readRefund(refund: Static<typeof RefundShape>): RefundReport {
  return {
    ref: refund.id,
    reference: refund.reference ?? "",
    amount: BigInt(refund.amount),
    status: refund.status,
    reason: refund.reason ?? "",
    failureCode: refund.failure_code ?? "",
    failureMessage: refund.failure_message ?? "",
    createdAt: new Date(refund.created_at),
  };
}

function factOf(reported: Static<typeof AttemptShape>, intent: Static<typeof IntentShape>): IntentFact {
  const attempt: Attempt = {
    ref: reported.id,
    startedAt: new Date(reported.created_at),
    method: methodOf(reported.payment_method),
    card: reported.card ? cardOf(reported.card) : undefined,
    verification: reported.verification ? verificationOf(reported.verification) : undefined,
  };
  const at = new Date(reported.settled_at ?? reported.created_at);
  switch (reported.status) {
    case "requires_action":
      return { kind: "action_required", attempt };
    case "processing":
      return { kind: "processing_started", attempt };
    case "failed":
      return {
        kind: "attempt_failed",
        attempt,
        code: reported.failure_code ?? "",
        message: reported.failure_message ?? "",
        at,
      };
    case "succeeded":
      return {
        kind: "attempt_succeeded",
        attempt,
        capturedAmount: BigInt(intent.captured_amount),
        authorizedAt: at,
        capturedAt: intent.captured_amount > 0 ? new Date(intent.captured_at ?? at) : undefined,
        ...(intent.capture_before && { captureBefore: new Date(intent.capture_before) }),
        authorizationCode: reported.authorization_code ?? "",
        receiptUrl: intent.receipt_url ?? "",
      };
  }
}

function methodOf(method: Static<typeof MethodShape> | undefined): PaymentMethod {
  return { type: method?.type ?? "card", ...(method?.bank && { bank: method.bank }) };
}

function cardOf(card: Static<typeof CardShape>): Card {
  const { brand, last4, funding, fingerprint } = card;
  return { brand, last4, funding, fingerprint, expMonth: card.exp_month, expYear: card.exp_year };
}

function verificationOf(v: Static<typeof VerificationShape>): Verification {
  return {
    avsLine1: v.avs_line1,
    avsZip: v.avs_zip,
    cvcCheck: v.cvc_check,
    threeDsResult: v.three_ds_result ?? "",
    threeDsVersion: v.three_ds_version ?? "",
    riskLevel: v.risk_level,
    riskScore: v.risk_score,
  };
}
