// Finds the payment of an intent by the processor's id of the intent, which cannot be edited there.
import { byKey } from "#platform/database/batch.ts";
import type { GroupedSql, Sql } from "#platform/database/database.ts";
import { type Id, isId } from "#platform/values/id.ts";

export interface NamedIntent {
  readonly connector: string;
  readonly connectorRef: string;
  /** Metadata at the processor, which others can edit. */
  readonly reference: string;
}

/** A payment, or an id that may have none. */
interface IntentOwner {
  readonly paymentId: Id<"payment">;
  readonly isArchived: boolean;
}

/**
 * Finds the payment of an intent. The reference counts only if no payment or suspense row has the intent.
 * @returns undefined: the intent is not ours
 */
export async function ownerOfIntent(sql: GroupedSql, intent: NamedIntent): Promise<IntentOwner | undefined> {
  const { owner, archived } = await sql.batched(ownersOfIntents, intent);
  const paymentId = owner ?? archived ?? intent.reference;
  return isId("payment", paymentId) ? { paymentId, isArchived: paymentId === archived } : undefined;
}

type OwnerRow = Readonly<Record<"owner" | "archived", string | null>>;

/** Payments that have, or had, the intents, or whose suspense rows do. */
async function ownersOfIntents(sql: Sql, intents: readonly NamedIntent[]): Promise<OwnerRow[]> {
  const input = intents.map(({ connector, connectorRef: ref }, i) => ({ i, connector, ref }));
  const rows = await sql.rows<OwnerRow & { i: number }>(
    `select g.i, coalesce(p.id, f.id, s.payment_id) as owner, k.payment_id as archived
     from jsonb_to_recordset($1) as g (each integer, i integer, connector text, ref text)
     left join payments p on p.connector = g.connector and p.connector_ref = g.ref
     left join payments f on f.former_connector = g.connector and f.former_ref = g.ref
     left join lateral (select payment_id from suspense where connector = g.connector and connector_ref = g.ref
       and kind <> 'second_refund' limit 1) s on true
     left join archived_keys k on k.key = 'intent ' || g.connector || ' ' || g.ref
     where g.each = 1`,
    [byKey(input, "ref")],
  );
  const owners = new Map(rows.map((row) => [row.i, row]));
  return intents.map((_, i) => owners.get(i) ?? { owner: null, archived: null });
}

/** The payment of an archived refund. */
export async function paymentOfArchivedRefund(sql: Sql, refundId: string): Promise<string | undefined> {
  const [row] = await sql.rows<{ payment_id: string }>(
    "select payment_id from archived_keys where key = 'refund ' || $1",
    [refundId],
  );
  return row?.payment_id;
}
