// Stores a file of a dispute, one piece per call: no process holds a whole file. Phases, each safe to rerun: 1 begin,
// in one transaction · 2 each piece · 3 check all bytes, piece by piece · 4 drop the file, or cut off appended bytes
// and finish it, in one transaction. A stored file is read piece by piece, too.
import { createHash } from "node:crypto";
import type { Database, Tx } from "#platform/database/database.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import { filesMax, isAnswerable } from "../../rules/evidence.ts";
import { FileContent, type FileType } from "../../rules/file-content.ts";
import { cleanFileName } from "../../rules/file-name.ts";
import {
  appendPiece,
  beginFile,
  cutFile,
  dropFile,
  filesOf,
  findOwnFile,
  findPiece,
  finishFile,
  lockBegunFile,
  piecesOf,
  type StoredFile,
} from "../../store/disputes/dispute-files.ts";
import { findOwnDispute } from "../../store/disputes/disputes.ts";
import type { Owner } from "../../store/payment-records.ts";
import { lockPayment } from "../../store/payments.ts";

/** @throws Failure NOT_FOUND, DISPUTE_NOT_ANSWERABLE, TOO_MANY_FILES. */
export async function beginDisputeFile(
  db: Database,
  owner: Owner,
  { disputeId, fileId, type, name = "" }: { disputeId: string; fileId: string; type: FileType; name?: string },
): Promise<void> {
  const dispute = requireFound(await findOwnDispute(db, owner, disputeId));
  if (!isAnswerable(dispute.status)) throw new Failure("DISPUTE_NOT_ANSWERABLE");
  const isBegun = await db.transaction(async (tx) => {
    await lockPayment(tx, dispute.paymentId);
    return await beginFile(tx, { id: fileId, disputeId, type, name: cleanFileName(name) }, filesMax);
  });
  if (!isBegun) throw new Failure("TOO_MANY_FILES");
}

/** @throws Failure NOT_FOUND: no such file, or it is finished. */
export async function appendDisputeFile(
  db: Database,
  owner: Owner,
  { fileId, number, bytes }: { fileId: string; number: number; bytes: Uint8Array },
): Promise<void> {
  const file = await findOwnFile(db, owner, fileId);
  if (file?.size !== undefined || !file) throw new Failure("NOT_FOUND");
  await appendPiece(db, fileId, number, bytes);
}

/** @param size bytes sent. @throws Failure NOT_FOUND, INVALID_BODY: its content does not match its type. */
export async function finishDisputeFile(
  db: Database,
  owner: Owner,
  { fileId, size: sent }: { fileId: string; size: number },
): Promise<StoredFile> {
  const file = requireFound(await findOwnFile(db, owner, fileId));
  if (file.size !== undefined) return file;
  const content = new FileContent(file.type);
  let arrived = 0;
  for await (const piece of piecesOf(db, fileId)) {
    content.take(piece);
    arrived += piece.length;
  }
  const problem = content.end() ?? (arrived === sent ? undefined : "must be complete");
  if (problem !== undefined) {
    await dropFile(db, fileId);
    throw invalidField("", problem);
  }
  return await db.transaction(async (tx) => {
    if (await lockBegunFile(tx, fileId)) {
      if (content.length < arrived) await cutFile(tx, fileId, content.length);
      await finishFile(tx, fileId, content.length, await hashOf(tx, fileId));
    }
    const whole = requireFound(await findOwnFile(tx, owner, fileId));
    return whole;
  });
}

/** The complete files of the owner's dispute. @throws Failure NOT_FOUND. */
export async function listDisputeFiles(db: Database, owner: Owner, disputeId: string): Promise<StoredFile[]> {
  if (!(await findOwnDispute(db, owner, disputeId))) throw new Failure("NOT_FOUND");
  return await filesOf(db, disputeId);
}

/** A piece of a complete file. @throws Failure NOT_FOUND: also when its bytes are deleted. */
export async function readDisputeFile(
  db: Database,
  owner: Owner,
  { fileId, number }: { fileId: string; number: number },
): Promise<{ file: StoredFile; bytes: Buffer }> {
  const file = await findOwnFile(db, owner, fileId);
  const bytes = file?.size === undefined ? undefined : await findPiece(db, fileId, number);
  if (!file || !bytes) throw new Failure("NOT_FOUND");
  return { file, bytes };
}

async function hashOf(tx: Tx, fileId: string): Promise<Buffer> {
  const hash = createHash("sha256");
  for await (const piece of piecesOf(tx, fileId)) hash.update(piece);
  return hash.digest();
}
