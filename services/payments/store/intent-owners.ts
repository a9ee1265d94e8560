// Finds the payment of an intent by the processor's id of the intent, which cannot be edited there.
import { byKey } from "#platform/database/batch.ts";
import type { GroupedSql, Sql } from "#platform/database/database.ts";
import { type Id, isId } from "#platform/values/id.ts";

interface NamedIntent {
  readonly connector: string;
  readonly connectorRef: string;
  /** Metadata at the processor, which others can edit. */
  readonly reference: string;
}

/**
 * Finds the payment of an intent. The reference counts only if no payment or suspense row has the intent.
 * @returns an id that may have no payment; undefined: the intent is not ours
 */
export async function paymentOfIntent(sql: GroupedSql, intent: NamedIntent): Promise<Id<"payment"> | undefined> {
  const owner = (await sql.batched(ownersOfIntents, intent)) ?? intent.reference;
  return isId("payment", owner) ? owner : undefined;
}

/** Payments that have, or had, the intents, or whose suspense rows do. */
async function ownersOfIntents(sql: Sql, intents: readonly NamedIntent[]): Promise<(string | undefined)[]> {
  const input = intents.map(({ connector, connectorRef: ref }, i) => ({ i, connector, ref }));
  const rows = await sql.rows<{ i: number; owner: string | null }>(
    `select g.i, coalesce(p.id, f.id, s.payment_id) as owner
     from jsonb_to_recordset($1) as g (each integer, i integer, connector text, ref text)
     left join payments p on p.connector = g.connector and p.connector_ref = g.ref
     left join payments f on f.former_connector = g.connector and f.former_ref = g.ref
     left join lateral (select payment_id from suspense where connector = g.connector and connector_ref = g.ref
       and kind <> 'second_refund' limit 1) s on true
     where g.each = 1`,
    [byKey(input, "ref")],
  );
  const owners = new Map(rows.map(({ i, owner }) => [i, owner ?? undefined]));
  return intents.map((_, i) => owners.get(i));
}
