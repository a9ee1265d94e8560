// Tells the world how far a chain of the audit log has come and with which hash, in ONE transaction with the note that
// it was told: as an event on the broker's stream, and as a line of the log. Whoever owns the database can write it
// anew, but not what is out already.
import type { Database } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { ChainPosition } from "../rules/audit-chain.ts";
import { insertSeal } from "../store/audit-seals.ts";

/** As an entry of the log it would move the head that it tells, day after day. */
export const headSealed = "audit.head_sealed";

export interface SealDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly log: Log;
}

/** @param head of a chain that was just followed up to there; one that is sealed already stays as it is */
export async function sealHead({ db, outbox, log }: SealDeps, merchantId: string, head: ChainPosition): Promise<void> {
  if (head.seq === 0n) return;
  const [sequence, hash] = [String(head.seq), Buffer.from(head.hash).toString("hex")];
  const isNew = await db.transaction(async (tx) => {
    if (!(await insertSeal(tx, merchantId, head))) return false;
    const about = { merchantId, environment: Environment.UNSPECIFIED, objectId: merchantId, status: "" };
    await outbox.append(tx, [{ type: headSealed, ...about, at: clockNow(), attributes: { sequence, hash } }]);
    return true;
  });
  if (!isNew) return;
  outbox.wake();
  log.info({ merchant_id: merchantId, sequence, hash }, "audit head sealed");
}
