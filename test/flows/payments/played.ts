// The flows and jobs of payments on a real PostgreSQL with a scripted processor, for tests of which calls are made in
// which order, and of what each answer leads to.

import { randomBytes } from "node:crypto";
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { IdempotencyKeys } from "#platform/database/idempotency.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { createLog } from "#platform/telemetry/log.ts";
import type { Id } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { Archive } from "../../../services/archive/archive.ts";
import type { IntentReport, Mount } from "../../../services/payments/connectors/connector.ts";
import type { Connectors } from "../../../services/payments/connectors/registry.ts";
import type {
  Accounts,
  ActiveAccounts,
  MerchantAccount,
} from "../../../services/payments/flows/accounts/ask-processor.ts";
import type { CreatePaymentDeps } from "../../../services/payments/flows/create-payment.ts";
import type { RefundDeps } from "../../../services/payments/flows/refunds/refund-payment.ts";
import { archivedPayments } from "../../../services/payments/flows/restore-archived.ts";
import { type SettlementResult, settlePayment } from "../../../services/payments/flows/settle-payment.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import type { CaptureMethod, IntentFact } from "../../../services/payments/rules/payment.ts";
import type { MethodTerms } from "../../../services/payments/rules/payment-method.ts";
import { insertPayments } from "../../../services/payments/store/new-payments.ts";
import { freshDatabase } from "../../harness/database.ts";
import { noArchive } from "../../harness/payments/money-services.ts";
import { paymentInsert } from "../../harness/payments/payment-insert.ts";
import { fixture, type Suite } from "../../harness/suite.ts";

/** Calls that a test can script. */
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

interface PaymentsFixture {
  readonly db: Database;
  readonly deps: CreatePaymentDeps & RefundDeps;
  /** All calls in order. */
  readonly calls: Call[];
  /** The answer or action of each call; other calls get no answer. */
  answers: Partial<Record<Call, (...args: readonly unknown[]) => unknown>>;
  /** The account's circuit is open. */
  isDown: boolean;
  /** The processor's clock in its last answer. */
  time: Date | undefined;
  /** Why the processor never accepts the amount. */
  refusal: string | undefined;
  /** The connector's methods. */
  methods: readonly MethodTerms[];
  /** Types that the merchant has switched on. */
  chosen: readonly string[];
  /** A payment of a session; it and its operation are due in an hour. */
  payment(change?: { readonly expiresAt?: Date; readonly captureMethod?: CaptureMethod }): Promise<Id<"payment">>;
  /** Settles a report about an intent with our reference, as the reconcile job does. */
  settleReport(paymentId: string, report: Partial<IntentReport>): Promise<SettlementResult>;
  /** Makes the payment's operations due. */
  due(paymentId: string): Promise<void>;
  /** Makes the payment's check due. */
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

const cards: MethodTerms = {
  ...{ type: "card", currencies: [], refund: "partial", delayed: false, disputes: true, manualCapture: true },
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

/** Payments with a scripted processor for the suite; the script is cleared before each test. */
export function playedPayments(test: Suite): PaymentsFixture {
  const played = fixture(test, startPlayed, ({ db }) => db.close());
  test.beforeEach(() => {
    played.calls.length = 0;
    Object.assign(played, {
      answers: {},
      isDown: false,
      time: undefined,
      refusal: undefined,
      methods: [cards],
      chosen: ["card"],
    });
  });
  return played;
}

async function startPlayed(): Promise<PaymentsFixture> {
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
    archive: new Archive({ db, log }, archivedPayments, noArchive),
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
    get methods() {
      return played.methods;
    },
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
  const now = () => ({ ...account, methods: played.chosen });
  const routed = { others: [], rules: [], onOutage: "stop", declineCodes: [] } as const;
  const active = async (): Promise<ActiveAccounts> => ({ accounts: [now()], ...routed });
  const accounts = { active, byId: async () => now() };
  const connectors = { get: () => connector, find: () => connector, serves: () => true, isDown: () => played.isDown };
  const played: PaymentsFixture = {
    db,
    deps: {
      ...deps,
      // No lease: another run takes a key over immediately.
      keys: new IdempotencyKeys(db, vault, 0),
      accounts: accounts as unknown as Accounts,
      connectors: connectors as unknown as Connectors,
    },
    calls: [],
    answers: {},
    isDown: false,
    time: undefined,
    refusal: undefined,
    methods: [cards],
    chosen: ["card"],
    async payment({ expiresAt = new Date(Date.now() + 3_600_000), captureMethod = "automatic" } = {}) {
      const wanted = paymentInsert({ expiresAt, captureMethod }, 3_600);
      await insertPayments(db, [wanted]);
      return wanted.payment.id;
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

/** The processor's report of the payment's own intent, on which nothing happened. */
export function reportOf(paymentId: string, change: Partial<IntentReport> = {}): IntentReport {
  const nothing = { facts: [], refunds: [], disputes: [] };
  return { ref: `pi_${paymentId}`, reference: paymentId, amount: 1_000n, currency: "EUR", ...nothing, ...change };
}

/** A successful authorization without a capture. */
export function authorizedFact(): IntentFact {
  return { ...capturedFact(0n), capturedAt: undefined, captureBefore: new Date("2026-01-08T12:00:00Z") };
}

/** A successful attempt whose amount is captured. */
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
