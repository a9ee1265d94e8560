// After a decline a payment moves to the next account, once: two processors that keep their word, on a real PostgreSQL,
// in every order of the buyer's payments, lost answers, reports, checks and cancellations. Never two captured intents.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { register } from "prom-client";
import { Database } from "#platform/database/database.ts";
import { Outbox } from "#platform/events/outbox.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { type Id, newId } from "#platform/values/id.ts";
import type { IntentReport, ProcessorAccount } from "../../../services/payments/connectors/connector.ts";
import type { ActiveAccounts } from "../../../services/payments/flows/accounts/ask-processor.ts";
import { cancelIntent } from "../../../services/payments/flows/cancel-intent.ts";
import { confirmIntent } from "../../../services/payments/flows/confirm-intent.ts";
import { createIntent } from "../../../services/payments/flows/create-intent.ts";
import { applyProcessorEvent } from "../../../services/payments/flows/receive-processor-event.ts";
import type { RenewDeps } from "../../../services/payments/flows/renewals/adopt-renewal.ts";
import { renewIntent } from "../../../services/payments/flows/renewals/renew-intent.ts";
import { paymentsMetrics } from "../../../services/payments/metrics.ts";
import type { IntentFact } from "../../../services/payments/rules/payment.ts";
import { findPayment } from "../../../services/payments/store/payments.ts";
import { freshDatabase } from "../../harness/database.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { mount, owner } from "./played.ts";

const test = suite("a declined payment moves to the next account", { timeoutMs: 240_000 });

const declineCodes = ["processing_error"];
const names = ["simulator", "stripe"] as const;
type Name = (typeof names)[number];
const lost = { kind: "unknown", cause: new Error("the answer is lost") } as const;

interface Intent {
  readonly facts: IntentFact[];
  state: "open" | "paid" | "canceled";
}

/** A processor that keeps its word: one intent, which can be paid until it is canceled. */
class Processor {
  readonly account: ProcessorAccount;
  intent: Intent | undefined;
  /** The next answer is lost: the command is carried out, or is not even received. */
  fault: "" | "after" | "before" = "";
  isFirst = true;
  readonly #name: Name;
  readonly #other: () => Processor;

  constructor(name: Name, id: string, other: () => Processor) {
    this.#name = name;
    this.#other = other;
    this.account = {
      id,
      ...owner,
      connector: name,
      externalAccountId: `acct_${name}`,
      surface: "embedded",
      credentials: {},
      refundsEnabled: true,
    };
  }

  report(paymentId: string): IntentReport {
    const facts = [...(this.intent?.facts ?? [])];
    return {
      ref: `pi_${this.#name}_${paymentId}`,
      reference: paymentId,
      amount: 1_000n,
      currency: "EUR",
      facts,
      refunds: [],
      disputes: [],
    };
  }

  attempt(ref: string) {
    return { ref: `${this.#name}_${ref}`, startedAt: new Date(), card: undefined, verification: undefined };
  }

  decline(): void {
    const failure = { code: "processing_error", message: "try again", at: new Date() };
    this.intent?.facts.push({ kind: "attempt_failed", attempt: this.attempt("1"), ...failure });
  }

  /** @param isBroken also a canceled intent, which no honest processor does */
  pay(isBroken = false): void {
    if (!this.intent || (this.intent.state !== "open" && !isBroken)) return;
    this.intent.state = "paid";
    const captured = { capturedAmount: 1_000n, authorizedAt: new Date(), capturedAt: new Date() };
    const success = { attempt: this.attempt("2"), ...captured, authorizationCode: "", receiptUrl: "" };
    this.intent.facts.push({ kind: "attempt_succeeded", ...success });
  }

  connector(paymentId: () => string) {
    const answer = (work: () => unknown) => {
      const { fault } = this;
      this.fault = "";
      if (fault === "before") return lost;
      const answered = work();
      return fault === "after" ? lost : answered;
    };
    const known = () => ({ kind: "succeeded", value: this.report(paymentId()) }) as const;
    const missing = () => ({ kind: "not_found", at: new Date(), cause: new Error("no such intent") }) as const;
    return {
      name: this.#name,
      keyLifeSeconds: 1_000,
      processorTime: () => new Date(),
      capturesLater: true,
      methods: [
        { type: "card", currencies: [], refund: "partial", delayed: false, disputes: true, manualCapture: true },
      ],
      failureNames: {},
      refusesAmount: () => undefined,
      retrieveIntent: async () => (this.intent ? known() : missing()),
      findIntent: async () =>
        this.intent ? { kind: "succeeded", value: { report: this.report(paymentId()), mount } } : missing(),
      createIntent: async () =>
        answer(() => {
          const other = this.#other().intent;
          assert.ok(!other || other.state === "canceled", "two intents could be paid");
          this.intent ??= { state: "open", facts: [] };
          return { kind: "succeeded", value: { report: this.report(paymentId()), mount } };
        }),
      cancelIntent: async () =>
        answer(() => {
          const { intent } = this;
          if (!intent) return missing();
          if (intent.state === "paid") return { kind: "declined", code: "not_cancelable", message: "paid" };
          if (intent.state === "open") intent.facts.push({ kind: "intent_canceled", at: new Date() });
          intent.state = "canceled";
          return known();
        }),
    };
  }
}

const base = fixture(
  test,
  async () => {
    const log = createLog("test", "silent");
    const db = await Database.open({ url: (await freshDatabase("payments")).url, name: "test", log });
    return { db, log, metrics: paymentsMetrics(register), vault: new Vault(new Map([["k1", randomBytes(32)]])) };
  },
  ({ db }) => db.close(),
);

/** One payment of a session, declined at the first of two accounts. */
async function declinedPayment(routing: Partial<ActiveAccounts> = {}) {
  const id = newId("payment");
  const first: Processor = new Processor(names[0], "mco_first", () => second);
  const second: Processor = new Processor(names[1], "mco_second", () => first);
  const processors = [first, second];
  const made = processors.map((each) => each.connector(() => id));
  const accountOf = (accountId: string) => processors.find(({ account }) => account.id === accountId)?.account;
  const active: ActiveAccounts = {
    ...{ accounts: [first.account], others: [second.account], rules: [], onOutage: "stop", declineCodes },
    ...routing,
  };
  const byName = (name: string) => made.find((each) => each.name === name);
  const { db, log, metrics, vault } = base;
  const deps = {
    ...{ db, log, metrics, vault, reconcileAfterSeconds: 3_600 },
    outbox: new Outbox({ namespace: "test", source: "payments" }),
    accounts: {
      active: async () => active,
      byId: async (accountId: string) => ({ ...accountOf(accountId), merchantStatus: "active" }),
    },
    connectors: { get: byName, find: byName, serves: () => true, isDown: () => false },
  } as unknown as RenewDeps;
  const order = { description: "", returnUrl: "", lineItems: [] };
  const expiresAt = new Date(Date.now() + 3_600_000);
  const texts = {
    orderReference: "",
    customerEmail: "",
    metadata: {},
    connectorId: "",
    paymentMethods: [],
    resumeOnly: false,
  } as const;
  const money = { amount: 1_000n, currency: "EUR", captureMethod: "automatic" } as const;
  await createIntent(deps, { ...order, ...owner, ...texts, ...money, id, sessionId: newId("session"), expiresAt });
  first.decline();
  await confirmIntent(deps, id, "confirm");
  return { id, first, second, deps, order };
}

type Declined = Awaited<ReturnType<typeof declinedPayment>>;

const quietly = (work: Promise<unknown>) => work.catch(() => undefined);
let events = 0;

function renew({ deps, id, order }: Declined) {
  return renewIntent(deps, { ...order, paymentId: id, onlyAfterDecline: true });
}

function report({ deps, id }: Declined, from: Processor) {
  if (!from.intent) return Promise.resolve(undefined);
  const event = {
    id: `evt_${events++}`,
    type: "intent",
    createdAt: new Date(),
    intentRef: "",
    report: from.report(id),
  };
  return applyProcessorEvent(deps, from.account, event as never);
}

const steps: Readonly<Record<string, (declined: Declined) => Promise<unknown>>> = {
  renew,
  renewWithLostEnd: (declined) => {
    declined.first.fault = "after";
    return quietly(renew(declined));
  },
  renewUnheard: (declined) => {
    declined.first.fault = "before";
    return quietly(renew(declined));
  },
  renewWithLostIntent: (declined) => {
    declined.second.fault = "after";
    return quietly(renew(declined));
  },
  payFirst: async ({ first }) => first.pay(),
  paySecond: async ({ second }) => second.pay(),
  reportFirst: (declined) => report(declined, declined.first),
  reportSecond: (declined) => report(declined, declined.second),
  check: ({ deps, id }) => quietly(confirmIntent(deps, id, "reconcile")),
  cancel: ({ deps, id }) => quietly(cancelIntent(deps, id)),
};

/** The books after all reports have arrived. */
async function settled(declined: Declined) {
  const { first, second, deps, id } = declined;
  for (const each of [first, second]) each.fault = "";
  await report(declined, second);
  await report(declined, first);
  await quietly(confirmIntent(deps, id, "reconcile"));
  const payment = (await findPayment(base.db, id)) ?? assert.fail("no payment");
  const captured = [first, second].filter(({ intent }) => intent?.state === "paid");
  const funds = await base.db.rows<{ account: string; kind: string }>(
    `select connector_account_id as account, kind from suspense where payment_id = $1`,
    [id],
  );
  return { payment, captured: captured.map(({ account }) => account.id), funds };
}

async function assertOneIntent(declined: Declined, path: string): Promise<void> {
  const { payment, captured, funds } = await settled(declined);
  assert.ok(captured.length <= 1, `${path}: two captured intents`);
  assert.deepEqual(funds, [], path);
  const isPaid = payment.state.outcome === "succeeded";
  assert.equal(isPaid, captured.length === 1, `${path}: ${payment.state.outcome}, captured ${captured}`);
  if (isPaid) assert.equal(payment.connectorAccountId, captured[0], path);
}

test("every order of three steps of two processors ends with at most one captured intent, in the books", async () => {
  const all = Object.entries(steps);
  const paths = all.flatMap((a) => all.flatMap((b) => all.map((c) => [a, b, c] as const)));
  for (let i = 0; i < paths.length; i += 10) {
    await Promise.all(
      paths.slice(i, i + 10).map(async (path) => {
        const declined = await declinedPayment();
        for (const [, step] of path) await step(declined);
        await assertOneIntent(declined, path.map(([name]) => name).join(" → "));
      }),
    );
  }
});

test("random orders of nine steps end so, too, also where steps overlap", async () => {
  let seed = 20_26;
  const next = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
  };
  const all = Object.entries(steps);
  for (let run = 0; run < 150; run++) {
    const path = Array.from({ length: 9 }, () => all[next(all.length)] ?? assert.fail());
    const declined = await declinedPayment();
    for (let i = 0; i < path.length; i += 3) {
      await Promise.all(path.slice(i, i + 3).map(([, step]) => quietly(step(declined))));
    }
    await assertOneIntent(declined, path.map(([name]) => name).join(" → "));
  }
});

test("the payment moves once, is paid at the next account, and its attempts name their accounts", async () => {
  const declined = await declinedPayment();
  const { id, first, second } = declined;
  const { payment, render } = await renew(declined);
  assert.ok(render);
  assert.deepEqual([payment.connectorAccountId, payment.formerAccountId], [second.account.id, first.account.id]);
  assert.equal(first.intent?.state, "canceled");
  second.decline();
  await confirmIntent(declined.deps, id, "confirm");
  const after = await renew(declined);
  assert.equal(after.payment.connectorAccountId, second.account.id, "at most one move");
  second.pay();
  await assertOneIntent(declined, "paid at the second");
  const attempts = await base.db.rows<{ account: string; outcome: string }>(
    "select connector_account_id as account, outcome from attempts where payment_id = $1 order by ended_at, ref",
    [id],
  );
  const accounts = [first, second, second].map(({ account }) => account.id);
  assert.deepEqual(
    attempts.map(({ account }) => account),
    accounts,
  );
});

test("no other decline, and no account that the session names, moves a payment", async () => {
  for (const routing of [{ declineCodes: ["insufficient_funds"] }, { declineCodes: [] }, { others: [] }]) {
    const declined = await declinedPayment(routing);
    const { payment } = await renew(declined);
    assert.equal(payment.connectorAccountId, declined.first.account.id);
    assert.equal(declined.first.intent?.state, "open");
  }
  const named = await declinedPayment();
  await base.db.rows("update payments set routing_reason = 'session' where id = $1", [named.id]);
  assert.equal((await renew(named)).payment.connectorAccountId, named.first.account.id);
});

test("a processor that captures an intent after its end opens unexpected funds at its account, which none accepts", async () => {
  const declined = await declinedPayment();
  await renew(declined);
  declined.second.pay();
  await confirmIntent(declined.deps, declined.id, "confirm");
  declined.first.pay(true);
  await report(declined, declined.first);
  const { payment, funds } = await settled(declined);
  assert.deepEqual(funds, [{ account: declined.first.account.id, kind: "second_charge" }]);
  assert.deepEqual([payment.status, payment.connectorAccountId], ["succeeded", declined.second.account.id]);
  const unpaid = await declinedPayment();
  await renew(unpaid);
  unpaid.first.pay(true);
  await report(unpaid, unpaid.first);
  assert.equal((await findPayment(base.db, unpaid.id as Id<"payment">))?.state.outcome, "failed");
});

test.run();
