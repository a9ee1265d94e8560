// Reserves a capture or a cancellation: one transaction under the payment's lock decides whether it is allowed, and
// writes its operation with the event for the audit log.
import type { IdempotencyScope } from "#platform/database/idempotency.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import type { Connectors } from "../../connectors/registry.ts";
import { decideCancel, decideCapture, type Ending } from "../../rules/capture.ts";
import { findActiveEnding, openEnding } from "../../store/endings.ts";
import { findOperation, type Operation, recordTakeOver } from "../../store/operations.ts";
import type { StoredPayment } from "../../store/payments.ts";
import { sealKey } from "../recovery/sealed-key.ts";
import { lockBooks } from "../settle-payment.ts";
import type { VerifyDeps } from "../verify-intent.ts";

export interface EndingDeps extends VerifyDeps {
  /** Seals the key that travels with the event. */
  readonly vault: Vault;
}

interface EndingInput {
  /** Of a new operation. */
  readonly id: string;
  readonly kind: Ending["kind"];
  /** Minor units of a capture; undefined: all that is authorized. */
  readonly amount: bigint | undefined;
  readonly idempotency: IdempotencyScope | undefined;
  /** An earlier run of the same request may have had the id. */
  readonly isResumed: boolean;
}

/** Without an operation the payment has already ended as requested. */
interface ReservedEnding {
  readonly payment: StoredPayment;
  readonly operation: Operation | undefined;
}

/** @throws Failure NOT_FOUND, NOT_CAPTURABLE, NOT_CANCELABLE, AMOUNT_TOO_LARGE, INVALID_BODY. */
export async function reserveEnding(deps: EndingDeps, paymentId: string, wanted: EndingInput): Promise<ReservedEnding> {
  const { id, kind, amount, isResumed } = wanted;
  const held = await deps.db.transaction(async (tx): Promise<ReservedEnding> => {
    const { payment } = await lockBooks(tx, paymentId);
    const active = await findActiveEnding(tx, paymentId);
    const isDirect = payment.sessionId === "";
    const decision =
      kind === "capture"
        ? decideCapture(payment.state, amount, active, isResumed)
        : decideCancel(payment.state, isDirect, active);
    if (decision.kind === "refused") throw new Failure(decision.reason);
    if (decision.kind === "done") return { payment, operation: undefined };
    if (decision.kind === "joined") {
      // Now two runs may send: an unsent try of the first one proves nothing any more.
      await recordTakeOver(tx, kind, paymentId);
      return { payment, operation: await findOperation(tx, kind, paymentId) };
    }
    const connector = deps.connectors.get(payment.connector);
    assertAcceptable(connector, kind, decision.amount, payment.currency);
    const ending = { id, paymentId, kind, amount: decision.amount };
    const operation = await openEnding(tx, ending, connector.processorTime(), deps.reconcileAfterSeconds);
    await deps.outbox.append(tx, [endingRequested(deps.vault, payment, operation, wanted.idempotency)]);
    return { payment, operation };
  });
  deps.outbox.wake();
  return held;
}

/** @throws Failure INVALID_BODY: the processor never takes this amount. */
function assertAcceptable(
  connector: ReturnType<Connectors["get"]>,
  kind: Ending["kind"],
  amount: bigint,
  currency: string,
): void {
  const problem = kind === "capture" ? connector.refusesAmount(amount, currency) : undefined;
  if (problem !== undefined) throw invalidField("amount", problem);
}

/** For the audit log and a rebuild; merchants get the event of the end itself. */
function endingRequested(
  vault: Vault,
  { id: payment_id, merchantId, environment, currency, status }: StoredPayment,
  { id: objectId, kind, amount }: Operation,
  idempotency: IdempotencyScope | undefined,
): Parameters<Outbox["append"]>[1][number] {
  const image = idempotency && sealKey(vault, objectId, idempotency);
  const money = kind === "capture" ? { amount: String(amount), currency } : {};
  const attributes = { payment_id, ...money, ...(image && { image }) };
  const type = `operation.${kind}_requested`;
  return { type, merchantId, environment, objectId, status, at: clockNow(), attributes };
}
