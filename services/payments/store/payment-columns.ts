// The columns of the payments table and of the attempts that ended, each spelled once.

import {
  bigint,
  boolean,
  bytes,
  type Column,
  Columns,
  integer,
  optionalColumn,
  type RowOf,
  sqlColumn,
  text,
  time,
} from "#platform/database/columns.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type {
  CaptureMethod,
  Card,
  DisputeHold,
  Outcome,
  PaymentMethod,
  PaymentStatus,
  Verification,
} from "../rules/payment.ts";
import type { PaymentRouting } from "../rules/routing.ts";

/** Null is the empty text. */
export const nullableText: Column<string> = {
  type: "text",
  read: (stored: string | null) => stored ?? "",
  write: (value) => value || null,
};

export interface NextAccount {
  readonly id: string;
  readonly connector: string;
  readonly surface: string;
  /** Types of methods that the payment offers there. */
  readonly offered: readonly string[];
  /** The processor's time before the first try, RFC 3339. */
  readonly sentAfter: string | undefined;
}

const identity = {
  id: text,
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  sessionId: nullableText,
  currency: text,
  orderReference: text,
  connector: text,
  connectorAccountId: text,
  connectorRef: nullableText,
  surface: text,
  render: optionalColumn(bytes),
  /** The account that the payment moves to once its declined intent has ended. */
  rerouteTo: optionalColumn(sqlColumn<NextAccount>("jsonb")),
  /** The declined intent that has ended, and its account; empty: none. */
  formerConnector: nullableText,
  formerAccountId: nullableText,
  formerRef: nullableText,
  /** How often another intent replaced one whose page ended. */
  renewals: integer,
  status: sqlColumn<PaymentStatus>("text"),
  /** Types of methods that the intent offers; undefined: an earlier release, or a payment without a session. */
  offeredMethods: optionalColumn(sqlColumn<readonly string[]>("text[]")),
  expiresAt: time,
  /** When the reconcile job asks the processor next; undefined: never. */
  nextCheckAt: optionalColumn(time),
  /** Since when, by its own clock, the processor answers that it has no such intent. */
  notFoundSince: optionalColumn(time),
  /** Counts the changes of the state. */
  version: { type: "bigint", read: Number, write: (version: number) => version },
};
const order = {
  amount: bigint,
  captureMethod: sqlColumn<CaptureMethod>("text"),
};
const state = {
  outcome: sqlColumn<Outcome>("text"),
  capturedAmount: bigint,
  refundedAmount: bigint,
  feeAmount: bigint,
  disputeHold: sqlColumn<DisputeHold>("text"),
  disputedAmount: bigint,
  lastAttemptRef: text,
  lastAttemptAt: optionalColumn(time),
  failedAttempts: integer,
  finishedAttempts: {
    type: "text[]",
    read: (refs: readonly string[]): ReadonlySet<string> => new Set(refs),
    write: (refs: ReadonlySet<string>) => [...refs],
  },
  announcedByConfirm: boolean,
  announcedByProcessor: boolean,
  visible: boolean,
  method: optionalColumn(sqlColumn<PaymentMethod>("jsonb")),
  verification: optionalColumn(sqlColumn<Verification>("jsonb")),
  authorizationCode: text,
  receiptUrl: text,
  authorizedAt: optionalColumn(time),
  captureBefore: optionalColumn(time),
  capturedAt: optionalColumn(time),
  failedAt: optionalColumn(time),
};
const card = {
  cardBrand: optionalColumn(text),
  cardLast4: optionalColumn(text),
  cardFunding: optionalColumn(text),
  cardFingerprint: optionalColumn(text),
  cardExpMonth: optionalColumn(integer),
  cardExpYear: optionalColumn(integer),
};

export const identityColumns = new Columns(identity);
export const orderColumns = new Columns(order);
/** The columns that facts move. */
export const stateColumns = new Columns(state);
export const cardColumns = new Columns(card);
export const paymentColumns = new Columns({
  ...{ ...identity, ...order, ...state, ...card },
  description: text,
  customerEmail: text,
  metadata: sqlColumn<Readonly<Record<string, string>>>("jsonb"),
  createdAt: time,
  routingRule: optionalColumn(integer),
  /** undefined: of an earlier release, or rebuilt. */
  routingReason: optionalColumn(sqlColumn<PaymentRouting["reason"]>("text")),
  /** undefined: not changed since there is this column. */
  updatedAt: optionalColumn(time),
});

/** A card has its last four digits at least. */
export function cardOf(row: RowOf<typeof cardColumns>): Card | undefined {
  if (row.cardLast4 === undefined) return undefined;
  return {
    brand: row.cardBrand ?? "",
    last4: row.cardLast4,
    funding: row.cardFunding ?? "",
    fingerprint: row.cardFingerprint ?? "",
    expMonth: row.cardExpMonth ?? 0,
    expYear: row.cardExpYear ?? 0,
  };
}

export function cardFields(card: Card | undefined): RowOf<typeof cardColumns> {
  return {
    cardBrand: card?.brand,
    cardLast4: card?.last4,
    cardFunding: card?.funding,
    cardFingerprint: card?.fingerprint,
    cardExpMonth: card?.expMonth,
    cardExpYear: card?.expYear,
  };
}

const attempt = {
  ref: text,
  outcome: sqlColumn<"succeeded" | "failed">("text"),
  failureCode: text,
  failureMessage: text,
  endedAt: time,
  startedAt: optionalColumn(time),
  cardBrand: nullableText,
  cardLast4: nullableText,
  threeDsResult: text,
  method: optionalColumn(sqlColumn<PaymentMethod>("jsonb")),
};
export const attemptColumns = new Columns(attempt);
/** With the account of an attempt; empty: the payment's. */
export const attemptRecordColumns = new Columns({ ...attempt, connectorAccountId: nullableText });
