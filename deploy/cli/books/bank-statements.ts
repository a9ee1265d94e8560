// `tollbooth statements import` and `lines`: the bank's side of payouts.
import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { create } from "@bufbuild/protobuf";
import { type BankLine, BankLineSchema } from "#proto/payments/v1/ledger_pb.ts";
import { majorUnits } from "../../../services/public-json/csv.ts";
import type { Commands, Row } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { limitOption, readPages } from "../wire.ts";
import { readStatement, type StatementEntry } from "./camt053.ts";

// About 100 kB of a message.
const batchMax = 500;

export const bankStatements: Commands = {
  import: {
    about:
      "stores the lines of a bank's statement (camt.053.001.02, .08 or .13 in UTF-8) once, and links them to payouts; a file that is refused changes nothing; - is standard input",
    args: ["file"],
    options: {
      connector: {
        value: "mco_…",
        about: "links payouts of this processor account, also of the sandbox; default: all live ones",
      },
    },
    run: async (peers, input) => {
      const [file, connectorAccountId] = [input.arg("file"), input.text("connector")];
      const counted =
        file === "-" ? await withKeptInput((kept) => storeLines(peers, kept)) : await storeLines(peers, file);
      const { matched } = await peers.ledger.matchBankLines({ connectorAccountId });
      return { rows: [{ ...counted, matched }], remark: "see statements lines --unmatched" };
    },
  },
  lines: {
    about: "lists imported lines of bank statements with their payouts, the last imported first",
    options: { ...limitOption, unmatched: { about: "only those without a payout, with the number that fit" } },
    run: async (peers, input) => {
      const unmatchedOnly = input.has("unmatched");
      const found = await readPages(input, async ({ pageSize, pageToken }) => {
        const page = { limit: pageSize, beforeId: BigInt(pageToken || 0) };
        const { lines } = await peers.ledger.listBankLines({ unmatchedOnly, ...page });
        const last = lines.length === pageSize ? lines.at(-1) : undefined;
        return { items: lines, nextPageToken: String(last?.id ?? "") };
      });
      return { rows: found.map(rowOf) };
    },
  },
};

/** The whole file is read before anything is stored. */
async function storeLines(peers: OperatorPeers, path: string): Promise<{ lines: number; imported: number }> {
  let lines = 0;
  for await (const entries of readStatement(path)) lines += entries.length;
  let imported = 0;
  for await (const batch of batches(readStatement(path))) imported += await send(peers, batch);
  return { lines, imported };
}

/** Standard input as a file, which can be read twice and is deleted afterwards: it names payers and their accounts. */
async function withKeptInput<T>(read: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "statement-"));
  try {
    const path = join(folder, "camt.xml");
    await pipeline(process.stdin, createWriteStream(path));
    return await read(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function send(peers: OperatorPeers, batch: readonly StatementEntry[]): Promise<number> {
  const lines = batch.map((entry) => create(BankLineSchema, entry));
  return (await peers.ledger.importBankLines({ lines })).imported;
}

/** Entries of one statement each. */
async function* batches(chunks: AsyncIterable<readonly StatementEntry[]>): AsyncGenerator<StatementEntry[]> {
  let batch: StatementEntry[] = [];
  for await (const entries of chunks) {
    for (const entry of entries) {
      const [first] = batch;
      const isOther = first && (first.iban !== entry.iban || first.statementId !== entry.statementId);
      if (isOther || batch.length === batchMax) {
        yield batch;
        batch = [];
      }
      batch.push(entry);
    }
  }
  if (batch.length > 0) yield batch;
}

function rowOf(line: BankLine): Row {
  const { id, iban, amount, currency, isReversal, candidates } = line;
  return {
    ...{ id: String(id), booked_on: line.bookedOn, amount: majorUnits(amount, currency), currency, iban },
    ...{ statement: line.statementId, position: line.position, bank_ref: line.bankRef, end_to_end_id: line.endToEndId },
    ...{ text: line.text, reversal: isReversal, payout_id: line.payoutId, candidates },
  };
}
