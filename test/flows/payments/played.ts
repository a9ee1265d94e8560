// The flows and jobs of payments with a real PostgreSQL and a processor that answers as the test says, since what
// matters is which calls are made, in which order, and what is made of their answers.
import { randomBytes } from "node:crypto";
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { type Id, newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { IntentReport, Mount } from "../../../services/payments/connectors/connector.ts";
import type { Connectors } from "../../../services/payments/connectors/registry.ts";
import type { Accounts, MerchantAccount } from "../../../services/payments/flows/accounts/ask-processor.ts";
import type { CreatePaymentDeps } from "../../../services/payments/flows/create-payment.ts";
import type { RefundDeps } from "../../../services/payments/flows/refunds/refund-payment.ts";
import { type SettlementResult, settlePayment } from "../../../services/payments/flows/settle-payment.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import type { CaptureMethod, IntentFact } from "../../../services/payments/rules/payment.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { freshDatabase } from "../../harness/database.ts";

/** Calls to a processor that bring an answer. */
type Call =
  | "createIntent"
  | "payIntent"
  | "findIntent"
  | "retrieveIntent"
  | "captureIntent"
  | "cancelIntent"
  | "createRefund"
  | "findRefund"
  | "retrieveDispute"
  | "uploadFile"
  | "submitEvidence"
  | "acceptDispute"
  | "readStatement";

export interface PaymentsFixture {
  readonly db: Database;
  readonly deps: CreatePaymentDeps & RefundDeps;
  /** Every call, in its order. */
  readonly calls: Call[];
  /** What a call is answered, or does; one that is not named gets no answer. */
  answers: Partial<Record<Call, (...args: readonly unknown[]) => unknown>>;
  /** The account's circuit is open. */
  isDown: boolean;
  /** The processor's clock, as its last answer told it. */
  time: Date | undefined;
  /** Why the processor never takes the amount. */
  refusal: string | undefined;
  /** A payment of a session with its operation, both of which are due in an hour. */
  payment(change?: { readonly expiresAt?: Date; readonly captureMethod?: CaptureMethod }): Promise<Id<"payment">>;
  /** Settled by what the processor says of an intent with our reference, as a job would. */
  settleReport(paymentId: string, report: Partial<IntentReport>): Promise<SettlementResult>;
  /** Makes the operations of the payment due, as after their pause. */
  due(paymentId: string): Promise<void>;
  /** The same for the look at the payment. */
  checkDue(paymentId: string): Promise<void>;
}

export const owner = { merchantId: "mer_test", environment: Environment.SANDBOX } as const;
export const keyLifeSeconds = 1_000;
export const noAnswer = { kind: "unknown", cause: new Error("no answer") } as const;
export const notSent = { kind: "not_sent", cause: new Error("nothing left") } as const;
export const mount: Mount = {
  kind: "frame",
  publishableKey: "",
  clientSecret: "secret",
  scriptUrl: "",
  frameUrl: "https://processor.example/form",
  redirectUrl: "",
};

const account: MerchantAccount = {
  id: "mco_test",
  ...owner,
  connector: "simulator",
  externalAccountId: "acct_test",
  surface: "embedded",
  credentials: {},
  refundsEnabled: true,
  merchantStatus: "active",
};

/** `db` is the test's to close. */
export async function playedPayments(): Promise<PaymentsFixture> {
  const log = createLog("test", "silent");
  const db = await Database.open({ url: (await freshDatabase("payments")).url, name: "test", log });
  const vault = new Vault(new Map([["k1", randomBytes(32)]]));
  const deps = {
    db,
    metrics: paymentsMetrics(register),
    vault,
    log,
    outbox: new Outbox({ namespace: "test", source: "payments" }),
    reconcileAfterSeconds: 3_600,
  };
  const ask =
    (call: Call) =>
    async (...args: readonly unknown[]) => {
      played.calls.push(call);
      return (await played.answers[call]?.(...args)) ?? noAnswer;
    };
  const connector = {
    name: account.connector,
    keyLifeSeconds,
    processorTime: () => played.time,
    capturesLater: true,
    failureNames: {},
    refusesAmount: () => played.refusal,
    createIntent: ask("createIntent"),
    payIntent: ask("payIntent"),
    findIntent: ask("findIntent"),
    retrieveIntent: ask("retrieveIntent"),
    captureIntent: ask("captureIntent"),
    cancelIntent: ask("cancelIntent"),
    createRefund: ask("createRefund"),
    findRefund: ask("findRefund"),
    retrieveDispute: ask("retrieveDispute"),
    uploadFile: ask("uploadFile"),
    submitEvidence: ask("submitEvidence"),
    acceptDispute: ask("acceptDispute"),
    readStatement: ask("readStatement"),
  };
  const accounts = { active: async () => [account] as const, byId: async () => account };
  const connectors = { get: () => connector, find: () => connector, serves: () => true, isDown: () => played.isDown };
  const played: PaymentsFixture = {
    db,
    deps: {
      ...deps,
      // A key whose holder is held up can be taken over at once.
      keys: new IdempotencyKeys(db, vault, 0),
      accounts: accounts as unknown as Accounts,
      connectors: connectors as unknown as Connectors,
    },
    calls: [],
    answers: {},
    isDown: false,
    time: undefined,
    refusal: undefined,
    async payment({ expiresAt = new Date(Date.now() + 3_600_000), captureMethod = "automatic" } = {}) {
      const id = newId("payment");
      const what = {
        amount: 1_000n,
        currency: "EUR",
        description: "",
        orderReference: "",
        customerEmail: "",
        metadata: {},
      };
      const where = {
        connector: account.connector,
        connectorAccountId: account.id,
        surface: account.surface,
        captureMethod,
      };
      const payment = { ...owner, ...what, ...where, id, sessionId: newId("session"), expiresAt };
      const operation = {
        id: newId("operation"),
        sentAfter: undefined,
        sealedOrder: undefined,
        state: "started",
      } as const;
      await insertPayments(db, [{ payment, operation, operationSeconds: 3_600, checkSeconds: 3_600 }]);
      return id;
    },
    async settleReport(paymentId, report) {
      return await db.transaction((tx) => settlePayment(tx, deps, paymentId, reportOf(paymentId, report), "reconcile"));
    },
    async due(paymentId) {
      await db.rows("update operations set next_try_at = now() where payment_id = $1", [paymentId]);
    },
    async checkDue(paymentId) {
      await db.rows("update payments set next_check_at = now() where id = $1", [paymentId]);
    },
  };
  return played;
}

/** What the processor says of the payment's own intent: nothing has happened there. */
export function reportOf(paymentId: string, change: Partial<IntentReport> = {}): IntentReport {
  const nothing = { facts: [], refunds: [], disputes: [] };
  return { ref: `pi_${paymentId}`, reference: paymentId, amount: 1_000n, currency: "EUR", ...nothing, ...change };
}

/** It was authorized, and nothing is captured yet. */
export function authorizedFact(): IntentFact {
  return { ...capturedFact(0n), capturedAt: undefined, captureBefore: new Date("2026-01-08T12:00:00Z") };
}

/** It was paid. */
export function capturedFact(amount = 1_000n): Extract<IntentFact, { readonly kind: "attempt_succeeded" }> {
  const at = new Date("2026-01-01T12:00:00Z");
  return {
    kind: "attempt_succeeded",
    attempt: { ref: "at_1", startedAt: at, card: undefined, verification: undefined },
    capturedAmount: amount,
    authorizedAt: at,
    capturedAt: at,
    authorizationCode: "",
    receiptUrl: "",
  };
}
