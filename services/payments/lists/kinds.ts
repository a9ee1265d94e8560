// Which currencies and connectors a merchant's payments have, from the names of their counts (`payments/EUR/stripe`):
// few, however many payments there are.
import type { Sql } from "#platform/database/database.ts";
import type { Owner } from "../store/payment-records.ts";
import type { Kind, PlainFilters } from "./conditions.ts";

/** Those that the filters leave; undefined: the filters ask about none of it. */
export async function findKinds(sql: Sql, owner: Owner, filters: PlainFilters): Promise<readonly Kind[] | undefined> {
  const { currency, connector, capturedFrom, capturedTo } = filters;
  if (currency === "" && connector === "" && !capturedFrom && !capturedTo) return undefined;
  return (await kindsOf(sql, owner)).filter(
    (kind) => (currency === "" || kind.currency === currency) && (connector === "" || kind.connector === connector),
  );
}

/** All of the owner's. */
export async function kindsOf(sql: Sql, owner: Owner): Promise<readonly Kind[]> {
  // By jumps from one name to the next over the counts' index; what is not folded yet is short.
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
