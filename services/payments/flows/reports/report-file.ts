// A report's file: pieces that are deflated and encrypted with a key of the report. The service's own keys encrypt that
// key only, so a new one of them rewrites no file.
import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import type { Database } from "#platform/database/database.ts";
import { Vault } from "#platform/secrets/vault.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import type { Owner } from "../../store/payment-records.ts";
import { findPiece, findReport, type StoredReport } from "../../store/reports.ts";

const [deflate, inflate] = [promisify(deflateRaw), promisify(inflateRaw)];

/** Context of the encrypted key, as services/services.ts has it. */
export const keyContext = (reportId: string) => `report:${reportId}`;

function vaultOf(vault: Vault, { id, dataKey }: Pick<StoredReport, "id" | "dataKey">): Vault {
  if (!dataKey) throw new Failure("NOT_FOUND");
  return new Vault(new Map([["report", vault.decrypt(dataKey, keyContext(id))]]));
}

/** @param beginsAt the piece's place in the file, which it cannot leave */
export async function sealPiece(vault: Vault, report: StoredReport, beginsAt: bigint, plain: Buffer): Promise<Buffer> {
  return vaultOf(vault, report).encrypt(await deflate(plain), `${report.id}:${beginsAt}`);
}

/** Bytes from the offset to the end of their piece. @throws Failure NOT_FOUND: also without a file */
export async function readReportFile(
  { db, vault }: { readonly db: Database; readonly vault: Vault },
  owner: Owner,
  { id, offset }: { readonly id: string; readonly offset: bigint },
): Promise<{ report: StoredReport; bytes: Uint8Array }> {
  const report = await findReport(db, owner, id);
  if (report?.status !== "ready") throw new Failure("NOT_FOUND");
  if (offset >= report.size) return { report, bytes: new Uint8Array() };
  const piece = requireFound(await findPiece(db, id, offset));
  const plain = await inflate(vaultOf(vault, report).decrypt(piece.bytes, `${id}:${piece.beginsAt}`));
  return { report, bytes: plain.subarray(Number(offset - piece.beginsAt)) };
}
