// Payments and refunds made straight in the payments database, for tests and the benchmark of lists: thousands of rows
// in a second, spread over time, with every status and card, as the service's own constraints allow them.
import type pg from "pg";
import type { PaymentFilters } from "../../../services/payments/lists/payments.ts";

/** No filter at all. */
export const everything: PaymentFilters = {
  status: "",
  orderReference: "",
  from: undefined,
  to: undefined,
  q: "",
  minAmount: undefined,
  maxAmount: undefined,
  currency: "",
  connector: "",
  capturedFrom: undefined,
  capturedTo: undefined,
};

/** Which rows. */
export interface PaymentRows {
  readonly merchantId: string;
  readonly count: number;
  /** The rows' times are spread evenly over this number of days before `until`. */
  readonly days: number;
  readonly until: Date;
  /** Distinguishes rows of several calls for a merchant. */
  readonly batch: number;
}

// Three decades of amounts with a fifth of the payments at favourite prices, every last4; one payment in 20 failed,
// one in 101 under way, one in 50 refunded (a third of them at the second try), one in 997 disputed. Half of the
// payments are of 150,000 returning buyers (`buyer123@…`), half of buyers who come once or twice, named by one of 24
// first names, 50 last names and up to four digits. A tenth is in dollars, one in 5,000 in dinars; a ninth goes through
// another connector; three quarters have an order number, an eighth one of its day; captures come up to two hours
// later, one in 499 by a clock that is two days behind.
const rowsText = `
  with numbered as (
    select i, $4::timestamptz - make_interval(secs => $3::float8 * 86400 * (i + 0.5) / $2::float8) as at,
      abs(hashint8extended(i, $5::bigint) % 1000000007) as h
    from generate_series(0, $2::bigint - 1) as i),
  facts as (
    select i, at, h,
      case when h % 20 = 3 then 'failed' when h % 101 = 2 then 'processing' else 'succeeded' end as outcome,
      case when h % 5 = 0 then (array[999, 1999, 4999])[1 + h / 5 % 3]
        else (10 ^ (2 + 3 * (h / 7 % 100000) / 100000.0))::bigint end as amount
    from numbered),
  made as (
  insert into payments (id, merchant_id, environment, amount, currency, order_reference, customer_email, connector, connector_account_id,
    connector_ref, surface, outcome, captured_amount, refunded_amount, dispute_hold, disputed_amount, visible,
    card_brand, card_last4, card_funding, authorized_at, captured_at, created_at, expires_at)
  select 'pay_0' || lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || left(md5($5 || $1 || i), 13),
    $1, 1, amount, case when h % 10 = 4 then 'USD' when h % 5000 = 7 then 'KWD' else 'EUR' end,
    case when h % 4 < 3 then 'order-' || h % 5000000 when h % 8 = 3 then to_char(at at time zone 'UTC', '"R"YYYYMMDD"-"') || h % 1000 else '' end,
    case when h / 11 % 2 = 0 then 'buyer' || h % 50000
      else (array['anna','ben','clara','david','emma','felix','greta','hugo','ines','jonas','karla','leon','maria','nils','olga','paul',
          'rosa','simon','tina','uwe','vera','willem','yara','zoe'])[1 + h / 22 % 24] || '.' ||
        (array['almeida','bauer','costa','dubois','evans','ferrari','garcia','hansen','ivanov','jansen','keller','lopez','martin','novak',
          'olsen','peters','quinn','rossi','schmidt','taylor','ueda','vargas','weber','young','ziegler','andersson','becker','carvalho',
          'dias','esposito','fischer','gomes','hughes','ito','jensen','kowalski','lehmann','meyer','nguyen','oliveira','pereira',
          'ricci','silva','tanaka','unger','vogel','wagner','yilmaz','zimmer','smith'])[1 + h / 528 % 50] || h / 26400 % 10000 end
      || '@' || (array['mail.example', 'post.example', 'inbox.test'])[1 + h % 3],
    case when h % 9 = 2 then 'stripe' else 'simulator' end, 'mco_rows', 'pi_' || $1 || '_' || $5 || '_' || i, 'embedded', outcome,
    case when paid then amount else 0 end, case when paid and h % 50 = 1 then amount else 0 end,
    case when paid and h % 997 = 0 then 'open' else 'none' end, case when paid and h % 997 = 0 then amount else 0 end,
    true, 'visa', lpad((h / 3 % 10000)::text, 4, '0'), 'credit', case when paid then at end,
    case when paid then at + make_interval(hours => case when h % 499 = 5 then -48 else h::int % 3 end) end, at,
    at + interval '1 day'
  from facts, lateral (select outcome = 'succeeded' as paid) p
  returning id, merchant_id, environment, currency, refunded_amount, connector, created_at)
  insert into refunds (id, payment_id, merchant_id, environment, currency, amount, status, connector, connector_ref, created_at)
  select 're_' || substr(id, 5), id, merchant_id, environment, currency, refunded_amount, 'succeeded', connector, 're_' || id,
    created_at + interval '1 hour'
  from made where refunded_amount > 0
  union all
  select 're_1' || substr(id, 6), id, merchant_id, environment, currency, refunded_amount, 'failed', connector, 'rf_' || id,
    created_at + interval '30 minutes'
  from made where refunded_amount > 0 and hashtext(id) % 3 = 0`;

/** Inserts the payments, and a refund of each that is refunded, in one statement. */
export async function insertPaymentRows(client: pg.Client | pg.Pool, rows: PaymentRows): Promise<void> {
  const { merchantId, count, days, until, batch } = rows;
  await client.query(rowsText, [merchantId, count, days, until.toISOString(), String(batch)]);
}
