// Finds payments by their buyer's e-mail, and erases personal data by the function `erase_payments`
// (schema/0046-erasure.sql). Ends the fingerprints of cards: the retention_cursor table has the last payment without.
import type { Database, Sql, Tx } from "#platform/database/database.ts";
import { clockMs } from "#platform/values/clock.ts";
import { idFloor } from "#platform/values/id.ts";
import type { Owner } from "./payment-records.ts";
import { dropFingerprints } from "./payments.ts";
import { dropAliases } from "./processor/notices.ts";

export interface BuyerPayment {
  readonly id: string;
  /** It has an open dispute. */
  readonly disputed: boolean;
}

const isDisputed = `exists (select from disputes d where d.payment_id = p.id
  and d.status in ('warning_needs_response', 'warning_under_review', 'needs_response', 'under_review'))`;

/**
 * Payments that are not erased, newest first.
 * @param email in any case; empty: only by id
 */
export async function findBuyerPayments(
  sql: Sql,
  owner: Owner,
  email: string,
  ids: readonly string[],
  limit: number,
): Promise<BuyerPayment[]> {
  return await sql.rows<BuyerPayment>(
    `select p.id, ${isDisputed} as disputed from payments p
     where p.merchant_id = $1 and p.environment = $2 and p.erased_at is null and p.id in (
       select unnest($4::text[])
       union all
       select s.id from payments s where s.merchant_id = $1 and s.environment = $2 and s.visible and s.customer_email <> ''
         and s.customer_email in (select e.email from customer_emails e
           where e.merchant_id = $1 and e.environment = $2 and lower(e.email) = lower($3) and $3 <> '')
       union all
       select u.id from payments u where u.merchant_id = $1 and u.environment = $2 and not u.visible and u.customer_email <> ''
         and lower(u.customer_email) = lower($3))
     order by p.id desc limit $5`,
    [owner.merchantId, owner.environment, email, ids, limit],
  );
}

/** Locks the owner's payments until the transaction ends, in the order of ids. @returns their ids */
export async function lockOwnPayments(tx: Tx, owner: Owner, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select id from payments where id = any($3::text[]) and merchant_id = $1 and environment = $2 order by id for update`,
    [owner.merchantId, owner.environment, ids],
  );
  return rows.map(({ id }) => id);
}

/** Those with an open dispute, or with an order that may still be sent to the processor. */
export async function blockedPayments(tx: Tx, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.rows<{ id: string }>(
    `select p.id from payments p where p.id = any($1::text[]) and (${isDisputed}
       or exists (select from operations o where o.payment_id = p.id and o.sealed_order is not null))`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** @returns the payments that were not erased before; `session_id` null: without a session */
export async function erasePayments(
  tx: Tx,
  ids: readonly string[],
  keepsCard: boolean,
): Promise<{ readonly id: string; readonly session_id: string | null; readonly visible: boolean }[]> {
  return await tx.rows("select id, session_id, visible from erase_payments($1, $2)", [ids, keepsCard]);
}

const dayMs = 86_400_000;
const batchMax = 1_000;

/**
 * Removes card fingerprints of one batch of payments that are older; replicas take turns. A payment's version and the
 * time of its last change stay. A run without work reads the cursor and one page of an index.
 * @returns how many payments were read
 */
export async function endFingerprints(db: Database, days: number): Promise<number> {
  return await db.transaction(async (tx) => {
    const [cursor] = await tx.rows<{ after: string }>("select after from retention_cursor for update skip locked");
    const end = idFloor("payment", clockMs() - days * dayMs);
    // A longer setting than before.
    if (!cursor || end <= cursor.after) return 0;
    const { after } = cursor;
    const page = await tx.rows<{ id: string }>(
      `select id from payments where id > $1 and id < $2 order by id limit ${batchMax}`,
      [after, end],
    );
    const last = page[batchMax - 1]?.id ?? end;
    await tx.rows("update retention_cursor set after = $1", [last]);
    await dropFingerprints(
      tx,
      page.map(({ id }) => id),
    );
    // Also of payments that were archived before.
    await dropAliases(tx, after, last);
    return page.length;
  });
}
