// Statements in every version that is read, and refusals of files that no bank sends.
import assert from "node:assert/strict";
import { createWriteStream, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { suite } from "../../../test/harness/suite.ts";
import { tempDir } from "../../../test/harness/temp-dir.ts";
import { readStatement, type StatementEntry, StatementRefused } from "./camt053.ts";

const test = suite("camt.053", { timeoutMs: 30_000 });
const dir = await tempDir("camt");
let files = 0;

function file(content: string | Buffer): string {
  const path = join(dir, `${files++}.xml`);
  writeFileSync(path, content);
  return path;
}

async function read(path: string): Promise<StatementEntry[]> {
  const found: StatementEntry[] = [];
  for await (const entries of readStatement(path)) found.push(...entries);
  return found;
}

const namespace = (version: string) => `urn:iso:std:iso:20022:tech:xsd:camt.053.001.${version}`;
/** A document of one statement. */
const statement = (
  entries: string,
  {
    version = "08",
    head = '<?xml version="1.0" encoding="UTF-8"?>',
    account = "<IBAN>DE89370400440532013000</IBAN>",
  } = {},
) =>
  `${head}<Document xmlns="${namespace(version)}"><BkToCstmrStmt><GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-11-04T06:00:00+01:00</CreDtTm></GrpHdr>
  <Stmt><Id>2026-11-03</Id><CreDtTm>2026-11-04T06:00:00+01:00</CreDtTm><Acct><Id>${account}</Id><Ccy>EUR</Ccy></Acct>
  <Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">1.00</Amt><CdtDbtInd>CRDT</CdtDbtInd><Dt><Dt>2026-11-03</Dt></Dt></Bal>
  ${entries}</Stmt></BkToCstmrStmt></Document>`;
const entry = (
  change: {
    amount?: string;
    currency?: string;
    direction?: string;
    status?: string;
    more?: string;
    date?: string;
  } = {},
) => {
  const {
    amount = "67.10",
    currency = "EUR",
    direction = "CRDT",
    status = "<Cd>BOOK</Cd>",
    more = "",
    date = "<Dt>2026-11-03</Dt>",
  } = change;
  return `<Ntry><Amt Ccy="${currency}">${amount}</Amt><CdtDbtInd>${direction}</CdtDbtInd><Sts>${status}</Sts>
    <BookgDt>${date}</BookgDt><ValDt><Dt>2026-11-02</Dt></ValDt>${more}</Ntry>`;
};
const details = `<AcctSvcrRef>B-1</AcctSvcrRef><NtryDtls><TxDtls><Refs><EndToEndId>E2E-1</EndToEndId></Refs>
  <RmtInf><Ustrd>STRIPE &amp; CO</Ustrd><Ustrd>po_1
  </Ustrd></RmtInf></TxDtls></NtryDtls><AddtlNtryInf>Credit</AddtlNtryInf>`;

test("an entry has the same values in versions 2, 8 and 13", async () => {
  for (const version of ["02", "08", "13"]) {
    const status = version === "02" ? "BOOK" : "<Cd>BOOK</Cd>";
    assert.deepEqual(await read(file(statement(entry({ status, more: details }), { version }))), [
      {
        iban: "DE89370400440532013000",
        statementId: "2026-11-03",
        position: 1,
        bankRef: "B-1",
        amount: 6_710n,
        currency: "EUR",
        bookedOn: "2026-11-03",
        valueOn: "2026-11-02",
        endToEndId: "E2E-1",
        text: "STRIPE & CO po_1 Credit",
        isReversal: false,
      },
    ]);
  }
});

test("amounts are exact by the currency's decimals, and debits are below zero", async () => {
  const amounts: [amount: string, currency: string, direction: string, minor: bigint][] = [
    ["90071992547409.93", "EUR", "CRDT", 9_007_199_254_740_993n],
    ["0.1", "EUR", "DBIT", -10n],
    ["1500", "JPY", "CRDT", 1_500n],
    ["1500.00", "JPY", "DBIT", -1_500n],
    ["1.234", "KWD", "CRDT", 1_234n],
  ];
  const entries = amounts.map(([amount, currency, direction]) => entry({ amount, currency, direction }));
  const found = await read(file(statement(entries.join(""))));
  assert.deepEqual(
    found.map(({ amount, position }) => [amount, position]),
    amounts.map(([, , , minor], at) => [minor, at + 1]),
  );
});

test("pending entries are left out, and reversals, times, other accounts, prefixes and foreign elements are understood", async () => {
  const foreign = `<x:Amt xmlns:x="urn:other" Ccy="EUR">9</x:Amt>`;
  const entries = [
    entry({ status: "<Cd>PDNG</Cd>" }),
    entry({ direction: "DBIT", more: "<RvslInd>true</RvslInd>", date: "<DtTm>2026-11-03T23:30:00-02:00</DtTm>" }),
    entry({ more: `<AcctSvcrRef>NONREF</AcctSvcrRef>${foreign}` }),
  ];
  const account = "<Othr><Id>12345-6</Id></Othr>";
  const plain = statement(entries.join(""), { account, head: "\ufeff" });
  const found = await read(file(plain));
  assert.deepEqual(
    found.map(({ position, isReversal, amount, bookedOn, bankRef, iban }) => [
      position,
      isReversal,
      amount,
      bookedOn,
      bankRef,
      iban,
    ]),
    [
      [2, true, -6_710n, "2026-11-03", "", "12345-6"],
      [3, false, 6_710n, "2026-11-03", "", "12345-6"],
    ],
  );
  const prefixed = statement(entry(), { version: "02" })
    .replace("xmlns=", "xmlns:n=")
    .replace(/<(\/?)(?!\?)/g, "<$1n:");
  assert.equal((await read(file(prefixed))).length, 1);
});

/** By the reason: what is refused. */
const refused: readonly (readonly [RegExp, string | Buffer])[] = [
  [/DOCTYPE/, statement(entry(), { head: '<!DOCTYPE Document [<!ENTITY a "aaaa">]>' })],
  [/without a tag/, statement(entry(), { head: `<!DOCTYPE Document [${'<!ENTITY a "aaaa">'.repeat(20_000)}]>` })],
  [/not well-formed.*entity/i, statement(entry({ amount: "&a;" }))],
  [/not a statement in camt\.053/, "<html><body/></html>"],
  [/not a statement in camt\.053/, statement(entry()).replace("camt.053", "camt.054")],
  [/unknown version 99/, statement(entry(), { version: "99" })],
  [/not well-formed/, statement(entry()).slice(0, -40)],
  [/not well-formed/, statement(entry()).replace("</Acct>", "")],
  [/nests more than 50/, statement(`${"<A>".repeat(60)}${"</A>".repeat(60)}`)],
  [
    /text of more than 100 kB|without a tag/,
    statement(entry({ more: `<AddtlNtryInf>${"x".repeat(100_001)}</AddtlNtryInf>` })),
  ],
  [/without a tag/, statement(`<!--${"x".repeat(300_000)}-->`)],
  [/without a tag/, statement(`<A b="${"x".repeat(300_000)}"/>`)],
  [/compressed: unpack/, Buffer.from([0x1f, 0x8b, 8, 0, 0])],
  [/compressed: unpack/, Buffer.from("PK\x03\x04zip", "latin1")],
  [
    /encoded in windows-1252; only UTF-8/,
    statement(entry(), { head: '<?xml version="1.0" encoding="windows-1252"?>' }),
  ],
  [/encoded in UTF-16 or UTF-32; only UTF-8/, Buffer.from(`\ufeff${statement(entry())}`, "utf16le")],
  [/encoded in UTF-16 or UTF-32; only UTF-8/, Buffer.from(statement(entry()), "utf16le")],
  [/not valid UTF-8/, Buffer.from(statement(entry({ more: "<AddtlNtryInf>\xfc</AddtlNtryInf>" })), "latin1")],
  [/not XML/, ":20:MT940\n"],
  [/not well-formed|no statement/, ""],
  [/no statement/, `<Document xmlns="${namespace("08")}"/>`],
  [/no valid amount/, statement(entry({ amount: "1.005" }))],
  [/no valid amount/, statement(entry({ amount: "1e3" }))],
  [/no valid amount/, statement(entry({ currency: "ZZZ" }))],
  [/neither credit nor debit/, statement(entry({ direction: "" }))],
  [/no valid date/, statement(entry({ date: "<Dt>2026-13-03</Dt>" }))],
  [/before the statement's id and account/, statement(entry(), { account: "" })],
];

test("what is no readable statement is refused with its reason", async () => {
  for (const [reason, content] of refused) {
    await assert.rejects(read(file(content)), (error) => {
      assert.ok(error instanceof StatementRefused, `${reason}: ${error}`);
      assert.match(error.message, reason);
      return true;
    });
  }
  await assert.rejects(read(join(dir, "missing.xml")), /cannot be read: ENOENT/);
});

test("a file of more than 1 GB is refused before it is read", async () => {
  const path = file(statement(entry()));
  truncateSync(path, 2 ** 30 + 1);
  await assert.rejects(read(path), /more than 1 GB/);
});

test("a large statement is read in parts of a few entries", async () => {
  const path = join(dir, "large.xml");
  const [head = "", tail = ""] = statement("ENTRIES").split("ENTRIES");
  const out = createWriteStream(path);
  out.write(head);
  const block = entry({ more: details }).repeat(100);
  for (let i = 0; i < 200; i++) out.write(block);
  out.end(tail);
  await finished(out);
  let [count, most] = [0, 0];
  for await (const entries of readStatement(path)) {
    count += entries.length;
    most = Math.max(most, entries.length);
  }
  assert.equal(count, 20_000);
  assert.ok(most < 100, `${most} at once`);
});

test.run();
