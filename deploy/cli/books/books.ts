// `tollbooth books …`: the trial balance, and the close of a month.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { TrialBalanceLine } from "#proto/payments/v1/ledger_pb.ts";
import { majorUnits } from "../../../services/public-json/csv.ts";
import { type Commands, type Row, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { textTable } from "../print.ts";
import { environmentName, timeOf, timeText } from "../wire.ts";

// The service sums the books of one merchant after another.
const timeoutMs = 55_000;

export const books: Commands = {
  "trial-balance": {
    about: "prints debits, credits and balance of every account; the balances of a merchant's currency sum to zero",
    options: {
      at: { value: "time", about: "entries booked before this RFC 3339 time or day (UTC); default: all" },
      merchant: { value: "mer_…", about: "one merchant" },
    },
    run: async (peers, input) => ({
      rows: await trialBalance(peers, timeOf(input, "at"), input.text("merchant")),
    }),
  },
  close: {
    about:
      "closes a month (YYYY-MM, UTC): later entries for it count when they are written; prints its trial balance and the hash, also when it is closed already",
    args: ["month"],
    options: { accept: { value: "why", about: "closes although differences are open" } },
    run: async (peers, input) => {
      const month = input.arg("month");
      if (!/^\d{4}-\d\d$/.test(month)) throw new UsageError("the month must be as 2026-11");
      const accepted = input.text("accept");
      const close = await peers.ledger.closeMonth({ month, accepted }, { timeoutMs });
      const { closedAt, closedBy, entries, hash, currentHash } = close;
      const reason = close.accepted === "" ? "" : `; differences accepted: ${close.accepted}`;
      const isBad = hash !== currentHash;
      const remark = [
        `${month} closed at ${timeText(closedAt)} by ${closedBy}${reason}`,
        `${entries} entries, sha256 ${hash}`,
        ...(isBad ? [`the books have changed since: sha256 ${currentHash}`] : []),
      ].join("\n");
      const rows = await trialBalance(peers, monthEnd(month), "");
      const text = rows.length === 0 ? "no entries" : textTable(rows);
      return { rows: rows.map((row) => ({ ...row, hash })), text, remark, isBad };
    },
  },
};

function monthEnd(month: string): Date {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return new Date(Date.UTC(year, number, 1));
}

async function trialBalance(peers: OperatorPeers, at: Date | undefined, merchantId: string): Promise<Row[]> {
  const request = { merchantId, ...(at && { at: timestampFromDate(at) }) };
  const rows: Row[] = [];
  let pageToken = "";
  do {
    const page = await peers.ledger.getTrialBalance({ ...request, pageToken }, { timeoutMs });
    rows.push(...page.lines.map(rowOf));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return rows;
}

function rowOf({ merchantId, environment, currency, account, debit, credit }: TrialBalanceLine): Row {
  return {
    ...{ merchant_id: merchantId, environment: environmentName(environment), currency, account },
    debit: majorUnits(debit, currency),
    credit: majorUnits(credit, currency),
    balance: majorUnits(debit - credit, currency),
  };
}
