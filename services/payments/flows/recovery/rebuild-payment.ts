// Rebuilds a payment that a restored database lost, from its processor. Phases, each safe to rerun: 1 verify it, if it
// is known, and end · 2 list the merchant's accounts (merchant) · 3 search our reference at each · 4 insert and settle
// the payment in one transaction. Its order is never resent: its key is lost.
import type { Client } from "@connectrpc/connect";
import type { Vault } from "#platform/secrets/vault.ts";
import { Failure } from "#platform/values/failure.ts";
import { idTimeMs, newId } from "#platform/values/id.ts";
import type { ConnectorService } from "#proto/merchant/v1/merchant_pb.ts";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { type CreatedIntent, isKnown, type ProcessorAccount } from "../../connectors/connector.ts";
import { type CaptureMethod, isUnpaid } from "../../rules/payment.ts";
import { insertPayments, type NewPayment, recordIntents } from "../../store/new-payments.ts";
import { firstTry } from "../../store/operations.ts";
import { findPayment, recordRenewal, type StoredPayment } from "../../store/payments.ts";
import { openRender, renderOf, sealRender } from "../create-intent.ts";
import { findIntent } from "../make-at-processor.ts";
import { ListedIntentError, logSettlement } from "../record-findings.ts";
import { settlePayment } from "../settle-payment.ts";
import { type VerifyDeps, verifyIntent } from "../verify-intent.ts";

export interface RebuildDeps extends VerifyDeps {
  readonly vault: Vault;
  readonly merchants: Pick<Client<typeof ConnectorService>, "listConnectors">;
}

export type LostPayment = Omit<
  NewPayment,
  "amount" | "currency" | "connector" | "connectorAccountId" | "surface" | "captureMethod" | "expiresAt"
> & {
  /** undefined: taken from the processor. */
  readonly captureMethod: CaptureMethod | undefined;
  /** undefined: taken from the processor. */
  readonly money: { readonly amount: bigint; readonly currency: string } | undefined;
  readonly expiresAt: Date | undefined;
};

/** For callers that do not know the order. */
export const unknownOrder = {
  description: "",
  orderReference: "",
  customerEmail: "",
  metadata: {},
  money: undefined,
  captureMethod: undefined,
  expiresAt: undefined,
} as const;

interface RebuildResult {
  readonly outcome: RebuildOutcome;
  /** Empty: there is no payment. */
  readonly status: string;
}

// The processor's clock may differ from the one that made the id.
const marginMs = 3_600_000;
// Longest life of a session, and of a payment without one: an earlier cancellation could stop its buyer from paying.
const lifeMs = { session: 30 * 86_400_000, direct: 86_400_000 } as const;
// More renewals than a session's pages can have in thirty days.
const renewalsMax = 1_000;
// A longer search is an account with millions of intents, and fails.
const pagesMax = 200;

/** @throws Failure CONNECTOR_ERROR (the processor, or some account, could not be read to its end). */
export async function rebuildPayment(deps: RebuildDeps, lost: LostPayment): Promise<RebuildResult> {
  const known = await findPayment(deps.db, lost.id);
  if (known && known.connectorRef !== "") {
    const { status } = await verifyKnown(deps, known);
    return { outcome: RebuildOutcome.KNOWN, status };
  }
  const found = await searchAccounts(deps, lost);
  if (!found) return { outcome: RebuildOutcome.NOT_FOUND, status: known?.status ?? "" };
  return { outcome: RebuildOutcome.REBUILT, status: await adoptIntent(deps, lost, found) };
}

/** An intent in the operators' list is left to them. @returns the payment after its verification. */
async function verifyKnown(deps: RebuildDeps, known: StoredPayment): Promise<StoredPayment> {
  try {
    const after = await verifyIntent(deps, known.id, "reconcile");
    return isUnpaid(after.state) ? await applyRenewals(deps, known) : after;
  } catch (error) {
    if (error instanceof Failure && error.cause instanceof ListedIntentError) return known;
    throw error;
  }
}

interface FoundIntent {
  readonly account: ProcessorAccount;
  readonly intent: CreatedIntent;
  /** Number of pages that ended before it. */
  readonly renewal: number;
}

/** Records renewed intents that the restored database has lost. @returns the payment after them. */
async function applyRenewals(deps: RebuildDeps, known: StoredPayment): Promise<StoredPayment> {
  const account = await deps.accounts.byId(known.connectorAccountId);
  let renewal = known.renewals;
  for (; renewal < renewalsMax; renewal++) {
    const next =
      openRender(deps.vault, known)?.expiresAt && (await searchAccount(deps, account, known.id, renewal + 1));
    if (!next) break;
    const render = sealRender(deps.vault, known.id, renderOf(account, next));
    await recordRenewal(deps.db, { id: known.id, renewal: renewal + 1, connectorRef: next.report.ref }, render);
  }
  return renewal === known.renewals ? known : await verifyIntent(deps, known.id, "reconcile");
}

/** Phases 2 and 3. @throws Failure CONNECTOR_ERROR: an account did not answer, which does not prove absence. */
async function searchAccounts(
  deps: RebuildDeps,
  { id, merchantId, environment }: LostPayment,
): Promise<FoundIntent | undefined> {
  const { connectors } = await deps.merchants.listConnectors({ merchantId, environment });
  let ended: FoundIntent | undefined;
  for (const { id: accountId } of connectors) {
    const account = await deps.accounts.byId(accountId);
    let intent = await searchAccount(deps, account, id, 0);
    if (!intent) continue;
    let renewal = 0;
    // Only the last renewal can be paid.
    for (; intent.report.pageEndedAt && renewal < renewalsMax; renewal++) {
      const next = await searchAccount(deps, account, id, renewal + 1);
      if (!next) break;
      intent = next;
    }
    const found = { account, intent, renewal };
    // After a decline the payment may have moved from this intent to another account.
    if (!intent.report.facts.some(({ kind }) => kind === "intent_canceled")) return found;
    ended ??= found;
  }
  return ended;
}

async function searchAccount(
  deps: RebuildDeps,
  account: ProcessorAccount,
  reference: string,
  renewal: number,
): Promise<CreatedIntent | undefined> {
  const connector = deps.connectors.get(account.connector);
  const since = new Date(idTimeMs(reference) - marginMs);
  let after = "";
  for (let pages = 0; pages < pagesMax; pages++) {
    const search = { reference, renewal, surface: account.surface, since, after };
    const answer = await findIntent(deps.db, connector, account, search);
    if (isKnown(answer)) return answer.value;
    if (answer.kind === "not_found") return undefined;
    if (answer.kind !== "unknown" || !answer.resumeAfter) {
      throw new Failure("CONNECTOR_ERROR", { cause: "cause" in answer ? answer.cause : new Error(answer.message) });
    }
    after = answer.resumeAfter;
  }
  throw new Failure("CONNECTOR_ERROR", { cause: new Error("the search is too long") });
}

/** Phase 4: all or nothing. @returns the payment's status. */
async function adoptIntent(
  deps: RebuildDeps,
  lost: LostPayment,
  { account, intent, renewal }: FoundIntent,
): Promise<string> {
  const { report } = intent;
  const { id: connectorAccountId, connector, surface } = account;
  const { money, ...order } = lost;
  const expiresAt =
    lost.expiresAt ?? new Date(idTimeMs(lost.id) + lifeMs[lost.sessionId === "" ? "direct" : "session"]);
  const { amount, currency } = money ?? report;
  const captureMethod = lost.captureMethod ?? report.captureMethod ?? "automatic";
  const payment = { ...order, amount, currency, connector, connectorAccountId, surface, captureMethod, expiresAt };
  const operation = { ...firstTry(newId("operation"), "create_intent", lost.id, undefined), state: "done" as const };
  const timing = { operationSeconds: deps.reconcileAfterSeconds, checkSeconds: deps.reconcileAfterSeconds };
  const sealed = sealRender(deps.vault, lost.id, renderOf(account, intent));
  const settled = await deps.db.transaction(async (tx) => {
    await insertPayments(tx, [{ payment, operation, ...timing }]);
    await recordIntents(tx, [{ paymentId: lost.id, connectorRef: report.ref, render: sealed, renewals: renewal }]);
    return await settlePayment(tx, deps, lost.id, report, "reconcile");
  });
  deps.outbox.wake();
  logSettlement(deps, settled);
  return settled.payment.status;
}
