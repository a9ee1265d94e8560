// Uploads evidence files: streams the bytes to payments in pieces, so no replica holds a whole file. Payments detects
// the type. Files are never served.
import { Type } from "typebox";
import { newId } from "#platform/values/id.ts";
import { type GatewayContext, merchantRoute } from "../../auth/auth.ts";
import { dropDisputeFile, pieceBytes, piecesOf } from "../../http/body/pieces.ts";
import { bytesOf, typeOf } from "../../http/body/raw-body.ts";
import { DisputeFileJson, presentDisputeFile } from "../../json/dispute.ts";
import { idSchema } from "../../json/parts/field.ts";
import type { Peers } from "../../peers.ts";

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
  merchantRoute(
    context,
    "payments:write",
    {
      id: "uploadDisputeFile",
      method: "POST",
      path: "/v1/disputes/:id/files",
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
    },
    async ({ principal: { merchantId, environment }, params, request }) => {
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
  );
}
