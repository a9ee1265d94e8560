// An upload that ended early is none of its dispute's files: it is dropped at once, or else by a job minutes later.
import type { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { Peers } from "../../peers.ts";

/** @param pieces that were stored of it; 0: it was not begun */
export async function dropDisputeFile(
  disputes: Pick<Peers["disputes"], "finishDisputeFile">,
  file: { readonly merchantId: string; readonly environment: Environment; readonly fileId: string },
  pieces: number,
): Promise<void> {
  if (pieces === 0) return;
  // A file of another size than was sent is not kept, and this one has no end.
  await disputes.finishDisputeFile({ ...file, size: 0 }).catch(() => {});
}
