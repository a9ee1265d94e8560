// `npm run bench -- balance`: how long a balance takes, now and at any earlier moment, over a merchant's millions of
// movements, and how long a page of balance transactions with its sums.
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { printHelpIfRequested } from "../../deploy/local/options.ts";
import { listTransactions, readBalance } from "../../services/payments/lists/balance.ts";
import { Random } from "../chaos/random.ts";
import { freshDatabase, openDatabase } from "../harness/database.ts";
import { optionsOf } from "../harness/options.ts";
import { connectSuperuser } from "./statistics.ts";

printHelpIfRequested(`npm run bench -- balance [--rows N] [--days N]

  --rows  movements of the merchant, 1,000 to 20,000,000; default 10,000,000
  --days  over which they are spread, 1 to 4,000; default 1,000`);
const { rows, days } = optionsOf({
  rows: { fallback: 10_000_000, least: 1_000, most: 20_000_000 },
  days: { fallback: 1_000, least: 1, most: 4_000 },
});

const insertedAtOnce = 500_000;
const reads = 300;
const merchantId = "mer_01jd3v9q6k8m2n4p6r8t0v2x4z";
const owner = { merchantId, environment: Environment.SANDBOX };

const made = await freshDatabase("payments");
const db = await openDatabase(made.url);
const writer = await connectSuperuser(made.url);
for (let from = 0; from < rows; from += insertedAtOnce) {
  const to = Math.min(rows, from + insertedAtOnce);
  await writer.query(
    `insert into movements (id, merchant_id, environment, connector_account_id, ref, type, currency, amount, fee, is_ours, occurred_at,
       available_at)
     select 'txn_' || lpad(n::text, 26, '0'), $1, 1, 'mco_bench', 'r' || n,
       (array['capture', 'capture', 'capture', 'refund', 'processor_fee'])[1 + n % 5], (array['EUR', 'EUR', 'USD'])[1 + n % 3],
       case when n % 5 = 3 then -1 else 1 end * (100 + n % 9000), n % 60, true, at, at + interval '2 days'
     from generate_series($2::bigint, $3::bigint) as n, lateral (select now() - make_interval(secs => $4::float8 * n / $5::float8) as at) t`,
    [merchantId, from, to - 1, days * 86_400, rows],
  );
  console.log(`${to} movements`);
}
await writer.query("vacuum analyze movements");
await writer.end();

const random = new Random(1);
const moment = () => new Date(Date.now() - random.int(0, days * 86_400) * 1_000);
const filters = { type: "", currency: "", paymentId: "", refundId: "", disputeId: "", payoutId: "" };
const day = () => {
  const from = moment();
  return { ...filters, from, to: new Date(from.getTime() + 86_400_000) };
};
await measure("balance now", () => readBalance(db, owner, undefined));
await measure("balance at any moment", () => readBalance(db, owner, moment()));
await measure("a day's transactions with sums", () => listTransactions(db, owner, day(), { limit: 50, offset: 0n }));
await made.drop();
process.exit();

async function measure(name: string, read: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  for (let i = 0; i < reads + 20; i++) {
    const startedAt = performance.now();
    await read();
    // The first ones fill caches.
    if (i >= 20) times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1);
  console.log(`${name.padEnd(32)} p50 ${at(0.5)} ms · p99 ${at(0.99)} ms`);
}
