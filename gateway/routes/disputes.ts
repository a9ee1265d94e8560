// Disputes: list, read, submit evidence, accept (docs/contract.md §5).
import { Type } from "typebox";
import { newId } from "#platform/values/id.ts";
import {
  DisputeFileJson,
  DisputeItem,
  DisputeOwn,
  disputeStatuses,
  presentDisputeFile,
  presentDisputeItem,
  presentDisputeOwn,
} from "../../services/public-json/dispute.ts";
import { enumSchema, idSchema } from "../../services/public-json/field.ts";
import { type GatewayContext, merchantRoute } from "../auth/auth.ts";
import { dropDisputeFile, pieceBytes, piecesOf } from "../http/body/pieces.ts";
import { bytesOf, typeOf } from "../http/body/raw-body.ts";
import { dayOrMoment } from "../http/own-formats.ts";
import { keyOrOwn, markReplay } from "../idempotency.ts";
import { NewEvidence, splitEvidence } from "../json/evidence.ts";
import { pageOf, pageQueryOf, pageSchema, windowOf } from "../json/parts/list.ts";
import { dayOrMomentOf, timeBounds } from "../json/parts/time-bound.ts";
import { strict } from "../operation.ts";
import type { Peers } from "../peers.ts";

const tag = "Disputes";
const disputeId = Type.Object({ id: idSchema("dispute", "Id of the dispute.") });
const moment = (description: string, example: string) =>
  Type.Optional(Type.String({ format: dayOrMoment, maxLength: 40, description, examples: [example] }));

const listQuery = Type.Object({
  ...pageQueryOf("dispute"),
  status: Type.Optional(enumSchema(disputeStatuses, "Exact match.")),
  payment_id: Type.Optional(idSchema("payment", "Only disputes of this payment.")),
  due_before: moment(
    "Only disputes whose evidence is due before: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC).",
    "2025-11-28",
  ),
  from: moment("Opened at or after: RFC 3339 or YYYY-MM-DD (the day's first moment, UTC).", "2025-11-01"),
  to: moment("Opened before or at: RFC 3339 or YYYY-MM-DD (the day's last moment, UTC).", "2025-11-30"),
});

export function disputeRoutes(context: GatewayContext, { disputes }: Pick<Peers, "disputes">): void {
  merchantRoute(context, {
    id: "listDisputes",
    method: "GET",
    path: "/v1/disputes",
    scope: "payments:read",
    tag,
    summary: "List disputes",
    description:
      "By opening time, newest first. `total` is exact for the filters. Use `status=needs_response` and `due_before` to list the disputes that need a response. A `payment_id` that is not yours is `not_found`.",
    query: listQuery,
    response: pageSchema(DisputeItem),
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, query }) => {
      const { status = "", payment_id: paymentId = "", due_before: due } = query;
      const dueBefore = due === undefined ? {} : { dueBefore: dayOrMomentOf("due_before", due) };
      const input = { merchantId, environment, paymentId, status, ...timeBounds(query), ...windowOf(query) };
      const answer = await disputes.listDisputes({ ...input, ...dueBefore });
      return pageOf(answer.disputes.map(presentDisputeItem), query, answer);
    },
  });
  merchantRoute(context, {
    id: "getDispute",
    method: "GET",
    path: "/v1/disputes/:id",
    scope: "payments:read",
    tag,
    summary: "Read a dispute",
    description: "With the evidence that was last sent.",
    params: disputeId,
    response: DisputeOwn,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const { dispute } = await disputes.getDispute({ merchantId, environment, disputeId: params.id });
      return presentDisputeOwn(dispute);
    },
  });
  responseRoutes(context, disputes);
}

function responseRoutes(context: GatewayContext, disputes: Peers["disputes"]): void {
  merchantRoute(context, {
    id: "submitDisputeEvidence",
    method: "POST",
    path: "/v1/disputes/:id/evidence",
    scope: "payments:write",
    tag,
    summary: "Submit evidence for a dispute",
    description:
      "Sends texts and uploaded files to the processor. Evidence can be submitted once and cannot be changed. At least one field is required; texts are trimmed and must not be blank. The dispute becomes `under_review` when the processor reports it. `evidence.status` is `pending` until the processor acknowledges the evidence; do not send it again.",
    params: disputeId,
    body: NewEvidence,
    response: DisputeOwn,
    errors: ["not_found", "dispute_not_answerable", "connector_error"],
    whileSuspended: true,
    idempotent: true,
    movesMoney: true,
    handle: async ({ principal: { merchantId, environment }, params, body, request, reply }) => {
      const input = { merchantId, environment, disputeId: params.id, ...splitEvidence(body) };
      const answer = await disputes.submitEvidence({ ...input, ...keyOrOwn(request) });
      markReplay(reply, answer.replayed);
      return presentDisputeOwn(answer.dispute);
    },
  });
  merchantRoute(context, {
    id: "acceptDispute",
    method: "POST",
    path: "/v1/disputes/:id/accept",
    scope: "payments:write",
    tag,
    summary: "Accept a dispute",
    description:
      "Concedes the dispute: it becomes `lost` when the processor reports it, and the buyer keeps the money. This cannot be undone. The body may be empty.",
    params: disputeId,
    body: Type.Object({}, strict),
    response: DisputeOwn,
    errors: ["not_found", "dispute_not_answerable", "connector_error"],
    whileSuspended: true,
    idempotent: true,
    movesMoney: true,
    handle: async ({ principal: { merchantId, environment }, params, request, reply }) => {
      const input = { merchantId, environment, disputeId: params.id };
      const answer = await disputes.acceptDispute({ ...input, ...keyOrOwn(request) });
      markReplay(reply, answer.replayed);
      return presentDisputeOwn(answer.dispute);
    },
  });
}

const types = ["application/pdf", "image/jpeg", "image/png"] as const;
const otherNames = {
  "application/x-pdf": "application/pdf",
  "image/jpg": "image/jpeg",
  "image/pjpeg": "image/jpeg",
  "image/x-png": "image/png",
} as const;
const fileMaxBytes = 5 * 1024 * 1024;
// Two pieces are in memory at once, so a merchant's budget (http/body/body-guard.ts) allows 8 uploads. More are refused
// with Retry-After: waiting would use up the request's time.
const heldBytes = 2 * pieceBytes;

export function disputeFileRoutes(context: GatewayContext, { disputes }: Pick<Peers, "disputes">): void {
  merchantRoute(context, {
    id: "uploadDisputeFile",
    method: "POST",
    path: "/v1/disputes/:id/files",
    scope: "payments:write",
    tag: "Disputes",
    summary: "Upload a file for evidence",
    description:
      "The body is the file: a complete and valid PDF, JPEG or PNG of at most 5 MiB. An image may have up to 20,000 pixels a side and 100 million in total. Bytes that phones, scanners or web frameworks append after the end are removed: `size` and `sha256` describe the stored file. A dispute has at most 20 files. More than 8 uploads at once are `service_unavailable`: send the file again after `Retry-After`. A file becomes evidence when you send its id with the evidence; an unused file is deleted after 30 days.",
    status: 201,
    params: Type.Object({ id: idSchema("dispute", "Id of the dispute.") }),
    raw: { types, otherNames, maxBytes: fileMaxBytes, heldBytes },
    response: DisputeFileJson,
    errors: ["not_found", "dispute_not_answerable", "too_many_files"],
    whileSuspended: true,
    handle: async ({ principal: { merchantId, environment }, params, request }) => {
      const owner = { merchantId, environment, fileId: newId("file") };
      const whole = { ...owner, disputeId: params.id, type: typeOf(request, { types, otherNames }) };
      let [number, size] = [0, 0];
      try {
        for await (const bytes of piecesOf(bytesOf(request, fileMaxBytes), pieceBytes)) {
          // An empty upload must not count as one of the dispute's files.
          if (number === 0) await disputes.beginDisputeFile(whole);
          await disputes.appendDisputeFile({ ...owner, number, bytes });
          number += 1;
          size += bytes.length;
        }
      } catch (error) {
        await dropDisputeFile(disputes, owner, number);
        throw error;
      }
      if (number === 0) await disputes.beginDisputeFile(whole);
      const { file } = await disputes.finishDisputeFile({ ...owner, size });
      return presentDisputeFile(file);
    },
  });
}
