// Reads refunds with their intents, as the API shows them.
import type { Refund } from "../rules/intent.ts";
import type { Db } from "./pool.ts";

/** A refund, and the end of the outage of its intent. */
type FoundRefund = Refund & { readonly outage_until: string | null; readonly intent_reference: string };

const selectSql = `select r.*, i.outage_until, i.reference as intent_reference
  from refunds r join intents i on i.id = r.intent_id`;

export async function findRefund(db: Db, account: string, id: string): Promise<FoundRefund | undefined> {
  const { rows } = await db.query<StoredRefund>({
    name: "find-refund",
    text: `${selectSql} where r.id = $1 and r.account = $2 and i.lost_at is null`,
    values: [id, account],
  });
  return rows[0] && fromRow(rows[0]);
}

const sameReferenceMax = 100; // a caller makes one, or two by mistake

export async function findRefundsByReference(db: Db, account: string, reference: string): Promise<FoundRefund[]> {
  const { rows } = await db.query<StoredRefund>({
    name: "find-refunds-by-reference",
    text: `${selectSql} where r.account = $1 and r.reference = $2 and i.lost_at is null
      order by r.created_at, r.id limit ${sameReferenceMax}`,
    values: [account, reference],
  });
  return rows.map(fromRow);
}

type TimeColumn = "created_at" | "moved_at" | "outage_until";
type StoredRefund = Omit<FoundRefund, TimeColumn> & { created_at: Date; moved_at: Date; outage_until: Date | null };

function fromRow(row: StoredRefund): FoundRefund {
  return {
    ...row,
    created_at: row.created_at.toISOString(),
    moved_at: row.moved_at.toISOString(),
    outage_until: row.outage_until ? row.outage_until.toISOString() : null,
  };
}
