// The bank's statement about a run's payouts, imported twice at its end: every payout that was paid has its line.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { membersOf } from "#platform/values/unchecked.ts";
import { majorUnits } from "../../services/public-json/csv.ts";
import type { MoneyRig } from "./money-rig.ts";
import { runOperatorTool, stateDirOf } from "./operator-tool.ts";

interface PaidPayout {
  readonly account: string;
  readonly ref: string;
  readonly amount: string;
  readonly currency: string;
  readonly day: string;
}

/** One line per difference. */
export async function bankDifferences({ books, running }: MoneyRig): Promise<string[]> {
  const paid = await books.payments.rows<PaidPayout>(
    `select connector_account_id as account, ref, amount::text, currency, to_char(paid_at at time zone 'UTC', 'YYYY-MM-DD') as day
     from payouts where paid_at is not null and amount > 0 and connector_account_id <> 'mco_books' order by id`,
  );
  const found: string[] = [];
  for (const [account, payouts] of Map.groupBy(paid, (one) => one.account)) {
    const file = join(stateDirOf(running), `${account}.xml`);
    await writeFile(file, statementOf(account, payouts));
    const importOnce = async () => {
      const answer = await runOperatorTool(running, "statements", "import", file, "--connector", account, "--json");
      const [row] = JSON.parse(answer) as unknown[];
      return membersOf(row);
    };
    const first = await importOnce();
    const again = await importOnce();
    const n = payouts.length;
    if (first.imported !== n || first.matched !== n)
      found.push(
        `${account}: ${n} payouts, of whose bank lines ${first.imported} are stored, ${first.matched} matched`,
      );
    if (again.imported !== 0 || again.matched !== 0) found.push(`${account}: an import that is repeated stores lines`);
  }
  return found;
}

/** camt.053, version 8. */
function statementOf(id: string, payouts: readonly PaidPayout[]): string {
  const entries = payouts.map(
    ({ amount, currency, day, ref }) => `<Ntry><Amt Ccy="${currency}">${majorUnits(BigInt(amount), currency)}</Amt>
      <CdtDbtInd>CRDT</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts><BookgDt><Dt>${day}</Dt></BookgDt>
      <NtryDtls><TxDtls><RmtInf><Ustrd>${ref}</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>`,
  );
  return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt><Id>${id}</Id>
    <Acct><Id><IBAN>DE89370400440532013000</IBAN></Id></Acct>${entries.join("")}</Stmt></BkToCstmrStmt></Document>`;
}
