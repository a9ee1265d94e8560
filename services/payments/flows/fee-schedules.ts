// Sets and removes fee schedules for operators, each in one transaction with its event for the audit log.
import { type Database, isDuplicate } from "#platform/database/database.ts";
import type { Announcement, Outbox } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { deleteSchedule, type FeeKey, insertSchedule, type StoredFee } from "../store/fee-schedules.ts";

export interface FeeDeps {
  readonly db: Database;
  readonly outbox: Outbox;
}

/**
 * @param fee `effectiveFrom` undefined: in 2 seconds. @throws Failure INVALID_BODY (earlier than that, or another one
 * begins then).
 */
export async function setSchedule(
  { db, outbox }: FeeDeps,
  fee: Omit<StoredFee, "effectiveFrom"> & { effectiveFrom: Date | undefined },
): Promise<StoredFee> {
  try {
    const stored = await db.transaction(async (tx) => {
      const inserted = await insertSchedule(tx, fee);
      if (!inserted) throw invalidField("schedule.key.effective_from", "must be at least 2 seconds from now");
      const terms = { basis_points: String(inserted.basisPoints), fixed_amount: String(inserted.fixedAmount) };
      await outbox.append(tx, [announcement("fee_schedule.set", inserted, fee.operator, terms)]);
      return inserted;
    });
    outbox.wake();
    return stored;
  } catch (error) {
    if (isDuplicate(error))
      throw invalidField("schedule.key.effective_from", "another schedule of this key begins then");
    throw error;
  }
}

/** @throws Failure NOT_FOUND, INVALID_BODY (it has begun, or does within 2 seconds). */
export async function removeSchedule({ db, outbox }: FeeDeps, key: FeeKey, operator: string): Promise<void> {
  await db.transaction(async (tx) => {
    const outcome = await deleteSchedule(tx, key);
    if (outcome === "unknown") throw new Failure("NOT_FOUND");
    if (outcome === "begun")
      throw invalidField(
        "key.effective_from",
        "has passed: a schedule that has begun cannot be removed; add one that begins later",
      );
    await outbox.append(tx, [announcement("fee_schedule.removed", key, operator, {})]);
  });
  outbox.wake();
}

/** Internal; an empty merchant_id means all merchants. The object is `<merchant>/<currency>/<connector>`. */
function announcement(
  type: string,
  key: FeeKey,
  operator: string,
  terms: Readonly<Record<string, string>>,
): Announcement {
  return {
    type,
    merchantId: key.merchantId === "*" ? "" : key.merchantId,
    environment: Environment.UNSPECIFIED,
    objectId: `${key.merchantId}/${key.currency}/${key.connector}`,
    status: "",
    at: clockNow(),
    attributes: { ...terms, effective_from: key.effectiveFrom.toISOString(), operator },
  };
}
