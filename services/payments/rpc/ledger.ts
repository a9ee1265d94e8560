// payments.v1.LedgerService, in proto order.
import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import type { Database } from "#platform/database/database.ts";
import { invalidField } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { BankLine, LedgerService } from "#proto/payments/v1/ledger_pb.ts";
import { closeMonth } from "../flows/close-month.ts";
import {
  insertBankLines,
  listBankLines,
  matchBankLines,
  type NewBankLine,
  type StoredBankLine,
} from "../store/ledger/bank-lines.ts";
import {
  type AccountSum,
  type EntryPosition,
  type LedgerRow,
  merchantsInBooks,
  readChart,
  readEntryPage,
  sumAccounts,
} from "../store/ledger/entries.ts";

// A merchant has some tens of lines, and a read of a large one's books takes seconds.
const merchantsPerPage = 20;

export function ledgerRpc({ db }: { readonly db: Database }): ServiceImpl<typeof LedgerService> {
  return {
    listLedgerAccounts: async () => ({ accounts: await readChart(db) }),
    listLedgerEntries: async ({ from, to, merchantId, environment, limit, pageToken }) => {
      const filter = { from: timeOf(from, "from"), to: timeOf(to, "to"), merchantId, environment };
      if (filter.to < filter.from) throw invalidField("to", "must not be before from");
      const { entries, next } = await readEntryPage(db, filter, positionOf(pageToken), limit);
      return { entries: entries.map(toEntry), nextPageToken: next ? `${next.bookedAt}|${next.id}` : "" };
    },
    getTrialBalance: async ({ at, merchantId, pageToken }) => {
      if (pageToken !== "" && !isId("merchant", pageToken)) throw invalidField("page_token", "is invalid");
      const merchants = merchantId === "" ? await merchantsInBooks(db, pageToken, merchantsPerPage) : [merchantId];
      const lines: AccountSum[] = [];
      for (const each of merchants) lines.push(...(await sumAccounts(db, each, at && timestampDate(at))));
      return { lines, nextPageToken: merchants.length === merchantsPerPage ? (merchants.at(-1) ?? "") : "" };
    },
    closeMonth: async ({ month, accepted }) => {
      return messageFields(await closeMonth(db, month, accepted.trim()));
    },
    importBankLines: async ({ lines }) => {
      const { imported, contradicted } = await db.transaction((tx) => insertBankLines(tx, lines.map(fromLine)));
      if (contradicted > 0) {
        throw invalidField("lines", `entry ${contradicted} of this statement was imported with another content`);
      }
      return { imported };
    },
    matchBankLines: async ({ connectorAccountId }) => ({ matched: await matchBankLines(db, connectorAccountId) }),
    listBankLines: async (request) => ({ lines: (await listBankLines(db, request)).map(toLine) }),
  };
}

function timeOf(at: Timestamp | undefined, field: string): Date {
  if (!at) throw invalidField(field, "is required");
  return timestampDate(at);
}

/** @throws Failure INVALID_BODY */
function positionOf(pageToken: string): EntryPosition | undefined {
  if (pageToken === "") return undefined;
  const [, bookedAt = "", id = ""] =
    /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?[+-]\d\d)\|([\w.]+)$/.exec(pageToken) ?? [];
  if (id === "") throw invalidField("page_token", "is invalid");
  return { bookedAt, id };
}

function toEntry(row: LedgerRow) {
  return { ...messageFields(row), paymentId: row.paymentId ?? "" };
}

const [isDay, isCurrency] = [/^\d{4}-\d\d-\d\d$/, /^[A-Z]{3}$/];

/** @throws Failure INVALID_BODY */
function fromLine(line: BankLine): NewBankLine {
  const { iban, statementId, position, currency, bookedOn, valueOn, text } = line;
  if (iban === "" || statementId === "" || position < 1) throw invalidField("lines", "must name account and statement");
  if (!isCurrency.test(currency)) throw invalidField("lines", "must have a currency");
  if (![bookedOn, valueOn].every((day) => isDay.test(day) && !Number.isNaN(Date.parse(day))))
    throw invalidField("lines", "must have days");
  return { ...line, remittance: text };
}

function toLine({ remittance, ...line }: StoredBankLine) {
  return { ...line, text: remittance };
}
