// Splits an upload into pieces for a service.
import { renewTime } from "#platform/values/call-context.ts";
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Peers } from "../../peers.ts";

/** Limit of one call to payments. */
export const pieceBytes = 256 * 1024;

/**
 * Holds at most one piece and one chunk. The deadline is renewed with each piece: a slow upload may take as long as the
 * server's limit for a request.
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

/** Drops an incomplete upload immediately; a job would do so minutes later. @param pieces number stored */
export async function dropDisputeFile(
  disputes: Pick<Peers["disputes"], "finishDisputeFile">,
  file: { readonly merchantId: string; readonly environment: Environment; readonly fileId: string },
  pieces: number,
): Promise<void> {
  if (pieces === 0) return;
  // Finishing with a wrong size discards the file.
  await disputes.finishDisputeFile({ ...file, size: 0 }).catch(() => {});
}
