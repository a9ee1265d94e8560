// Creates, rolls, limits and revokes API keys: each ONE transaction that announces what happened to which key, so that
// gateways forget it at once. The raw key exists in the answer only; what is stored is its keyed hash. Keys are made
// one after the other under the lock of their merchant, so that what the calling key has and how many there are hold
// until the commit.
import { randomBytes } from "node:crypto";
import type { MappedTx } from "#platform/database/mapped-database.ts";
import type { Announcement } from "#platform/events/outbox.ts";
import { callContext } from "#platform/values/call-context.ts";
import { clockNow } from "#platform/values/clock.ts";
import { entryName, Failure, invalid } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { allowedIpsMax, isSameList, readRange } from "../rules/allowed-ips.ts";
import {
  activeKeysMax,
  beginsBurst,
  burstKeys,
  burstMs,
  expiryAfterRoll,
  type KeyPower,
  keyEntropyBytes,
  keyStatus,
  keySuffix,
  keyText,
  mayGive,
  mayLimit,
} from "../rules/api-key.ts";
import {
  type ApiKey,
  countActiveKeys,
  countKeysSince,
  findKey,
  insertKey,
  type KeyOwner,
  lockKey,
  setAllowedIps,
  setExpiry,
  setRevoked,
} from "../store/api-keys.ts";
import { lockMerchant } from "../store/merchants.ts";
import { notifyPeople } from "./people/notify-people.ts";

/** Whose keys, and for whom they are made. */
export interface KeyInput extends KeyOwner {
  /** The key that calls, which gives no more than it has; undefined: an operator or a person does, who may give all. */
  readonly callerId: string | undefined;
}

export interface NewKey extends KeyInput {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Null: as the calling key's; never, if that does not expire or there is none. */
  readonly expiresAt: Date | null;
  /**
   * Ranges in any spelling, none for everywhere; undefined: the calling key's, everywhere if that has none or there is
   * none.
   */
  readonly allowedIps: readonly string[] | undefined;
}

/** A key with its raw text, which nobody can read again. */
export interface IssuedKey {
  readonly secret: string;
  readonly key: ApiKey;
  /** The merchant makes many keys at once. */
  readonly isBurst: boolean;
}

/**
 * @throws Failure NOT_FOUND (no such merchant), INVALID_BODY (already expired, no ranges), FORBIDDEN, TOO_MANY_KEYS.
 */
export async function createApiKey(context: MerchantContext, wanted: NewKey): Promise<IssuedKey> {
  const allowedIps = wanted.allowedIps && readAllowedIps(wanted.environment, wanted.allowedIps);
  const issued = await context.db.transaction(async (tx) => {
    const { caller, now } = await enterAsCaller(tx, wanted);
    if (wanted.expiresAt && wanted.expiresAt <= now) throw invalid("expires_at", "must be in the future");
    const power = {
      scopes: wanted.scopes,
      expiresAt: wanted.expiresAt ?? caller?.expiresAt ?? null,
      allowedIps: allowedIps ?? caller?.allowedIps ?? [],
    };
    assertMayGive(caller, power, now);
    await assertRoom(tx, wanted, now);
    return await issueKey(context, tx, { ...wanted, ...power }, now);
  });
  context.outbox.wake();
  context.mails.now();
  reportKeyBurst(context, issued);
  return issued;
}

/**
 * Creates a successor with the same name, scopes, addresses and expiry; the old key stops after the overlap. Only an
 * active key can be rolled: a revoked one must not come back under another id. Without an overlap it needs no room: one
 * key takes the place of the other.
 * @throws Failure NOT_FOUND, FORBIDDEN, TOO_MANY_KEYS.
 */
export async function rollApiKey(
  context: MerchantContext,
  input: KeyInput & { id: string },
  overlapSeconds: number,
): Promise<IssuedKey> {
  const issued = await context.db.transaction(async (tx) => {
    const { caller, now } = await enterAsCaller(tx, input);
    const old = await lockKey(tx, input, input.id);
    if (!old || keyStatus(old, now) !== "active") throw new Failure("NOT_FOUND");
    assertMayGive(caller, old, now);
    const ended = { ...old, expiresAt: expiryAfterRoll(old, overlapSeconds, now) };
    if (keyStatus(ended, now) === "active") await assertRoom(tx, input, now);
    await setExpiry(tx, old.id, ended.expiresAt);
    const successor = await issueKey(context, tx, old, now);
    const attributes = { successor_id: successor.key.id, expires_at: ended.expiresAt.toISOString() };
    await context.outbox.append(tx, [{ ...keyEvent("api_key.rolled", ended, now), attributes }]);
    return successor;
  });
  context.outbox.wake();
  context.mails.now();
  reportKeyBurst(context, issued);
  return issued;
}

/**
 * Says where an active key may be used from. What is so already is not announced again.
 * @param ranges in any spelling; none: everywhere
 * @throws Failure NOT_FOUND, INVALID_BODY, FORBIDDEN.
 */
export async function limitApiKey(
  context: MerchantContext,
  input: KeyInput & { id: string },
  ranges: readonly string[],
): Promise<ApiKey> {
  const allowedIps = readAllowedIps(input.environment, ranges);
  const limited = await context.db.transaction(async (tx) => {
    const { caller, now } = await enterAsCaller(tx, input);
    const old = await lockKey(tx, input, input.id);
    if (!old || keyStatus(old, now) !== "active") throw new Failure("NOT_FOUND");
    if (caller && !mayLimit(caller, old, allowedIps, now)) throw new Failure("FORBIDDEN");
    if (isSameList(allowedIps, old.allowedIps)) return old;
    await setAllowedIps(tx, old.id, allowedIps);
    const key = { ...old, allowedIps };
    const attributes = { allowed_ips_before: old.allowedIps.join(" "), allowed_ips: allowedIps.join(" ") };
    await context.outbox.append(tx, [{ ...keyEvent("api_key.limited", key, now), attributes }]);
    return key;
  });
  context.outbox.wake();
  return limited;
}

/**
 * Ends a key at once; a revoked one stays as it is. Whoever may manage keys may end any of them, also a stronger one: a
 * leak is stopped by whoever sees it first.
 * @throws Failure NOT_FOUND.
 */
export async function revokeApiKey(context: MerchantContext, owner: KeyOwner, id: string): Promise<ApiKey> {
  const revoked = await context.db.transaction(async (tx) => {
    const key = await lockKey(tx, owner, id);
    if (!key) throw new Failure("NOT_FOUND");
    if (key.revokedAt) return key;
    const now = clockNow();
    await setRevoked(tx, key.id, now);
    const ended = { ...key, revokedAt: now };
    await context.outbox.append(tx, [keyEvent("api_key.revoked", ended, now)]);
    return ended;
  });
  context.outbox.wake();
  return revoked;
}

/** The ranges in their one form, each once. @throws Failure INVALID_BODY that names each one that cannot be */
function readAllowedIps(environment: Environment, texts: readonly string[]): string[] {
  if (texts.length > 0 && environment !== Environment.LIVE) {
    throw invalid("allowed_ips", "must be left out: only a live key can be limited to addresses");
  }
  if (texts.length > allowedIpsMax) throw invalid("allowed_ips", `must have at most ${allowedIpsMax} items`);
  const read = texts.map(readRange);
  const violations = read.flatMap((each, i) =>
    "problem" in each ? [{ field: entryName("allowed_ips", i), problem: each.problem }] : [],
  );
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  return [...new Set(read.flatMap((each) => ("range" in each ? [each.range] : [])))];
}

/**
 * Waits for its turn to make a key. @returns the calling key as it is stored, and the time that everything is judged at
 */
async function enterAsCaller(tx: MappedTx, input: KeyInput): Promise<{ caller: ApiKey | undefined; now: Date }> {
  if (!(await lockMerchant(tx.em, input.merchantId))) throw new Failure("NOT_FOUND");
  const caller = input.callerId === undefined ? undefined : await findKey(tx, input, input.callerId);
  if (input.callerId !== undefined && !caller) throw new Failure("FORBIDDEN");
  return { caller, now: clockNow() };
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
    allowedIps: wanted.allowedIps,
    createdAt: now,
    expiresAt: wanted.expiresAt,
    revokedAt: null,
    lastUsedAt: null,
  };
  await insertKey(tx, key, context.hashKeys.hash(secret));
  const attributes = { ...(key.allowedIps.length > 0 && { allowed_ips: key.allowedIps.join(" ") }) };
  await context.outbox.append(tx, [{ ...keyEvent("api_key.created", key, now), attributes }]);
  const made = await countKeysSince(tx, key, new Date(now.getTime() - burstMs), burstKeys + 1);
  // Past a burst, which operators hear of, mails tell nothing more.
  if (made <= burstKeys) await notifyKeyCreated(context, tx, key);
  return { secret, key, isBurst: beginsBurst(made) };
}

/** The merchant's people but for the one who made it. */
async function notifyKeyCreated(context: MerchantContext, tx: MappedTx, key: ApiKey): Promise<void> {
  const { id: objectId, merchantId, environment, name: object } = key;
  const exceptPersonId = callContext.getStore()?.actor ?? "";
  const matter = { merchantId, environment, objectId, object, path: "keys", exceptPersonId };
  await notifyPeople(context, tx, { kind: "key_created", ...matter });
}

function reportKeyBurst({ log, metrics }: MerchantContext, { key, isBurst }: IssuedKey): void {
  if (!isBurst) return;
  metrics.keyBursts.inc({ environment: key.environment === Environment.LIVE ? "live" : "sandbox" });
  log.warn({ merchant_id: key.merchantId, key_id: key.id, keys: burstKeys }, "a merchant makes many API keys at once");
}

function keyEvent(
  type: `api_key.${"created" | "rolled" | "limited" | "revoked"}`,
  key: ApiKey,
  at: Date,
): Announcement {
  return {
    type,
    merchantId: key.merchantId,
    environment: key.environment,
    objectId: key.id,
    status: keyStatus(key, at),
    at,
  };
}
