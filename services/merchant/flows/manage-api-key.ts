// Creates, rolls and revokes API keys: each ONE transaction that announces what happened to which key, so that gateways forget
// it at once. The raw key exists in the answer only; what is stored is its keyed hash.
import { randomBytes } from "node:crypto";
import type { Sql } from "#platform/database.ts";
import { Failure, invalid } from "#platform/failure.ts";
import { newId } from "#platform/id.ts";
import type { Announcement } from "#platform/outbox.ts";
import { keyedHash } from "#platform/secret.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { expiryAfterRoll, keyEntropyBytes, keyStatus, keySuffix, keyText } from "../rules/api-key.ts";
import { type ApiKey, insertKey, lockKey, setExpiry, setRevoked } from "../store/api-keys.ts";
import type { MerchantContext } from "./context.ts";

export interface KeyOwner {
  readonly merchantId: string;
  readonly environment: Environment;
}

export interface NewKey extends KeyOwner {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expiresAt: Date | null;
}

/** A key with its raw text, which nobody can read again. */
export interface IssuedKey {
  readonly secret: string;
  readonly key: ApiKey;
}

/** @throws Failure NOT_FOUND (no such merchant), INVALID_BODY (already expired). */
export async function createApiKey(context: MerchantContext, wanted: NewKey): Promise<IssuedKey> {
  if (wanted.expiresAt && wanted.expiresAt <= new Date()) throw invalid("expires_at", "must be in the future");
  const issued = await context.db.transaction((tx) => issueKey(context, tx, wanted));
  context.outbox.poke();
  return issued;
}

/**
 * Creates a successor that does not expire, with the same name and scopes; the old key stops after the overlap. Only an
 * active key can be rolled: a revoked one must not come back under another id.
 * @throws Failure NOT_FOUND.
 */
export async function rollApiKey(
  context: MerchantContext,
  owner: KeyOwner & { id: string },
  overlapSeconds: number,
): Promise<IssuedKey> {
  const issued = await context.db.transaction(async (tx) => {
    const now = new Date();
    const old = await lockKey(tx, owner);
    if (!old || keyStatus(old, now) !== "active") throw new Failure("NOT_FOUND");
    const expiresAt = expiryAfterRoll(old, overlapSeconds, now);
    await setExpiry(tx, old.id, expiresAt);
    const successor = await issueKey(context, tx, { ...owner, name: old.name, scopes: old.scopes, expiresAt: null });
    const attributes = { successor_id: successor.key.id, expires_at: expiresAt.toISOString() };
    await context.outbox.append(tx, [{ ...keyEvent("api_key.rolled", { ...old, expiresAt }, now), attributes }]);
    return successor;
  });
  context.outbox.poke();
  return issued;
}

/** Ends a key at once; a revoked one stays as it is. @throws Failure NOT_FOUND. */
export async function revokeApiKey(context: MerchantContext, owner: KeyOwner & { id: string }): Promise<void> {
  await context.db.transaction(async (tx) => {
    const key = await lockKey(tx, owner);
    if (!key) throw new Failure("NOT_FOUND");
    if (key.revokedAt) return;
    const now = new Date();
    await setRevoked(tx, key.id, now);
    await context.outbox.append(tx, [keyEvent("api_key.revoked", { ...key, revokedAt: now }, now)]);
  });
  context.outbox.poke();
}

async function issueKey(context: MerchantContext, sql: Sql, wanted: NewKey): Promise<IssuedKey> {
  const prefix = wanted.environment === Environment.LIVE ? "sk_live_" : "sk_test_";
  const secret = keyText(prefix, randomBytes(keyEntropyBytes));
  const now = new Date();
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
  if (!(await insertKey(sql, key, keyedHash(context.hashKey, secret)))) throw new Failure("NOT_FOUND");
  await context.outbox.append(sql, [keyEvent("api_key.created", key, now)]);
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
