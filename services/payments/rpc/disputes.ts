// payments.v1.DisputeService, in proto order.
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { scopeOf } from "#platform/database/idempotency.ts";
import { findCursor } from "#platform/lists/cursor.ts";
import { readPage } from "#platform/lists/dated-list.ts";
import type { Recovery } from "#platform/service/recovery.ts";
import { invalidField, requireFound } from "#platform/values/failure.ts";
import type { DisputeService } from "#proto/payments/v1/disputes_pb.ts";
import { acceptDispute } from "../flows/disputes/accept-dispute.ts";
import {
  appendDisputeFile,
  beginDisputeFile,
  finishDisputeFile,
  listDisputeFiles,
  readDisputeFile,
} from "../flows/disputes/add-file.ts";
import type { EvidenceDeps } from "../flows/disputes/drive-evidence.ts";
import { submitEvidence } from "../flows/disputes/submit-evidence.ts";
import { requireRecord } from "../flows/restore-archived.ts";
import { findDisputeRecord, listDisputeRecords } from "../lists/disputes.ts";
import { toDisputeFile, toDisputeRecord } from "../messages.ts";
import { fileTypes } from "../rules/file-content.ts";

type DisputesDeps = EvidenceDeps & {
  /** Blocks new requests to processors, where a lost operation may have been executed already. */
  readonly recovery: Pick<Recovery, "assertOff">;
};

export function disputesRpc(deps: DisputesDeps): ServiceImpl<typeof DisputeService> {
  const { db, recovery } = deps;
  return {
    getDispute: async (request) => {
      const dispute = requireFound(await findDisputeRecord(db, request, request.disputeId));
      return { dispute: toDisputeRecord(dispute) };
    },
    listDisputes: async (request) => {
      const { paymentId, status } = request;
      if (paymentId) await requireRecord(deps, request, paymentId);
      const filters = {
        status,
        paymentId,
        from: request.from && timestampDate(request.from),
        to: request.to && timestampDate(request.to),
        dueBefore: request.dueBefore && timestampDate(request.dueBefore),
      };
      const { rows, total, hasMore } = await readPage(
        request,
        (id) => findCursor(db, "disputes", request, id, "opened_at"),
        (window) => listDisputeRecords(db, request, filters, window),
      );
      return { disputes: rows.map(toDisputeRecord), total, hasMore };
    },
    beginDisputeFile: async ({ type: typeName, ...request }) => {
      const type = fileTypes.find((known) => known === typeName);
      if (!type) throw invalidField("type", `must be one of ${fileTypes.join(", ")}`);
      await beginDisputeFile(db, request, { ...request, type });
      return {};
    },
    appendDisputeFile: async (request) => {
      await appendDisputeFile(db, request, request);
      return {};
    },
    finishDisputeFile: async (request) => {
      const file = await finishDisputeFile(db, request, request);
      return { file: toDisputeFile(file) };
    },
    listDisputeFiles: async (request) => {
      const files = await listDisputeFiles(db, request, request.disputeId);
      return { files: files.map(toDisputeFile) };
    },
    readDisputeFile: async (request) => {
      const { file, bytes } = await readDisputeFile(db, request, request);
      return { file: toDisputeFile(file), bytes };
    },
    submitEvidence: (request) => {
      recovery.assertOff();
      return submitEvidence(deps, { ...request, idempotency: scopeOf("submit_evidence", request) });
    },
    acceptDispute: (request) => {
      recovery.assertOff();
      return acceptDispute(deps, { ...request, idempotency: scopeOf("accept_dispute", request) });
    },
  };
}
