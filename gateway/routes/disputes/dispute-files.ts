// Files for evidence: raw bytes, handed to payments piece by piece as they come, so that no replica ever holds a file.
// What they are is judged there, by the bytes. Nothing serves them again.
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
// Two pieces are held at once, so that a merchant's room for uploads (http/body/body-guard.ts) is for 8: more are
// refused with Retry-After rather than kept waiting, which would use up their time to arrive.
const heldBytes = 2 * pieceBytes;

/** Adds the operation. */
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
        "The body is the file itself: a PDF, a JPEG or a PNG of at most 5 MiB, whole (a PNG with right checksums, a PDF that is one document). What phones, scanners and web frameworks append is cut off: `size` and `sha256` are those of the stored file; a picture has at most 20,000 pixels a side and 100 million in all. At most 20 files a dispute, and 8 uploads at once: what is beyond is `service_unavailable` before any of it is read, so send it again after `Retry-After`. A file is part of the evidence once its id is sent with it; one that is never sent is deleted after 30 days.",
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
          // Not before: an upload of which nothing comes would count as one of the dispute's files.
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
