// The routings table: at most one row per merchant and environment.
import type { Sql, Tx } from "#platform/database/database.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Routing } from "../rules/routing.ts";

/** Columns of `merchants m left join routings r`. Without a row the merchant's failover setting applies. */
export const routingColumns = `coalesce(r.rules, '[]') as rules, coalesce(r.version, 0) as version,
  coalesce(r.decline_codes, '{}') as "declineCodes",
  coalesce(r.on_outage, case when m.failover_enabled then 'next' else 'stop' end) as "onOutage"`;

/** undefined: there is no such merchant. */
export async function findRouting(
  sql: Sql,
  merchantId: string,
  environment: Environment,
): Promise<Routing | undefined> {
  const [row] = await sql.rows<Routing>(
    `select ${routingColumns} from merchants m
     left join routings r on r.merchant_id = m.id and r.environment = $2 where m.id = $1`,
    [merchantId, environment],
  );
  return row;
}

/** The caller holds the merchant's lock and has compared the version. */
export async function saveRouting(
  tx: Tx,
  merchantId: string,
  environment: Environment,
  { rules, onOutage, declineCodes, version }: Routing,
): Promise<void> {
  await tx.rows(
    `insert into routings (merchant_id, environment, rules, on_outage, decline_codes, version)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (merchant_id, environment) do update set rules = excluded.rules, on_outage = excluded.on_outage,
       decline_codes = excluded.decline_codes, version = excluded.version`,
    [merchantId, environment, JSON.stringify(rules), onOutage, [...declineCodes], version],
  );
}

/** For the operators' failover switch, in both environments. */
export async function setOnOutage(tx: Tx, merchantId: string, onOutage: Routing["onOutage"]): Promise<void> {
  await tx.rows(
    `update routings set on_outage = $2, version = version + 1 where merchant_id = $1 and on_outage <> $2`,
    [merchantId, onOutage],
  );
}
