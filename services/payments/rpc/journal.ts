// payments.v1.JournalService, in proto order.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import { keysetPage } from "#platform/lists/cursor.ts";
import { invalidField, requireFound } from "#platform/values/failure.ts";
import type { JournalService, AdjustmentLine as WireLine } from "#proto/payments/v1/journal_pb.ts";
import { type AdjustDeps, decideProposal, proposeAdjustment } from "../flows/adjust-journal.ts";
import { toJournalEntry } from "../messages.ts";
import { isJournalAccount, readLine } from "../rules/adjustment.ts";
import { listEntries } from "../store/journal.ts";
import { findAdjustment, listAdjustments, type StoredAdjustment } from "../store/ledger/adjustments.ts";

export function journalRpc(deps: AdjustDeps): ServiceImpl<typeof JournalService> {
  const { db } = deps;
  return {
    listEntries: async ({ pageToken, limit, since, until, account, paymentId, merchantId, environment }) => {
      if (pageToken !== "" && !/^\d{1,18}$/.test(pageToken)) throw invalidField("page_token", "is invalid");
      if (account !== "" && !isJournalAccount(account)) throw invalidField("account", "is not a journal account");
      const found = await listEntries(db, {
        paymentId,
        merchantId,
        environment,
        account,
        since: since && timestampDate(since),
        until: until && timestampDate(until),
        beforeId: pageToken,
        limit: limit + 1,
      });
      const entries = found.slice(0, limit);
      return {
        entries: entries.map(toJournalEntry),
        nextPageToken: found.length > limit ? String(entries.at(-1)?.id) : "",
      };
    },
    listAdjustments: async ({ state, merchantId, ...paging }) => {
      const { page, nextPageToken } = await keysetPage("adjustment", paging, (beforeId, limit) =>
        listAdjustments(db, { state, merchantId, beforeId, limit }),
      );
      return { adjustments: page.map(toAdjustment), nextPageToken };
    },
    getAdjustment: async ({ adjustmentId }) => {
      const found = requireFound(await findAdjustment(db, adjustmentId));
      return { adjustment: toAdjustment(found) };
    },
    proposeAdjustment: async ({ merchantId, environment, aboutPaymentId, reason, lines, idempotencyKey }) => {
      const input = { merchantId, environment, aboutPaymentId, reason, lines: lines.map(fromLine), idempotencyKey };
      return { adjustment: toAdjustment(await proposeAdjustment(deps, input)) };
    },
    approveAdjustment: async ({ adjustmentId, note }) => {
      return { adjustment: toAdjustment(await decideProposal(deps, adjustmentId, { state: "approved", note })) };
    },
    rejectAdjustment: async ({ adjustmentId, note }) => {
      return { adjustment: toAdjustment(await decideProposal(deps, adjustmentId, { state: "rejected", note })) };
    },
  };
}

/** @throws Failure INVALID_BODY */
function fromLine(line: WireLine, index: number) {
  const read = readLine(line);
  if ("field" in read) throw invalidField(`lines[${index}].${read.field}`, read.problem);
  return read;
}

function toAdjustment(stored: StoredAdjustment) {
  return { ...messageFields(stored), lines: [...stored.lines] };
}
