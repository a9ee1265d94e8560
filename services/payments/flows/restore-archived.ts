// Payments that have left the database (services/archive): a read shows their document without changing anything, and
// whatever changes one brings it back first, so no other flow knows of the archive.
import type { Database } from "#platform/database/database.ts";
import { requireFound } from "#platform/values/failure.ts";
import { type Id, idSuffix, isId } from "#platform/values/id.ts";
import type { Archive, ArchiveTable } from "../../archive/archive.ts";
import { type NamedIntent, ownerOfIntent, paymentOfArchivedRefund } from "../store/intent-owners.ts";
import { findArchivedRecord, findRecord, type Owner, type PaymentRecord } from "../store/payment-records.ts";
import { findOwnPayment, type StoredPayment } from "../store/payments.ts";
import type { StoredRefund } from "../store/refunds/refunds.ts";

/** Columns of the view `archivable` (schema/0048-archive.sql). */
export const archivedPayments: ArchiveTable = {
  noun: "payment",
  columns: {
    merchant_id: "STRING",
    environment: "INT32",
    status: "STRING",
    currency: "STRING",
    amount: "INT64",
    captured_amount: "INT64",
    refunded_amount: "INT64",
    fee_amount: "INT64",
    order_reference: "STRING",
    connector: "STRING",
    connector_ref: "STRING",
    created_at: "TIMESTAMP",
    captured_at: "TIMESTAMP",
  },
};

export interface ArchiveDeps {
  readonly db: Database;
  readonly archive: Pick<Archive, "find" | "restore">;
}

/** The payment of an intent that the processor reports; an id that may have no payment. */
export async function paymentOfIntent(
  { db, archive }: ArchiveDeps,
  intent: NamedIntent,
): Promise<Id<"payment"> | undefined> {
  const owner = await ownerOfIntent(db, intent);
  const document = owner?.isArchived ? await archive.find(owner.paymentId) : undefined;
  if (owner && document !== undefined) await archive.restore(owner.paymentId, document);
  return owner?.paymentId;
}

/** A payment that its merchant changes. @throws Failure NOT_FOUND */
export async function requireOwnPayment(
  { db, archive }: ArchiveDeps,
  owner: Owner,
  id: string,
): Promise<StoredPayment> {
  const payment = await findOwnPayment(db, owner, id);
  if (payment) return payment;
  const document = requireFound(await archive.find(id));
  // Another merchant's payment stays where it is.
  requireFound(await findArchivedRecord(db, owner, id, document));
  await archive.restore(id, document);
  return requireFound(await findOwnPayment(db, owner, id));
}

/** A payment as its merchant reads it, also one of the archive. @throws Failure NOT_FOUND */
export async function requireRecord(deps: ArchiveDeps, owner: Owner, id: string): Promise<PaymentRecord> {
  return requireFound((await findRecord(deps.db, owner, id)) ?? (await findArchived(deps, owner, id)));
}

async function findArchived(
  { db, archive }: ArchiveDeps,
  owner: Owner,
  id: string,
): Promise<PaymentRecord | undefined> {
  const document = await archive.find(id);
  return document === undefined ? undefined : await findArchivedRecord(db, owner, id, document);
}

/** JSON of an archived payment, by its own id, its session's or a refund's. */
export async function findDocument({ db, archive }: ArchiveDeps, objectId: string): Promise<string | undefined> {
  const ofRefund = isId("refund", objectId);
  const id = ofRefund ? await paymentOfArchivedRefund(db, objectId) : `pay_${idSuffix(objectId)}`;
  return id === undefined ? undefined : await archive.find(id);
}

/** undefined: the owner has no archived payment with this refund. */
export async function findArchivedRefund(
  deps: ArchiveDeps,
  owner: Owner,
  refundId: string,
): Promise<StoredRefund | undefined> {
  const paymentId = await paymentOfArchivedRefund(deps.db, refundId);
  const record = paymentId === undefined ? undefined : await findArchived(deps, owner, paymentId);
  return record?.refunds.find(({ id }) => id === refundId);
}
