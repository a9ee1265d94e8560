// Creates, rolls and revokes API keys: each ONE transaction that announces what happened to which key, so that gateways forget
// it at once. The raw key exists in the answer only; what is stored is its keyed hash. Keys are made one after the other under the
// lock of their merchant, so that what the calling key has and how many there are hold until the commit.
import { randomBytes } from "node:crypto";
import { Failure, invalid } from "#platform/failure.ts";
import { newId } from "#platform/id.ts";
import type { MappedTx } from "#platform/mapped-database.ts";
import type { Announcement } from "#platform/outbox.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import {
  activeKeysMax,
  expiryAfterRoll,
  type KeyPower,
  keyEntropyBytes,
  keyStatus,
  keySuffix,
  keyText,
  mayGive,
} from "../rules/api-key.ts";
import {
  type ApiKey,
  countActiveKeys,
  findKey,
  insertKey,
  type KeyOwner,
  lockKey,
  setExpiry,
  setRevoked,
} from "../store/api-keys.ts";
import { lockMerchant } from "../store/merchants.ts";
import type { MerchantContext } from "./context.ts";

/** Whose keys, and for whom they are made. */
export interface KeyWish extends KeyOwner {
  /** The key that calls, which gives no more than it has; undefined: an operator does, who may give everything. */
  readonly callerId: string | undefined;
}

export interface NewKey extends KeyWish {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Null: as the calling key's; never, if that does not expire or there is none. */
  readonly expiresAt: Date | null;
}

/** A key with its raw text, which nobody can read again. */
export interface IssuedKey {
  readonly secret: string;
  readonly key: ApiKey;
}

/** @throws Failure NOT_FOUND (no such merchant), INVALID_BODY (already expired), FORBIDDEN, TOO_MANY_KEYS. */
export async function createApiKey(context: MerchantContext, wanted: NewKey): Promise<IssuedKey> {
  const issued = await context.db.transaction(async (tx) => {
    const { caller, now } = await enter(tx, wanted);
    if (wanted.expiresAt && wanted.expiresAt <= now) throw invalid("expires_at", "must be in the future");
    const power = { scopes: wanted.scopes, expiresAt: wanted.expiresAt ?? caller?.expiresAt ?? null };
    assertMayGive(caller, power, now);
    await assertRoom(tx, wanted, now);
    return await issueKey(context, tx, { ...wanted, ...power }, now);
  });
  context.outbox.poke();
  return issued;
}

/**
 * Creates a successor with the same name, scopes and expiry; the old key stops after the overlap. Only an active key can be rolled:
 * a revoked one must not come back under another id. Without an overlap it needs no room: one key takes the place of the other.
 * @throws Failure NOT_FOUND, FORBIDDEN, TOO_MANY_KEYS.
 */
export async function rollApiKey(
  context: MerchantContext,
  wish: KeyWish & { id: string },
  overlapSeconds: number,
): Promise<IssuedKey> {
  const issued = await context.db.transaction(async (tx) => {
    const { caller, now } = await enter(tx, wish);
    const old = await lockKey(tx, wish, wish.id);
    if (!old || keyStatus(old, now) !== "active") throw new Failure("NOT_FOUND");
    assertMayGive(caller, old, now);
    const ended = { ...old, expiresAt: expiryAfterRoll(old, overlapSeconds, now) };
    if (keyStatus(ended, now) === "active") await assertRoom(tx, wish, now);
    await setExpiry(tx, old.id, ended.expiresAt);
    const successor = await issueKey(context, tx, old, now);
    const attributes = { successor_id: successor.key.id, expires_at: ended.expiresAt.toISOString() };
    await context.outbox.append(tx, [{ ...keyEvent("api_key.rolled", ended, now), attributes }]);
    return successor;
  });
  context.outbox.poke();
  return issued;
}

/**
 * Ends a key at once; a revoked one stays as it is. Whoever may manage keys may end any of them, also a stronger one: a leak is
 * stopped by whoever sees it first.
 * @throws Failure NOT_FOUND.
 */
export async function revokeApiKey(context: MerchantContext, owner: KeyOwner, id: string): Promise<ApiKey> {
  const revoked = await context.db.transaction(async (tx) => {
    const key = await lockKey(tx, owner, id);
    if (!key) throw new Failure("NOT_FOUND");
    if (key.revokedAt) return key;
    const now = new Date();
    await setRevoked(tx, key.id, now);
    const ended = { ...key, revokedAt: now };
    await context.outbox.append(tx, [keyEvent("api_key.revoked", ended, now)]);
    return ended;
  });
  context.outbox.poke();
  return revoked;
}

/** Waits for its turn to make a key. @returns the calling key as it is stored, and the time that everything is judged at */
async function enter(tx: MappedTx, wish: KeyWish): Promise<{ caller: ApiKey | undefined; now: Date }> {
  if (!(await lockMerchant(tx.em, wish.merchantId))) throw new Failure("NOT_FOUND");
  const caller = wish.callerId === undefined ? undefined : await findKey(tx, wish, wish.callerId);
  if (wish.callerId !== undefined && !caller) throw new Failure("FORBIDDEN");
  return { caller, now: new Date() };
}

function assertMayGive(caller: ApiKey | undefined, power: KeyPower, now: Date): void {
  if (caller && !mayGive(caller, power, now)) throw new Failure("FORBIDDEN");
}

async function assertRoom(tx: MappedTx, owner: KeyOwner, now: Date): Promise<void> {
  if ((await countActiveKeys(tx, owner, now)) >= activeKeysMax) throw new Failure("TOO_MANY_KEYS");
}

async function issueKey(
  context: MerchantContext,
  tx: MappedTx,
  wanted: KeyOwner & KeyPower & { readonly name: string },
  now: Date,
): Promise<IssuedKey> {
  const prefix = wanted.environment === Environment.LIVE ? "sk_live_" : "sk_test_";
  const secret = keyText(prefix, randomBytes(keyEntropyBytes));
  const key: ApiKey = {
    id: newId("apiKey"),
    merchantId: wanted.merchantId,
    environment: wanted.environment,
    name: wanted.name,
    suffix: keySuffix(secret),
    scopes: wanted.scopes,
    createdAt: now,
    expiresAt: wanted.expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  };
  await insertKey(tx, key, context.hashKeys.hash(secret));
  await context.outbox.append(tx, [keyEvent("api_key.created", key, now)]);
  return { secret, key };
}

function keyEvent(type: `api_key.${"created" | "rolled" | "revoked"}`, key: ApiKey, at: Date): Announcement {
  return {
    type,
    merchantId: key.merchantId,
    environment: key.environment,
    objectId: key.id,
    status: keyStatus(key, at),
    at,
  };
}
