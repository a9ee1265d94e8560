// Takes in again a payment that a restored database lost, from what its processor knows. Phases, each safe to run
// again: 1 known: ask about it, and that is all · 2 the merchant's accounts (merchant) · 3 look for our reference at
// each, which changes nothing there · 4 payment, intent and all that happened to it, in one transaction. Its order is
// never sent again: the key that it had is lost.
import { toBinary } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { Vault } from "#platform/secrets/vault.ts";
import { Failure } from "#platform/values/failure.ts";
import { idTimeMs, newId } from "#platform/values/id.ts";
import type { ConnectorService } from "#proto/merchant/v1/merchant_pb.ts";
import { RenderSchema } from "#proto/payments/v1/payments_pb.ts";
import { RebuildOutcome } from "#proto/payments/v1/recovery_pb.ts";
import { type CreatedIntent, isKnown, type ProcessorAccount } from "../../connectors/connector.ts";
import type { CaptureMethod } from "../../rules/payment.ts";
import { firstTry } from "../../store/operations.ts";
import { findPayment, insertPayment, type NewPayment, recordIntent } from "../../store/payments.ts";
import { renderOf } from "../create-intent.ts";
import { settlePayment } from "../settle-payment.ts";
import { tellSettled, type VerifyDeps, verifyIntent } from "../verify-intent.ts";

export interface RebuildDeps extends VerifyDeps {
  readonly vault: Vault;
  readonly merchants: Pick<Client<typeof ConnectorService>, "listConnectors">;
}

export type LostPayment = Omit<
  NewPayment,
  "amount" | "currency" | "connector" | "connectorAccountId" | "surface" | "captureMethod" | "expiresAt"
> & {
  /** Undefined: not known, so that the processor's word is taken. */
  readonly captureMethod: CaptureMethod | undefined;
  /** Undefined: not known, so that the processor's word is taken. */
  readonly money: { readonly amount: bigint; readonly currency: string } | undefined;
  readonly expiresAt: Date | undefined;
};

export interface Rebuilt {
  readonly outcome: RebuildOutcome;
  /** Empty: there is no payment. */
  readonly status: string;
}

// By the processor's clock, which may differ from the one that made the id.
const marginMs = 3_600_000;
const lifeMs = 86_400_000;
// A search that is longer than this is an account with millions of intents; it is told as one that failed.
const pagesMax = 200;

/** @throws Failure CONNECTOR_ERROR (the processor, or some account, could not be read to its end). */
export async function rebuildPayment(deps: RebuildDeps, lost: LostPayment): Promise<Rebuilt> {
  const known = await findPayment(deps.db, lost.id);
  if (known && known.connectorRef !== "") {
    const { status } = await verifyIntent(deps, lost.id, "reconcile");
    return { outcome: RebuildOutcome.KNOWN, status };
  }
  const found = await lookEverywhere(deps, lost);
  if (!found) return { outcome: RebuildOutcome.NOT_FOUND, status: known?.status ?? "" };
  return { outcome: RebuildOutcome.REBUILT, status: await adoptIntent(deps, lost, found) };
}

interface Found {
  readonly account: ProcessorAccount;
  readonly intent: CreatedIntent;
}

/** Phases 2 and 3. An account that never answers is not one that has nothing. */
async function lookEverywhere(
  deps: RebuildDeps,
  { id, merchantId, environment }: LostPayment,
): Promise<Found | undefined> {
  const { connectors } = await deps.merchants.listConnectors({ merchantId, environment });
  for (const { id: accountId } of connectors) {
    const account = await deps.accounts.byId(accountId);
    const intent = await lookAt(deps, account, id);
    if (intent) return { account, intent };
  }
  return undefined;
}

async function lookAt(
  deps: RebuildDeps,
  account: ProcessorAccount,
  reference: string,
): Promise<CreatedIntent | undefined> {
  const connector = deps.connectors.get(account.connector);
  const since = new Date(idTimeMs(reference) - marginMs);
  let after = "";
  for (let pages = 0; pages < pagesMax; pages++) {
    const answer = await connector.findIntent(account, { reference, surface: account.surface, since, after });
    if (isKnown(answer)) return answer.value;
    if (answer.kind === "not_found") return undefined;
    if (answer.kind !== "unknown" || !answer.resumeAfter) {
      throw new Failure("CONNECTOR_ERROR", { cause: "cause" in answer ? answer.cause : new Error(answer.message) });
    }
    after = answer.resumeAfter;
  }
  throw new Failure("CONNECTOR_ERROR", { cause: new Error("the search has no end") });
}

/** Phase 4: a crash leaves the payment lost, or whole. @returns its status */
async function adoptIntent(deps: RebuildDeps, lost: LostPayment, { account, intent }: Found): Promise<string> {
  const { report } = intent;
  const { id: connectorAccountId, connector, surface } = account;
  const { money, ...order } = lost;
  const expiresAt = lost.expiresAt ?? new Date(idTimeMs(lost.id) + lifeMs);
  const { amount, currency } = money ?? report;
  const captureMethod = lost.captureMethod ?? report.captureMethod ?? "automatic";
  const payment = { ...order, amount, currency, connector, connectorAccountId, surface, captureMethod, expiresAt };
  const operation = { ...firstTry(newId("operation"), "create_intent", lost.id, undefined), state: "done" as const };
  const timing = { operationSeconds: deps.reconcileAfterSeconds, checkSeconds: deps.reconcileAfterSeconds };
  const sealed = deps.vault.encrypt(toBinary(RenderSchema, renderOf(account, intent)), `payment:${lost.id}`);
  const settled = await deps.db.transaction(async (tx) => {
    await insertPayment(tx, payment, operation, timing);
    await recordIntent(tx, lost.id, report.ref, sealed);
    return await settlePayment(tx, deps, lost.id, report, "reconcile");
  });
  deps.outbox.wake();
  tellSettled(deps.log, settled);
  return settled.payment.status;
}
