// Guarantees of imported bank statements: a line is stored once, a payout has at most one, and what is ambiguous stays
// unmatched.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { connectPeer } from "#platform/rpc/client.ts";
import { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { LedgerService } from "#proto/payments/v1/ledger_pb.ts";
import { bankStatements } from "../../../deploy/cli/books/bank-statements.ts";
import type { Row } from "../../../deploy/cli/command.ts";
import type { OperatorPeers } from "../../../deploy/cli/peers.ts";
import { openDatabase } from "../../harness/database.ts";
import { LedgerRows } from "../../harness/payments/ledger-rows.ts";
import { startMoneyServices } from "../../harness/payments/money-services.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("bank statements", { timeoutMs: 30_000 });
const dir = await tempDir("statements");
const services = fixture(test, () => startMoneyServices());
const db = fixture(test, () => openDatabase(services.paymentsDatabaseUrl));
const peer = fixture(test, async () => {
  const opened = connectPeer({ url: services.urls.payments, token: services.settings.RPC_TOKEN });
  return { ledger: opened.client(LedgerService), stop: async () => opened.close() };
});

interface Line {
  readonly amount: string;
  readonly text: string;
  readonly day?: string;
  readonly ref?: string;
  readonly direction?: string;
}

/** A statement's file in version 8. */
function statement(id: string, lines: readonly Line[]): string {
  const path = join(dir, `${id}-${Math.random()}.xml`);
  const entries = lines.map(
    ({ amount, text, day = "2026-09-03", ref = "", direction = "CRDT" }) => `<Ntry><Amt Ccy="EUR">${amount}</Amt>
      <CdtDbtInd>${direction}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${day}</Dt></BookgDt>
      ${ref === "" ? "" : `<AcctSvcrRef>${ref}</AcctSvcrRef>`}
      <NtryDtls><TxDtls><RmtInf><Ustrd>${text}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`,
  );
  writeFileSync(
    path,
    `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>${id}</Id>
     <Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>${entries.join("")}</Stmt></BkToCstmrStmt></Document>`,
  );
  return path;
}

async function run(verb: string, options: Readonly<Record<string, string | boolean>> = {}): Promise<readonly Row[]> {
  const command = bankStatements[verb];
  assert(command);
  const text = (name: string) => String(options[name] ?? "");
  const input = { arg: text, text, list: () => [], has: (name: string) => options[name] === true };
  const { rows } = await command.run({ ledger: peer.ledger } as unknown as OperatorPeers, input);
  return rows;
}

const imported = async (file: string, connector = "") => (await run("import", { file, connector }))[0];
const payouts = () => new LedgerRows(db, { merchantId: newId("merchant"), environment: Environment.LIVE });
const stored = async () => await db.rows<{ n: number }>("select count(*)::int as n from bank_lines");

test("a line is linked to the payout of its amount whose name is in its text, within five days", async () => {
  const rows = payouts();
  const byRef = await rows.payout(6_710n, "EUR", "2026-09-01T00:00:00Z", { ref: "po_at_processor" });
  const byName = await rows.payout(500n, "EUR", "2026-09-08T00:00:00Z", { descriptor: "SHOP 77" });
  await rows.payout(501n, "EUR", "2026-09-09T00:00:00Z", { descriptor: "SHOP 77" });
  const path = statement("S1", [
    { amount: "67.10", text: "STRIPE PO_AT_PROCESSOR" },
    { amount: "5.00", text: "transfer shop 77" },
    { amount: "5.01", text: "six days before SHOP 77" },
    { amount: "67.10", text: "another payer" },
    { amount: "5.00", text: "debit SHOP 77", direction: "DBIT" },
  ]);
  assert.deepEqual(await imported(path), { lines: 5, imported: 5, matched: 2 });
  assert.deepEqual(
    (await run("lines")).map(({ position, payout_id }) => [position, payout_id]),
    [
      [5, ""],
      [4, ""],
      [3, ""],
      [2, byName],
      [1, byRef],
    ],
  );
  assert.equal((await run("lines", { unmatched: true })).length, 3);
});

test("a statement that is imported again, or an entry that another statement repeats, changes nothing", async () => {
  const lines: Line[] = [
    { amount: "1.00", text: "one", ref: "B-1" },
    { amount: "1.00", text: "two", ref: "B-1" },
  ];
  assert.deepEqual((await imported(statement("S2", lines)))?.imported, 2, "a bank may use a reference twice");
  const before = await stored();
  assert.equal((await imported(statement("S2", lines)))?.imported, 0);
  assert.equal((await imported(statement("S2-again", lines.slice(0, 1))))?.imported, 0);
  assert.deepEqual(await stored(), before);
});

test("a stored line with another content is refused", async () => {
  await imported(statement("S3", [{ amount: "3.00", text: "" }]));
  const changed = imported(statement("S3", [{ amount: "4.00", text: "" }]));
  await assert.rejects(changed, (error) => {
    assert(error instanceof Failure);
    return /imported with another content/.test(error.violations[0]?.problem ?? "");
  });
});

test("a line that fits two payouts, and a payout that fits two lines, stay unmatched and are listed with their number", async () => {
  const rows = payouts();
  for (let i = 0; i < 2; i++) await rows.payout(900n, "EUR", "2026-09-02T00:00:00Z", { descriptor: "TWICE" });
  await rows.payout(800n, "EUR", "2026-09-02T00:00:00Z", { descriptor: "DOUBLE" });
  const path = statement("S4", [
    { amount: "9.00", text: "TWICE" },
    { amount: "8.00", text: "DOUBLE 1" },
    { amount: "8.00", text: "DOUBLE 2" },
  ]);
  assert.equal((await imported(path))?.matched, 0);
  const listed = await run("lines", { unmatched: true, limit: "3" });
  assert.deepEqual(
    listed.map(({ candidates }) => candidates),
    [1, 1, 2],
  );
});

test("a payout arrives once: SQL refuses a second line for it, and a stored line never changes", async () => {
  await assert.rejects(
    db.rows(
      `update bank_lines l set payout_id = (select max(payout_id) from bank_lines) where l.payout_id is null and not is_reversal`,
    ),
    /bank_lines_payout_once/,
  );
  await assert.rejects(db.rows("update bank_lines set amount = 1"), /never changed/);
  await assert.rejects(db.rows("delete from bank_lines"), /never changed/);
});

test("a payout of the sandbox is linked only when its account is named", async () => {
  const rows = new LedgerRows(db, { merchantId: newId("merchant"), environment: Environment.SANDBOX });
  const id = await rows.payout(1_500n, "EUR", "2026-09-02T00:00:00Z", { descriptor: "PLAY" });
  const path = statement("S7", [{ amount: "15.00", text: "PLAY" }]);
  assert.equal((await imported(path))?.matched, 0);
  assert.equal((await imported(path, "mco_books"))?.matched, 1);
  assert.equal((await run("lines", { limit: "1" }))[0]?.payout_id, id);
});

test("only payouts of the named account are linked, and a refused file stores nothing", async () => {
  await payouts().payout(4_200n, "EUR", "2026-09-02T00:00:00Z", { descriptor: "OWN" });
  const line = { amount: "42.00", text: "OWN" };
  assert.equal((await imported(statement("S5", [line]), "mco_other"))?.matched, 0);
  assert.equal((await imported(statement("S5", [line]), "mco_books"))?.matched, 1);
  const before = await stored();
  const broken = statement("S6", [line, { ...line, day: "2026-02-31x" }, { ...line, amount: "one" }]);
  await assert.rejects(imported(broken), /no valid/);
  assert.deepEqual(await stored(), before);
});

test.run();
