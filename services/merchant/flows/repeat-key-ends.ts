// After a restore, repeats the revocations, rolls and limits of keys since the backup, and removes teams that were
// removed or got another token, from the service's own events in the stream. It only removes rights, except that a key
// gets its latest allowed addresses. One transaction per batch.
import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Database, Tx } from "#platform/database/database.ts";
import { eventSubject } from "#platform/events/streams.ts";
import { type LostRow, lostColumns, type OwnEvent, ownEvent } from "#platform/service/recovery-store.ts";
import { clockNow } from "#platform/values/clock.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { lockKey, setAllowedIps, setExpiry, setRevoked } from "../store/api-keys.ts";
import { deleteTeam } from "../store/teams.ts";

const batchMax = 200;
const types = ["api_key.revoked", "api_key.rolled", "api_key.limited", "team.rotated", "team.removed"] as const;

/** @returns true if there may be more */
export async function repeatKeyEnds(db: Database, namespace: string): Promise<boolean> {
  const subjects = types.map((type) => eventSubject(namespace, "merchant", type));
  return await db.transaction(async (tx) => {
    const events = await lostToDoAgain(tx, subjects, batchMax);
    for (const { body } of events) await repeatEnds(tx, fromBinary(EventSchema, body));
    return events.length === batchMax;
  });
}

/** Keys created since the backup are lost with their hashes and cannot authenticate. */
async function repeatEnds(
  tx: Tx,
  { type, merchantId, environment, objectId, occurredAt, attributes }: Event,
): Promise<void> {
  if (type.startsWith("team.")) await deleteTeam(tx, objectId.replace("team:", ""));
  const key = await lockKey(tx, { merchantId, environment }, objectId);
  if (!key) return;
  if (type === "api_key.revoked" && !key.revokedAt) await setRevoked(tx, key.id, timeOf(occurredAt));
  if (type === "api_key.rolled") {
    const at = new Date(attributes.expires_at ?? Number.NaN);
    const isSooner = !(key.expiresAt && key.expiresAt <= at);
    if (!Number.isNaN(at.getTime()) && isSooner) await setExpiry(tx, key.id, at);
  }
  if (type === "api_key.limited") await setAllowedIps(tx, key.id, rangesOf(attributes.allowed_ips ?? ""));
}

function timeOf(at: Event["occurredAt"]): Date {
  return at ? timestampDate(at) : clockNow();
}

function rangesOf(list: string): string[] {
  return list.split(" ").filter((range) => range !== "");
}

/** Events that the service itself must redo: call it in the transaction that does. */
async function lostToDoAgain(tx: Tx, subjects: readonly string[], limit: number): Promise<OwnEvent[]> {
  const rows = await tx.rows<LostRow>(
    `update recovery_events set done_again_at = now() where event_id in (
       select event_id from recovery_events where done_again_at is null and subject = any($1::text[])
       order by stream_seq limit $2 for update)
     returning ${lostColumns}`,
    [subjects, limit],
  );
  return rows.map(ownEvent).sort((one, other) => one.streamSeq - other.streamSeq);
}
