// A file as it comes, for services that take it piece by piece.
import { renewTime } from "#platform/values/call-context.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Peers } from "../../peers.ts";

/** What payments takes in one call. */
export const pieceBytes = 256 * 1024;

/**
 * Bytes in pieces of this size, the last one shorter; no more than a piece and what came last is held. A slow line has
 * all the time that the server gives a request to arrive: that of the work begins anew with each piece.
 */
export async function* piecesOf(
  chunks: AsyncIterable<unknown>,
  pieceBytes: number,
): AsyncGenerator<Buffer<ArrayBuffer>> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    if (!Buffer.isBuffer(chunk)) throw new Error("a file is bytes");
    let rest = chunk;
    while (heldBytes + rest.length >= pieceBytes) {
      const end = pieceBytes - heldBytes;
      renewTime();
      yield Buffer.concat([...held, rest.subarray(0, end)]);
      rest = rest.subarray(end);
      [held, heldBytes] = [[], 0];
    }
    held.push(rest);
    heldBytes += rest.length;
  }
  renewTime();
  if (heldBytes > 0) yield Buffer.concat(held);
}

/** Drops an upload that ended early at once; a job would do so minutes later. @param pieces stored; 0: not begun */
export async function dropDisputeFile(
  disputes: Pick<Peers["disputes"], "finishDisputeFile">,
  file: { readonly merchantId: string; readonly environment: Environment; readonly fileId: string },
  pieces: number,
): Promise<void> {
  if (pieces === 0) return;
  // A file of another size than was sent is not kept, and this one has no end.
  await disputes.finishDisputeFile({ ...file, size: 0 }).catch(() => {});
}
