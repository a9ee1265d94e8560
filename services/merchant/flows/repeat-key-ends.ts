// A restored database has keys that were ended since its backup: what its own missing events say of that is done again,
// at once and by itself. It takes rights away and gives none, but for the addresses of a key, which become what they
// were last. One transaction.
import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { Database, Tx } from "#platform/database/database.ts";
import { eventSubject } from "#platform/events/streams.ts";
import { lostToDoAgain } from "#platform/service/recovery-store.ts";
import { clockNow } from "#platform/values/clock.ts";
import { type Event, EventSchema } from "#proto/events/v1/events_pb.ts";
import { lockKey, setAllowedIps, setExpiry, setRevoked } from "../store/api-keys.ts";

const batchMax = 200;
const types = ["api_key.revoked", "api_key.rolled", "api_key.limited"] as const;

/** @returns true when there may be more */
export async function repeatKeyEnds(db: Database, namespace: string): Promise<boolean> {
  const subjects = types.map((type) => eventSubject(namespace, "merchant", type));
  return await db.transaction(async (tx) => {
    const events = await lostToDoAgain(tx, subjects, batchMax);
    for (const { body } of events) await repeatEnds(tx, fromBinary(EventSchema, body));
    return events.length === batchMax;
  });
}

/** A key that was made since the backup is gone with its hash, so that nobody can use it. */
async function repeatEnds(
  tx: Tx,
  { type, merchantId, environment, objectId, occurredAt, attributes }: Event,
): Promise<void> {
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
