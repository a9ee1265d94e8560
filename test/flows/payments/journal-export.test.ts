// Guarantees of the ledger and its export: hledger accepts it, and for every account and currency at three moments it
// has the balance of the trial balance and of the auditor's own computation.
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { connectPeer } from "#platform/rpc/client.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { LedgerService, type TrialBalanceLine } from "#proto/payments/v1/ledger_pb.ts";
import {
  auditLedger,
  ledgerAccounts,
  movementAccounts,
  recomputeLedger,
} from "../../../services/payments/audit/ledger.ts";
import { majorUnits } from "../../../services/public-json/csv.ts";
import { openDatabase } from "../../harness/database.ts";
import { LedgerRows } from "../../harness/payments/ledger-rows.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const root = join(import.meta.dirname, "../../..");
const test = suite("export of the books", { timeoutMs: 60_000 });
const dir = await tempDir("export");
const services = fixture(test, () => startMoneyServices());
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const peer = fixture(test, async () => {
  const opened = connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN });
  return { ledger: opened.client(LedgerService), stop: async () => opened.close() };
});

const merchants = [newId("merchant"), newId("merchant")].sort();
/** After all entries of July, of August, and of all. */
const moments = ["2026-08-01", "2026-09-01", "2026-10-01"];

test.before(async () => {
  const [first = "", second = ""] = merchants;
  await chargesAndPayouts(new LedgerRows(db, { merchantId: first, environment: Environment.LIVE }));
  await disputesAndReserves(new LedgerRows(db, { merchantId: second, environment: Environment.LIVE }));
  await chargesAndPayouts(new LedgerRows(db, { merchantId: second, environment: Environment.SANDBOX }));
});

async function chargesAndPayouts(rows: LedgerRows): Promise<void> {
  await rows.payment(db, "EUR");
  await rows.journal("captured", 10_000n, "2026-07-03T10:00:00Z");
  await rows.journal("fee_charged", 320n, "2026-07-03T10:00:00Z");
  await rows.movement("capture", { amount: 10_000n, fee: 290n }, "2026-07-03T10:00:01Z");
  await rows.movement("fee", { amount: -320n }, "2026-07-03T10:00:01Z");
  await rows.journal("refund_reserved", 3_000n, "2026-07-31T23:59:59.999999Z");
  await rows.journal("refund_paid", 3_000n, "2026-08-01T00:00:00Z");
  await rows.movement("refund", { amount: -3_000n, fee: -20n }, "2026-08-01T00:00:00.000001Z");
  await rows.movement("payout", { amount: -6_730n, isOurs: false }, "2026-08-05T00:00:00Z");
  await rows.payout(6_730n, "EUR", "2026-08-07T00:00:00Z");
  await rows.payment(db, "USD");
  await rows.journal("captured", 2_000n, "2026-08-10T12:00:00Z");
  await rows.movement(
    "capture",
    { amount: 1_811n, fee: 55n, currency: "EUR", source: [2_000n, "USD"] },
    "2026-08-10T12:00:00Z",
  );
  await rows.journal("refund_reserved", 500n, "2026-08-11T12:00:00Z");
  await rows.journal("refund_paid", 500n, "2026-08-11T12:00:00Z");
  await rows.movement("refund", { amount: -461n, currency: "EUR", source: [-500n, "USD"] }, "2026-08-11T12:00:00Z");
  await rows.movement("capture", { amount: 777n, fee: 10n, currency: "EUR", isOurs: false }, "2026-08-12T12:00:00Z");
  await rows.movement("payout", { amount: -2_062n, currency: "EUR", isOurs: false }, "2026-08-20T00:00:00Z");
  await rows.payout(2_062n, "EUR", "2026-08-22T00:00:00Z", { returnedAt: "2026-09-02T00:00:00Z" });
  await rows.movement("payout_failure", { amount: 2_062n, currency: "EUR", isOurs: false }, "2026-09-02T00:00:00Z");
}

async function disputesAndReserves(rows: LedgerRows): Promise<void> {
  await rows.payment(db, "JPY");
  await rows.journal("captured", 5_000n, "2026-07-04T10:00:00Z");
  await rows.movement("capture", { amount: 5_000n, fee: 150n }, "2026-07-04T10:00:00Z");
  await rows.journal("dispute_held", 5_000n, "2026-07-20T10:00:00Z");
  await rows.movement("dispute", { amount: -5_000n, fee: 1_500n }, "2026-07-20T10:00:00Z");
  await rows.journal("dispute_lost", 5_000n, "2026-08-20T10:00:00Z");
  await rows.journal("dispute_recovered", 5_000n, "2026-09-20T10:00:00Z");
  await rows.movement("dispute_reversal", { amount: 5_000n, fee: -1_500n }, "2026-09-20T10:00:00Z");
  await rows.movement("dispute_fee", { amount: -100n }, "2026-09-21T10:00:00Z");
  await rows.payment(db, "KWD");
  await rows.journal("captured", 12_345n, "2026-07-05T10:00:00Z");
  await rows.journal("fee_charged", 399n, "2026-07-05T10:00:00Z");
  await rows.journal("fee_returned", 99n, "2026-08-05T10:00:00Z");
  await rows.journal("suspense_held", 777n, "2026-08-05T10:00:00Z");
  await rows.journal("suspense_kept", 77n, "2026-08-06T10:00:00Z");
  await rows.movement("reserve", { amount: -1_000n, isOurs: false }, "2026-08-06T10:00:00Z");
  await rows.movement("release", { amount: 400n, isOurs: false }, "2026-09-06T10:00:00Z");
  await rows.movement("adjustment", { amount: 33n, fee: 3n, isOurs: false }, "2026-09-07T10:00:00Z");
  await rows.movement("processor_fee", { amount: -250n, isOurs: false }, "2026-09-08T10:00:00Z");
  await rows.movement("refund_failure", { amount: 11n }, "2026-09-08T10:00:00Z");
  await rows.payout(-40n, "KWD", "2026-09-09T00:00:00Z");
}

/** Runs `tollbooth` as an operator does. */
async function operator(...args: string[]): Promise<string> {
  const token = join(dir, "token");
  writeFileSync(token, `${services.settings.RPC_TOKEN}\n`, { mode: 0o600 });
  const { payments, merchant } = services.urls;
  const env = { ...process.env, RPC_TOKEN_FILE: token, PAYMENTS_URL: payments, MERCHANT_URL: merchant };
  const { stdout } = await promisify(execFile)(process.execPath, ["deploy/cli/main.ts", ...args], {
    cwd: root,
    env: { ...env, CHECKOUT_URL: payments, WEBHOOK_URL: merchant },
  });
  return stdout;
}

const period = ["--from", "2026-07-01", "--to", "2026-10-01"];

async function trialBalance(moment: string): Promise<TrialBalanceLine[]> {
  const { lines } = await peer.ledger.getTrialBalance({ at: timestampFromDate(new Date(`${moment}T00:00:00Z`)) });
  return lines;
}

/** Lines as in hledger's output: full account name, currency and decimal balance, without zeros. */
function namedBalances(lines: readonly TrialBalanceLine[], root: (type: string) => string | undefined): string[] {
  return lines
    .filter(({ debit, credit }) => debit !== credit)
    .flatMap(({ merchantId, environment, account, currency, debit, credit }) => {
      const top = root(ledgerAccounts.get(account)?.[0] ?? "");
      const name = `${merchantId}:${environment === Environment.LIVE ? "live" : "sandbox"}:${account}`;
      return top === undefined ? [] : [`${top}:${name} ${currency} ${majorUnits(debit - credit, currency)}`];
    })
    .sort();
}

const roots: ReadonlyMap<string, string> = new Map([
  ...[["asset", "assets"] as const, ["liability", "liabilities"] as const],
  ...[["revenue", "revenues"] as const, ["expense", "expenses"] as const],
]);

test("each merchant's trial balance sums to zero and equals the auditor's own computation at three moments", async () => {
  for (const moment of moments) {
    const lines = await trialBalance(moment);
    assert.ok(lines.length > 10);
    for (const merchantId of merchants) {
      const own = lines.filter((line) => line.merchantId === merchantId);
      const sums = new Map<string, bigint>();
      for (const { environment, currency, debit, credit } of own)
        sums.set(`${environment} ${currency}`, (sums.get(`${environment} ${currency}`) ?? 0n) + debit - credit);
      assert.deepEqual([...new Set(sums.values())], [0n]);
      const expected = await recomputeLedger(db, merchantId, new Date(`${moment}T00:00:00Z`));
      const shown = (entries: Iterable<readonly [string, bigint]>) =>
        [...entries]
          .filter(([, amount]) => amount !== 0n)
          .map(([key, amount]) => `${key} ${amount}`)
          .sort();
      assert.deepEqual(
        shown(
          own.map(
            (line) => [`${line.environment} ${line.currency} ${line.account}`, line.debit - line.credit] as const,
          ),
        ),
        shown(expected),
      );
    }
  }
});

test("the processor's balance in the books is the sum of its movements, and a planted posting is found by the auditor", async () => {
  const [row] = await db.rows<{ amount: string }>(
    "select sum(net)::text as amount from movements where type <> 'fee' and currency = 'EUR'",
  );
  const lines = (await trialBalance("2026-10-01")).filter(
    (line) => line.account === "processor_balance" && line.currency === "EUR",
  );
  assert.equal(
    lines.reduce((sum, { debit, credit }) => sum + debit - credit, 0n),
    BigInt(row?.amount ?? 0),
  );
  const differences: string[] = [];
  const audit = async () => {
    differences.length = 0;
    await auditLedger(db, (found) => differences.push(...found.differences));
    return differences;
  };
  assert.deepEqual(await audit(), []);
  await db.rows("update movement_postings set fee_account = 'dispute_fees' where type = 'capture'");
  assert.match((await audit()).join("\n"), /EUR dispute_fees has 600|EUR dispute_fees has/);
  await db.rows("update movement_postings set fee_account = 'processor_fees' where type = 'capture'");
  assert.deepEqual(await audit(), []);
});

test("the documented chart and postings are the database's and the auditor's", async () => {
  const page = readFileSync(join(root, "docs/month-end.md"), "utf8");
  const documented = [...page.matchAll(/^\| `(\w+)` \| (asset|liability|revenue|expense) \| (debit|credit) \|/gm)];
  const chart = await db.rows<{ code: string; type: string; side: string }>(
    "select code, type, normal_side as side from ledger_accounts",
  );
  const rowsOf = (rows: readonly (readonly string[])[]) => rows.map((row) => row.join(" ")).sort();
  const stored = rowsOf(chart.map(({ code, type, side }) => [code, type, side]));
  assert.deepEqual(rowsOf(documented.map(([, ...cells]) => cells)), stored);
  assert.deepEqual(rowsOf([...ledgerAccounts].map(([code, form]) => [code, ...form])), stored);
  const posted = await db.rows<{ type: string; amount: string; fee: string }>(
    "select type, amount_account as amount, fee_account as fee from movement_postings",
  );
  const postings = rowsOf(posted.map(({ type, amount, fee }) => [type, amount, fee]));
  const table = [...page.matchAll(/^\| (`\w+`(?:, `\w+`)*) \| `(\w+)` \| `(\w+)` \|$/gm)].flatMap(
    ([, types = "", amount = "", fee = ""]) => [...types.matchAll(/\w+/g)].map(([type]) => [type, amount, fee]),
  );
  assert.deepEqual(rowsOf(table), postings);
  assert.deepEqual(rowsOf([...movementAccounts].map(([type, { amount, fee }]) => [type, amount, fee])), postings);
});

test("a month closes by command, and the command prints the same trial balance and hash again", async () => {
  const first = await operator("books", "close", "2026-07", "--json");
  assert.equal(await operator("books", "close", "2026-07", "--json"), first);
  const closed: Record<string, string>[] = JSON.parse(first);
  const open: Record<string, string>[] = JSON.parse(
    await operator("books", "trial-balance", "--at", "2026-08-01", "--json"),
  );
  assert.match(closed[0]?.hash ?? "", /^[0-9a-f]{64}$/);
  assert.deepEqual(
    open,
    closed.map(({ hash, ...line }) => line),
  );
  assert.deepEqual(
    open.map(({ merchant_id }) => merchant_id),
    [...open].map(({ merchant_id }) => merchant_id).sort(),
  );
  const kwd = open.find(({ currency, account }) => currency === "KWD" && account === "fees_revenue");
  assert.deepEqual([kwd?.debit, kwd?.credit, kwd?.balance], ["0.000", "0.399", "-0.399"]);
});

test("pages of entries have each entry of the period once, in order", async () => {
  const [from, to] = ["2026-07-01", "2026-10-01"].map((day) => timestampFromDate(new Date(day)));
  assert(from && to);
  const all = await peer.ledger.listLedgerEntries({ from, to, limit: 1_000 });
  const [counted] = await db.rows<{ n: number }>("select count(*)::int as n from ledger");
  assert.equal(all.entries.length, counted?.n);
  const ids: string[] = [];
  let pageToken = "";
  do {
    const page = await peer.ledger.listLedgerEntries({ from, to, limit: 3, pageToken });
    ids.push(...page.entries.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  assert.deepEqual(
    ids,
    all.entries.map(({ id }) => id),
  );
  const times = all.entries.map(({ bookedAt }) => Number(bookedAt?.seconds));
  assert.deepEqual(
    times,
    [...times].sort((one, other) => one - other),
  );
});

test("the CSV has a line per entry with its documented columns, and no cell that a spreadsheet computes", async () => {
  const csv = await operator("journal", "export", "--format", "csv", ...period, "--environment", "sandbox");
  const [head = "", ...lines] = csv.trimEnd().split("\r\n");
  const page = readFileSync(join(root, "docs/month-end.md"), "utf8");
  const columns = head.replace("\ufeff", "").split(",");
  assert.deepEqual(
    [...(/Its columns are ([^.]+)\./.exec(page)?.[1] ?? "").matchAll(/`(\w+)`/g)].map(([, name]) => name),
    columns,
  );
  const [counted] = await db.rows<{ n: number }>("select count(*)::int as n from ledger where environment = 1");
  assert.equal(lines.length, counted?.n);
  assert.ok(lines.every((line) => line.split(",").length === columns.length && !/(^|,)[=+@-]/.test(line)));
  assert.ok(lines.some((line) => line.endsWith(",processor_balance,processor_clearing,100.00,EUR")));
});

function hasHledger(): boolean {
  try {
    return execFileSync("hledger", ["--version"], { encoding: "utf8" }).startsWith("hledger");
  } catch {
    return false;
  }
}

const guarantee =
  "hledger accepts the export, and has the balances and the income statement of the books at three moments";
if (hasHledger()) {
  test(guarantee, async () => {
    const path = join(dir, "books.journal");
    writeFileSync(path, await operator("journal", "export", "--format", "hledger", ...period));
    const hledger = (...args: string[]) => execFileSync("hledger", ["-f", path, ...args], { encoding: "utf8" });
    hledger("check", "--strict");
    hledger("check", "ordereddates");
    for (const moment of moments) {
      const lines = await trialBalance(moment);
      const table = ["-e", moment, "-O", "csv", "--layout", "bare"];
      const found = csvRows(hledger("balance", "--flat", "--no-total", ...table)).slice(1);
      assert.deepEqual(
        found.map((row) => row.join(" ")).sort(),
        namedBalances(lines, (type) => roots.get(type)),
      );
      const income = csvRows(hledger("incomestatement", "--flat", "--no-total", "-b", "2026-07-01", ...table));
      const profit = namedBalances(
        lines.map((line) => (ledgerAccounts.get(line.account)?.[0] === "revenue" ? turned(line) : line)),
        (type) => (["revenue", "expense"].includes(type) ? roots.get(type) : undefined),
      );
      const named = income.filter(([account = ""]) => /^(revenues|expenses):/.test(account));
      assert.deepEqual(named.map((row) => row.join(" ")).sort(), profit);
    }
  });
} else {
  test.skip(guarantee, "hledger is not installed");
}

/** An income statement shows revenues above zero. */
function turned(line: TrialBalanceLine): TrialBalanceLine {
  return { ...line, debit: line.credit, credit: line.debit };
}

function csvRows(text: string): string[][] {
  return text
    .trim()
    .split("\n")
    .map((line) => line.split(",").map((cell) => cell.replaceAll('"', "")));
}

test.run();
