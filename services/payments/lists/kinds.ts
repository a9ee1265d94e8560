// Finds the currencies and connectors of a merchant's payments by the names of their counts (`payments/EUR/stripe`), of
// which there are few.
import type { Sql } from "#platform/database/database.ts";
import type { Owner } from "../store/payment-records.ts";
import type { Kind, PlainFilters } from "./conditions.ts";

/** Kinds that match the filters; undefined: the filters do not need kinds. */
export async function findKinds(sql: Sql, owner: Owner, filters: PlainFilters): Promise<readonly Kind[] | undefined> {
  const { currency, connector, capturedFrom, capturedTo } = filters;
  if (currency === "" && connector === "" && !capturedFrom && !capturedTo) return undefined;
  return (await kindsOf(sql, owner)).filter(
    (kind) => (currency === "" || kind.currency === currency) && (connector === "" || kind.connector === connector),
  );
}

export async function kindsOf(sql: Sql, owner: Owner): Promise<readonly Kind[]> {
  // Jumps from name to name in the index of the counts; the changes that are not folded yet are few.
  const rows = await sql.rows<{ list: string }>(
    `with recursive jump as (
       select (select min(list) from list_counts where merchant_id = $1 and environment = $2) as list
       union all
       select (select min(list) from list_counts where merchant_id = $1 and environment = $2 and list > jump.list)
       from jump where jump.list is not null)
     select list from jump where list like 'payments/%'
     union
     select list from list_deltas where merchant_id = $1 and environment = $2 and list like 'payments/%'`,
    [owner.merchantId, owner.environment],
  );
  return rows.map(({ list }) => list.split("/")).map(([, currency = "", connector = ""]) => ({ currency, connector }));
}
