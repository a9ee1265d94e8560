// Erases the personal data of payments, in batches of ONE transaction each: lock, leave out those whose data is still
// needed, erase, announce. `payment.erased` lets the other services erase their copies, also after a restore.
import type { Database } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { clockNow } from "#platform/values/clock.ts";
import { blockedPayments, erasePayments, lockOwnPayments } from "../store/erasure.ts";
import type { Owner } from "../store/payment-records.ts";

export interface ErasureDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  /** Keeps brand, last digits and expiry of the card, and the last digits of a bank account. */
  readonly keepsCard: boolean;
}

const batchMax = 50;

export async function eraseBuyerData(
  { db, outbox, keepsCard }: ErasureDeps,
  owner: Owner,
  paymentIds: readonly string[],
): Promise<{ erased: number; blockedIds: string[] }> {
  const blockedIds: string[] = [];
  let erased = 0;
  for (let from = 0; from < paymentIds.length; from += batchMax) {
    await db.transaction(async (tx) => {
      const own = await lockOwnPayments(tx, owner, paymentIds.slice(from, from + batchMax));
      const blocked = await blockedPayments(tx, own);
      blockedIds.push(...blocked);
      const rows = await erasePayments(
        tx,
        own.filter((id) => !blocked.includes(id)),
        keepsCard,
      );
      erased += rows.length;
      const { merchantId, environment } = owner;
      await outbox.append(
        tx,
        rows.map(({ id, session_id, visible }) => ({
          ...{ type: "payment.erased", merchantId, environment, objectId: id, status: "erased", at: clockNow() },
          // Deliveries about a session name its payment only after an attempt.
          attributes: session_id === null ? {} : { session_id, attempted: String(visible) },
        })),
      );
    });
    outbox.wake();
  }
  return { erased, blockedIds };
}
