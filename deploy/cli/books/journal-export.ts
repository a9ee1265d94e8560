// `tollbooth journal export`: every entry of the books in a period, for hledger or as CSV. It reads and writes page by
// page, so that memory does not grow with the period.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { LedgerEntry } from "#proto/payments/v1/ledger_pb.ts";
import { csvHeading, csvRow, majorUnits } from "../../../services/public-json/csv.ts";
import { type Command, type CommandInput, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { environmentName, timeOf, timeText } from "../wire.ts";
import { HledgerJournal } from "./hledger.ts";

const pageMax = 1_000;

export const journalExport: Command = {
  about:
    "prints every entry of the books in a period, oldest first; the plain-text accounting of hledger, or CSV (docs/month-end.md)",
  options: {
    format: { value: "hledger|csv", about: "the output", needed: true },
    from: { value: "time", about: "RFC 3339 or a day (UTC), inclusive", needed: true },
    to: { value: "time", about: "exclusive", needed: true },
    merchant: { value: "mer_…", about: "one merchant" },
    environment: { value: "live|sandbox", about: "one environment" },
  },
  run: async (peers, input) => {
    const format = input.text("format");
    const request = requestOf(input);
    let count = 0;
    const text = async function* () {
      const writer = format === "csv" ? csvWriter : await hledgerWriter(peers);
      yield writer.head;
      for await (const entries of pages(peers, request)) {
        count += entries.length;
        yield entries.map((entry) => writer.entry(entry)).join("");
      }
    };
    await pipeline(Readable.from(text()), process.stdout, { end: false });
    return { rows: [], isWritten: true, remark: `${count} entries` };
  },
};

type EntryRequest = ReturnType<typeof requestOf>;

function requestOf(input: CommandInput) {
  const [from, to] = [timeOf(input, "from"), timeOf(input, "to")];
  if (!["hledger", "csv"].includes(input.text("format"))) throw new UsageError("--format must be hledger or csv");
  if (!from || !to || to < from) throw new UsageError("--to must not be before --from");
  const environments = new Map([
    ["", Environment.UNSPECIFIED],
    ["live", Environment.LIVE],
    ["sandbox", Environment.SANDBOX],
  ]);
  const environment = environments.get(input.text("environment"));
  if (environment === undefined) throw new UsageError("--environment must be live or sandbox");
  const period = { from: timestampFromDate(from), to: timestampFromDate(to) };
  return { ...period, environment, merchantId: input.text("merchant"), limit: pageMax };
}

async function* pages(peers: OperatorPeers, request: EntryRequest): AsyncGenerator<readonly LedgerEntry[]> {
  let pageToken = "";
  do {
    const page = await peers.ledger.listLedgerEntries({ ...request, pageToken });
    yield page.entries;
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
}

async function hledgerWriter(peers: OperatorPeers): Promise<HledgerJournal> {
  const { accounts } = await peers.ledger.listLedgerAccounts({});
  return new HledgerJournal(new Map(accounts.map(({ code, type }) => [code, type])));
}

const columns: readonly (readonly [string, (entry: LedgerEntry) => string])[] = [
  ["id", ({ id }) => id],
  ["booked_at", ({ bookedAt }) => timeText(bookedAt)],
  ["occurred_at", ({ occurredAt }) => timeText(occurredAt)],
  ["posted_at", ({ postedAt }) => timeText(postedAt)],
  ["merchant_id", ({ merchantId }) => merchantId],
  ["environment", ({ environment }) => environmentName(environment)],
  ["connector_account_id", ({ connectorAccountId }) => connectorAccountId],
  ["payment_id", ({ paymentId }) => paymentId],
  ["kind", ({ kind }) => kind],
  ["cause", ({ cause }) => cause],
  ["debit", ({ debit }) => debit],
  ["credit", ({ credit }) => credit],
  ["amount", ({ amount, currency }) => majorUnits(amount, currency)],
  ["currency", ({ currency }) => currency],
];

const csvWriter = {
  head: csvHeading(columns.map(([name]) => name)),
  entry: (entry: LedgerEntry) => csvRow(columns.map(([, cell]) => cell(entry))),
};
