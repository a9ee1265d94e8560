// A file as it comes, for services that take it piece by piece.
import { renewTime } from "#platform/values/time-budget.ts";

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
