// Takes a processor's signed webhook in. Phases: 1 the account (merchant) · 2 verify the signature over the raw bytes · 3 record
// the event and settle the payment in one transaction. A repeat of an event changes nothing; the answer comes after the commit.
import { crashPoint } from "#platform/crash-point.ts";
import type { Database, Tx } from "#platform/database.ts";
import { isId } from "#platform/id.ts";
import type { Log } from "#platform/log.ts";
import type { Outbox } from "#platform/outbox.ts";
import type { Account, ProcessorEvent } from "../connectors/connector.ts";
import type { Connectors } from "../connectors/registry.ts";
import { findPayment } from "../store/payments.ts";
import { insertProcessorEvent, noteProcessorEvent } from "../store/processor-events.ts";
import type { Accounts } from "./ask-processor.ts";
import { IntentMismatch, settlePayment } from "./settle-payment.ts";
import { alertMismatch } from "./verify-intent.ts";

export interface ReceiveDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  /** When the reconcile job next asks about a payment that is not settled; seconds. */
  readonly patienceSeconds: number;
  readonly log: Log;
  readonly accounts: Accounts;
  readonly connectors: Connectors;
}

export interface ReceivedEvent {
  readonly connector: string;
  readonly externalAccountId: string;
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** @throws Failure NOT_FOUND (connector or account), UNAUTHORIZED (signature), INVALID_BODY (content). */
export async function receiveProcessorEvent(
  deps: ReceiveDeps,
  received: ReceivedEvent,
): Promise<{ duplicate: boolean }> {
  const connector = deps.connectors.get(received.connector);
  const account = await deps.accounts.byExternalId(received.connector, received.externalAccountId);
  crashPoint("receive-event.1-account-found");
  const event = connector.readEvent(account, received.body, received.headers);
  crashPoint("receive-event.2-verified");
  try {
    const duplicate = await deps.db.transaction((tx) => takeIn(deps, tx, account, event));
    crashPoint("receive-event.3-settled");
    deps.outbox.poke();
    return { duplicate };
  } catch (error) {
    if (!(error instanceof IntentMismatch)) throw error;
    // Sending it again would not change it, so it is recorded as refused and acknowledged.
    alertMismatch(deps.log, event.report?.reference ?? "", error);
    await deps.db.transaction(async (tx) => {
      await insertProcessorEvent(tx, {
        connector: connector.name,
        id: event.id,
        type: event.type,
        paymentId: undefined,
      });
      await noteProcessorEvent(tx, connector.name, event.id, String(error.cause));
    });
    return { duplicate: false };
  }
}

async function takeIn(deps: ReceiveDeps, tx: Tx, account: Account, event: ProcessorEvent): Promise<boolean> {
  const payment =
    event.report && isId("payment", event.report.reference) ? await findPayment(tx, event.report.reference) : undefined;
  const ours = payment?.connectorAccountId === account.id;
  const paymentId = ours ? payment.id : undefined;
  const fresh = await insertProcessorEvent(tx, {
    connector: account.connector,
    id: event.id,
    type: event.type,
    paymentId,
  });
  if (!fresh) return true;
  if (!event.report || paymentId === undefined) {
    await noteProcessorEvent(tx, account.connector, event.id, "not about a payment of ours");
    return false;
  }
  const { ignored } = await settlePayment(tx, deps, paymentId, event.report, "processor");
  if (ignored.length > 0) await noteProcessorEvent(tx, account.connector, event.id, ignored.join("; "));
  return false;
}
