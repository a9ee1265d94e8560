// Stores a dispute file piece by piece, with one piece in memory. A file that breaks off or has a wrong type is
// dropped.
import type { Readable } from "node:stream";
import { asFailure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { dropDisputeFile, pieceBytes, piecesOf } from "../../../../http/body/pieces.ts";
import type { ConsoleContext, MerchantVisit } from "../../../session/visit.ts";

/** An upload; `truncated` if it exceeded the limit. */
type Incoming = Readable & { readonly truncated: boolean };

type StoredFile = { readonly id: string } | { readonly problem: "tooBig" | "wrongFile" | "tooMany" | "over" };

/** The type by the first bytes; the service checks the whole file. */
function typeOf(piece: Buffer): string | undefined {
  if (piece.subarray(0, 4).toString("latin1") === "\x89PNG") return "image/png";
  if (piece.subarray(0, 3).toString("latin1") === "\xff\xd8\xff") return "image/jpeg";
  // Some programs write a line break or a byte order mark first.
  return piece.subarray(0, 1_024).includes("%PDF-") ? "application/pdf" : undefined;
}

const problems = { INVALID_BODY: "wrongFile", TOO_MANY_FILES: "tooMany", DISPUTE_NOT_ANSWERABLE: "over" } as const;

export async function storeFile(
  { peers }: ConsoleContext,
  { merchantId, environment }: MerchantVisit,
  disputeId: string,
  file: Incoming,
): Promise<StoredFile> {
  const id = newId("file", Date.now());
  const of = { merchantId, environment, fileId: id };
  let [size, number] = [0, 0];
  try {
    for await (const piece of piecesOf(file, pieceBytes)) {
      if (number === 0) {
        const type = typeOf(piece);
        if (type === undefined) return { problem: "wrongFile" };
        await peers.disputes.beginDisputeFile({ merchantId, environment, disputeId, fileId: id, type });
      }
      await peers.disputes.appendDisputeFile({ ...of, number, bytes: piece });
      size += piece.length;
      number += 1;
    }
    if (file.truncated) {
      await dropDisputeFile(peers.disputes, of, number);
      return { problem: "tooBig" };
    }
    if (size === 0) return { problem: "wrongFile" };
    await peers.disputes.finishDisputeFile({ ...of, size });
    return { id };
  } catch (error) {
    await dropDisputeFile(peers.disputes, of, number);
    // The upload broke off.
    if (file.errored) return { problem: "wrongFile" };
    const problem = new Map(Object.entries(problems)).get(asFailure(error).reason);
    if (problem === undefined) throw error;
    return { problem };
  }
}
