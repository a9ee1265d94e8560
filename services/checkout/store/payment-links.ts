// The payment_links table. Uses are counted from the sessions of a link, so that no counter can differ from them.

import { asJson } from "#platform/database/batch.ts";
import {
  bigint,
  Columns,
  integer,
  optionalColumn,
  type RowOf,
  sqlColumn,
  text,
  time,
} from "#platform/database/columns.ts";
import type { Sql } from "#platform/database/database.ts";
import type { Id } from "#platform/values/id.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { lineColumns } from "./new-sessions.ts";
import type { Owner } from "./session-lists.ts";

const linkColumns = new Columns({
  id: sqlColumn<Id<"paymentLink">>("text"),
  merchantId: text,
  environment: sqlColumn<Environment>("smallint"),
  status: sqlColumn<"active" | "closed">("text"),
  currency: text,
  amountMin: bigint,
  amountMax: bigint,
  description: text,
  orderReference: text,
  customerEmail: text,
  captureMethod: text,
  locale: text,
  usesMax: optionalColumn(integer),
  expiresAt: optionalColumn(time),
  createdBy: text,
  createdAt: time,
});

export type NewLink = RowOf<typeof linkColumns> & RowOf<typeof lineColumns>;

/** With its uses, each counted up to `usesCounted`. */
export interface StoredLink extends NewLink {
  readonly paid: number;
  readonly pending: number;
}

/** More than any limit of a link. */
export const usesCounted = 10_000;

interface LinkRow {
  readonly paid: number;
  readonly pending: number;
}

const count = (statuses: string) =>
  `(select count(*)::int from (select from sessions s where s.payment_link_id = l.id and s.payment_link_id <> ''
     and s.status in (${statuses}) limit ${usesCounted}) counted)`;
const storedColumns = `${linkColumns.names("l")}, ${lineColumns.names("l")},
  ${count("'completed'")} as paid, ${count("'open', 'processing'")} as pending`;

export async function insertLink(sql: Sql, link: NewLink): Promise<void> {
  const names = `${linkColumns.names()}, ${lineColumns.names()}`;
  await sql.rows(
    `insert into payment_links (${names})
     select ${names} from jsonb_to_recordset($1) as r (${linkColumns.types}, ${lineColumns.types})`,
    [asJson([{ ...linkColumns.write(link), ...lineColumns.write(link) }])],
  );
}

export async function findLink(sql: Sql, id: Id<"paymentLink">): Promise<StoredLink | undefined> {
  const [row] = await sql.rows<LinkRow>(`select ${storedColumns} from payment_links l where l.id = $1`, [id]);
  return row && linkOf(row);
}

/** Until the transaction ends, no other one reserves a use. The next statement sees earlier reservations. */
export async function lockLink(sql: Sql, id: Id<"paymentLink">): Promise<void> {
  await sql.rows("select from payment_links where id = $1 for update", [id]);
}

export interface LinkFilter extends Owner {
  /** Exact; empty: all. */
  readonly status: string;
  /** The whole id, or a part of reference, e-mail or description, in any case; empty: no search. */
  readonly q: string;
  /** Only links before this one; empty: from the newest. */
  readonly afterId: string;
}

/** Newest first. */
export async function listLinks(sql: Sql, filter: LinkFilter, limit: number): Promise<StoredLink[]> {
  const { merchantId, environment, status, q, afterId } = filter;
  const rows = await sql.rows<LinkRow>(
    `select ${storedColumns} from payment_links l
     where l.merchant_id = $1 and l.environment = $2 and ($3 = '' or l.status = $3) and ($4 = '' or l.id < $4)
       and ($5 = '' or l.id = $5 or position(lower($5) in
         lower(l.order_reference || chr(10) || l.customer_email || chr(10) || l.description)) > 0)
     order by l.id desc limit $6`,
    [merchantId, environment, status, afterId, q, limit],
  );
  return rows.map(linkOf);
}

/** @returns false if the link was closed before */
export async function closeStoredLink(sql: Sql, id: Id<"paymentLink">): Promise<boolean> {
  const rows = await sql.rows(
    "update payment_links set status = 'closed' where id = $1 and status = 'active' returning id",
    [id],
  );
  return rows.length > 0;
}

/** The newest session of a link that may still be paid. */
export async function findLiveSession(sql: Sql, id: Id<"paymentLink">): Promise<Id<"session"> | undefined> {
  const [row] = await sql.rows<{ id: Id<"session"> }>(
    `select s.id from sessions s where s.payment_link_id = $1 and s.payment_link_id <> ''
       and s.status in ('open', 'processing') order by s.id desc limit 1`,
    [id],
  );
  return row?.id;
}

function linkOf(row: LinkRow): StoredLink {
  return { ...linkColumns.read(row), ...lineColumns.read(row), paid: row.paid, pending: row.pending };
}
