// The money at the processors at the end of a run: the ledger has each processor's balance, every payment is cleared,
// and each payout is the sum of its movements.
import type { MoneyRig } from "./money-rig.ts";

interface Account {
  readonly id: string;
  readonly connector: string;
  readonly external_account_id: string;
}

/** One line per difference. Makes every account's next reading due. */
export async function balanceDifferences(rig: MoneyRig): Promise<string[]> {
  const accounts = (await rig.merchant.get("/v1/merchants/me/connectors")).expect(200).list("data") as Account[];
  const found = [
    ...(await Promise.all(accounts.map((account) => atProcessor(rig, account)))).flat(),
    ...(await uncleared(rig, accounts)),
    ...(await unexplainedPayouts(rig, accounts)),
  ];
  if (found.length > 0) await rig.books.payments.rows("update movement_cursors set due_at = least(due_at, now())");
  return found;
}

/** The processor's balance of an account, against the ledger. */
async function atProcessor(rig: MoneyRig, account: Account): Promise<string[]> {
  const { id, connector, external_account_id: external } = account;
  const theirs = connector === "simulator" ? await simulatorBalance(rig, external) : stripeBalance(rig, external);
  if (theirs === undefined) return [];
  const rows = await rig.books.payments.rows<{ currency: string; amount: string }>(
    `select currency, sum(case 'processor_balance' when debit then amount when credit then -amount else 0 end)::text as amount
     from ledger where connector_account_id = $1 group by currency`,
    [id],
  );
  const ours = new Map(rows.map(({ currency, amount }) => [currency, Number(amount)]));
  return [...new Set([...theirs.keys(), ...ours.keys()])].flatMap((currency) => {
    const [own, real] = [ours.get(currency) ?? 0, theirs.get(currency) ?? 0];
    return own === real ? [] : [`${id}: processor_balance is ${own} ${currency}, the processor has ${real}`];
  });
}

async function simulatorBalance({ books }: MoneyRig, account: string): Promise<ReadonlyMap<string, number>> {
  const rows = await books.simulator.rows<{ currency: string; net: string }>(
    "select currency, sum(amount - fee)::text as net from movements where account = $1 group by currency",
    [account],
  );
  return new Map(rows.map(({ currency, net }) => [currency, Number(net)]));
}

/** undefined: another account's, or none. */
function stripeBalance({ stripe }: MoneyRig, account: string): ReadonlyMap<string, number> | undefined {
  if (stripe?.account.id !== account) return undefined;
  const sums = new Map<string, number>();
  for (const { currency, net } of stripe.account.movements) {
    const name = currency.toUpperCase();
    sums.set(name, (sums.get(name) ?? 0) + net);
  }
  return sums;
}

/**
 * Payments whose bookings and movements differ, unless a dispute, a refund or an operator's decision is awaited, or an
 * operator closed unexpected funds that are disputed: the operators' list has those.
 */
async function uncleared(rig: MoneyRig, accounts: readonly Account[]): Promise<string[]> {
  const rows = await rig.books.payments.rows<{ id: string; currency: string; left: string }>(
    `with line as (
       select payment_id, currency, case debit when 'processor_clearing' then amount else -amount end as amount from ledger
       where 'processor_clearing' in (debit, credit)),
     sums as (select payment_id, currency, sum(amount) as amount from line group by payment_id, currency having sum(amount) <> 0)
     select coalesce(s.payment_id, '') as id, s.currency, s.amount::text as left from sums s join payments p on p.id = s.payment_id
     where p.connector_account_id = any($1)
       and not exists (select from disputes d where d.payment_id = p.id and d.status in ('needs_response', 'under_review'))
       and not exists (select from suspense u where u.payment_id = p.id and (u.state <> 'closed' or (u.resolution = 'closed'
         and exists (select from movements m where m.payment_id = p.id and m.type = 'dispute'))))
       and not exists (select from refunds r where r.payment_id = p.id and r.status = 'pending')`,
    [accounts.map(({ id }) => id)],
  );
  return rows.map(({ id, currency, left }) => `${id}: ${left} ${currency} left in processor_clearing`);
}

async function unexplainedPayouts(rig: MoneyRig, accounts: readonly Account[]): Promise<string[]> {
  const rows = await rig.books.payments.rows<{ id: string; amount: string; lines: string | null }>(
    `select p.id, p.amount::text, (select sum(net) from movements m where m.payout_id = p.id)::text as lines from payouts p
     where p.connector_account_id = any($1) and p.status = 'paid'`,
    [accounts.map(({ id }) => id)],
  );
  return rows.flatMap(({ id, amount, lines }) =>
    amount === lines ? [] : [`${id}: a payout of ${amount} has transactions of ${lines}`],
  );
}
