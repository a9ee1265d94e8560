// Sums the last days of all merchants in one currency, from the same counts as a merchant's overview (overview.ts): its
// time depends on the number of merchants and days, not of payments.
import type { Database, Sql } from "#platform/database/database.ts";
import { paid, unpaid } from "./overview.ts";

/** Amounts are minor units. */
interface Figures {
  capturedCount: bigint;
  capturedAmount: bigint;
  refundCount: bigint;
  refundedAmount: bigint;
  paidCount: bigint;
  unpaidCount: bigint;
  disputeCount: bigint;
  disputedAmount: bigint;
}

interface InstallationOverview {
  readonly currency: string;
  readonly currencies: string[];
  readonly total: Figures;
  readonly merchants: { readonly merchantId: string; readonly figures: Figures }[];
  readonly connectors: { readonly connector: string; readonly figures: Figures }[];
}

interface Scope {
  readonly environment: number;
  /** The first day, as `2026-11-25`. */
  readonly from: string;
  readonly currency: string;
}

const merchantsMax = 50;
const ownNames = ["paidCount", "unpaidCount", "disputeCount", "disputedAmount"] as const;

/** @param currency empty: the one with the most captured payments @returns one snapshot */
export async function readInstallationOverview(
  db: Pick<Database, "snapshot">,
  { environment, days, currency: wanted }: { environment: number; days: number; currency: string },
): Promise<InstallationOverview> {
  return await db.snapshot(async (sql) => {
    const [bounds] = await sql.rows<{ first: string }>(
      `select ((now() at time zone 'UTC')::date - $1::int + 1)::text as first`,
      [days],
    );
    if (!bounds) throw new Error("the database does not know the day");
    const currencies = await readCurrencies(sql, environment, bounds.first);
    const currency = wanted || (currencies[0] ?? "");
    const scope = { environment, from: bounds.first, currency };
    const [merchants, connectors] = [new Map<string, Figures>(), new Map<string, Figures>()];
    const total = noFigures();
    for (const { merchantId, ...money } of await readMoney(sql, scope)) {
      Object.assign(merchantId === null ? total : figuresOf(merchants, merchantId), asCounts(money));
    }
    const top = [...merchants.keys()];
    const counted = [...(await readEnds(sql, scope, top)), ...(await readDisputes(sql, scope, top))];
    for (const { merchantId, connector, ...counts } of counted) {
      const figures = asCounts(counts);
      if (merchantId !== null) Object.assign(figuresOf(merchants, merchantId), figures);
      if (connector === null) continue;
      Object.assign(figuresOf(connectors, connector), figures);
      // Each payment and each dispute has one processor.
      for (const name of ownNames) total[name] += figures[name] ?? 0n;
    }
    return {
      ...{ currency, currencies, total },
      merchants: [...merchants].map(([merchantId, figures]) => ({ merchantId, figures })),
      connectors: [...connectors].sort().map(([connector, figures]) => ({ connector, figures })),
    };
  });
}

const moneyText = `
  select merchant_id, currency, kind, n, amount from money_days
  where environment = $1 and day >= $2 and kind in ('captured', 'refunded')
  union all
  select merchant_id, currency, kind, n, amount from money_deltas
  where environment = $1 and at >= $2::date::timestamp at time zone 'UTC'`;

async function readCurrencies(sql: Sql, environment: number, from: string): Promise<string[]> {
  const rows = await sql.rows<{ currency: string }>(
    `select currency from (${moneyText}) parts group by 1 having bool_or(n <> 0)
     order by sum(n) filter (where kind = 'captured') desc nulls last, 1`,
    [environment, from],
  );
  return rows.map(({ currency }) => currency);
}

/** Values of the named figures, int8 as text. */
type Counts = Partial<Record<keyof Figures, string>>;

/** The merchants with the largest captured amount, and the sum of all as that of no merchant. */
async function readMoney(sql: Sql, { environment, from, currency }: Scope) {
  return await sql.rows<Counts & { merchantId: string | null }>(
    `select merchant_id as "merchantId",
       coalesce(sum(n) filter (where kind = 'captured'), 0)::text as "capturedCount",
       coalesce(sum(amount) filter (where kind = 'captured'), 0)::text as "capturedAmount",
       coalesce(sum(n) filter (where kind = 'refunded'), 0)::text as "refundCount",
       coalesce(sum(amount) filter (where kind = 'refunded'), 0)::text as "refundedAmount"
     from (${moneyText}) parts where currency = $3 group by rollup (merchant_id)
     order by merchant_id is not null, coalesce(sum(amount) filter (where kind = 'captured'), 0) desc, 1 limit $4`,
    [environment, from, currency, merchantsMax + 1],
  );
}

interface GroupedCounts extends Counts {
  /** One of both is null: rows are of a merchant or of a processor. */
  readonly merchantId: string | null;
  readonly connector: string | null;
}

/** Paid and unpaid payments by day of creation, of the merchants and by processor. */
async function readEnds(sql: Sql, { environment, from, currency }: Scope, merchantIds: readonly string[]) {
  return await sql.rows<GroupedCounts>(
    `select merchant_id as "merchantId", split_part(list, '/', 3) as connector,
       coalesce(sum(n) filter (where status = any ($4)), 0)::text as "paidCount",
       coalesce(sum(n) filter (where status = any ($5)), 0)::text as "unpaidCount"
     from (
       select merchant_id, list, status, n from list_counts
       where environment = $1 and starts >= $2 and grain = 'day' and list like 'payments/%'
       union all
       select merchant_id, list, status, n from list_deltas
       where environment = $1 and at >= $2::date::timestamp at time zone 'UTC' and list like 'payments/%') parts
     where split_part(list, '/', 2) = $3 group by grouping sets ((merchant_id), (split_part(list, '/', 3)))
     having merchant_id is null or merchant_id = any ($6)`,
    [environment, from, currency, paid, unpaid, merchantIds],
  );
}

/** Disputes that were opened, of the merchants and by processor. */
async function readDisputes(sql: Sql, { environment, from, currency }: Scope, merchantIds: readonly string[]) {
  return await sql.rows<GroupedCounts>(
    `select merchant_id as "merchantId", connector, count(*)::text as "disputeCount", sum(amount)::text as "disputedAmount"
     from disputes where environment = $1 and opened_at >= $2::date::timestamp at time zone 'UTC' and currency = $3
       and status not like 'warning\\_%'
     group by grouping sets ((merchant_id), (connector)) having merchant_id is null or merchant_id = any ($4)`,
    [environment, from, currency, merchantIds],
  );
}

function asCounts(counts: Counts): Partial<Figures> {
  return Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, BigInt(n)]));
}

function figuresOf(all: Map<string, Figures>, id: string): Figures {
  const figures = all.get(id) ?? noFigures();
  all.set(id, figures);
  return figures;
}

function noFigures(): Figures {
  return {
    ...{ capturedCount: 0n, capturedAmount: 0n, refundCount: 0n, refundedAmount: 0n },
    ...{ paidCount: 0n, unpaidCount: 0n, disputeCount: 0n, disputedAmount: 0n },
  };
}
