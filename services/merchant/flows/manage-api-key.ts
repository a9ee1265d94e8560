// Creates, rolls, limits and revokes API keys, each in ONE transaction that announces the change to the gateways'
// caches. Only the response contains the raw key; the database stores its keyed hash. The merchant's lock keeps the
// calling key and the number of keys unchanged until the commit.
import { randomBytes } from "node:crypto";
import type { Announcement } from "#platform/events/outbox.ts";
import { callContext } from "#platform/values/call-context.ts";
import { clockNow } from "#platform/values/clock.ts";
import { entryName, Failure, invalidField, requireFound } from "#platform/values/failure.ts";
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
import type { MappedTx } from "../store/mapped-database.ts";
import { lockMerchant } from "../store/merchants.ts";
import { notifyPeople } from "./people/notify-people.ts";

interface KeyInput extends KeyOwner {
  /** The calling key, which cannot grant more than its own rights. Undefined for an operator or a person. */
  readonly callerId: string | undefined;
}

interface NewKey extends KeyInput {
  readonly name: string;
  readonly scopes: readonly string[];
  /** Null for the calling key's expiry. */
  readonly expiresAt: Date | null;
  /** Ranges in any spelling; an empty list allows every address. Undefined for the calling key's ranges. */
  readonly allowedIps: readonly string[] | undefined;
}

interface IssuedKey {
  readonly secret: string;
  readonly key: ApiKey;
  /** Whether this key starts a burst of new keys. */
  readonly isBurst: boolean;
}

/** @throws Failure NOT_FOUND (merchant), INVALID_BODY, FORBIDDEN, TOO_MANY_KEYS. */
export async function createApiKey(context: MerchantContext, input: NewKey): Promise<IssuedKey> {
  const allowedIps = input.allowedIps && readAllowedIps(input.environment, input.allowedIps);
  const issued = await context.db.transaction(async (tx) => {
    const { caller, now } = await lockForCaller(tx, input);
    if (input.expiresAt && input.expiresAt <= now) throw invalidField("expires_at", "must be in the future");
    const power = {
      scopes: input.scopes,
      expiresAt: input.expiresAt ?? caller?.expiresAt ?? null,
      allowedIps: allowedIps ?? caller?.allowedIps ?? [],
    };
    assertMayGive(caller, power, now);
    await assertRoom(tx, input, now);
    return await issueKey(context, tx, { ...input, ...power }, now);
  });
  afterIssue(context, issued);
  return issued;
}

/**
 * Creates a successor with the same name, scopes, addresses and expiry; the old key stops after the overlap. Only an
 * active key can be rolled: a revoked one must not come back under another id. Without an overlap the number of active
 * keys stays the same, so the limit does not apply.
 * @throws Failure NOT_FOUND, FORBIDDEN, TOO_MANY_KEYS.
 */
export async function rollApiKey(
  context: MerchantContext,
  input: KeyInput & { id: string },
  overlapSeconds: number,
): Promise<IssuedKey> {
  const issued = await context.db.transaction(async (tx) => {
    const { caller, now } = await lockForCaller(tx, input);
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
  afterIssue(context, issued);
  return issued;
}

function afterIssue({ outbox, mails, log, metrics }: MerchantContext, { key, isBurst }: IssuedKey): void {
  outbox.wake();
  mails.now();
  if (!isBurst) return;
  metrics.keyBursts.inc({ environment: key.environment === Environment.LIVE ? "live" : "sandbox" });
  log.warn({ merchant_id: key.merchantId, key_id: key.id, keys: burstKeys }, "many API keys created");
}

/**
 * Sets the addresses that an active key may be used from. An unchanged list is not announced.
 * @param ranges in any spelling; an empty list allows every address
 * @throws Failure NOT_FOUND, INVALID_BODY, FORBIDDEN.
 */
export async function limitApiKey(
  context: MerchantContext,
  input: KeyInput & { id: string },
  ranges: readonly string[],
): Promise<ApiKey> {
  const allowedIps = readAllowedIps(input.environment, ranges);
  const limited = await context.db.transaction(async (tx) => {
    const { caller, now } = await lockForCaller(tx, input);
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
 * Revokes a key at once. Every caller that may manage keys may revoke any key, even a stronger one: stopping a leak
 * must not wait.
 * @throws Failure NOT_FOUND.
 */
export async function revokeApiKey(context: MerchantContext, owner: KeyOwner, id: string): Promise<ApiKey> {
  const revoked = await context.db.transaction(async (tx) => {
    const key = requireFound(await lockKey(tx, owner, id));
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

/** The ranges in canonical form without duplicates. @throws Failure INVALID_BODY that names each invalid range */
function readAllowedIps(environment: Environment, texts: readonly string[]): string[] {
  if (texts.length > 0 && environment !== Environment.LIVE) {
    throw invalidField("allowed_ips", "must be left out: only a live key can be limited to addresses");
  }
  if (texts.length > allowedIpsMax) throw invalidField("allowed_ips", `must have at most ${allowedIpsMax} items`);
  const read = texts.map(readRange);
  const violations = read.flatMap((each, i) =>
    "problem" in each ? [{ field: entryName("allowed_ips", i), problem: each.problem }] : [],
  );
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  return [...new Set(read.flatMap((each) => ("range" in each ? [each.range] : [])))];
}

/** Locks the merchant. @returns the stored calling key, and the time for all checks */
async function lockForCaller(tx: MappedTx, input: KeyInput): Promise<{ caller: ApiKey | undefined; now: Date }> {
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
  { merchantId, environment, name, scopes, allowedIps, expiresAt }: KeyOwner & KeyPower & { readonly name: string },
  now: Date,
): Promise<IssuedKey> {
  const secret = keyText(environment === Environment.LIVE ? "sk_live_" : "sk_test_", randomBytes(keyEntropyBytes));
  const owner = { merchantId, environment };
  const times = { createdAt: now, expiresAt, revokedAt: null, lastUsedAt: null };
  const suffix = keySuffix(secret);
  const key: ApiKey = { id: newId("apiKey"), ...owner, name, suffix, scopes, allowedIps, ...times };
  await insertKey(tx, key, context.hashKeys.hash(secret));
  const attributes = { ...(key.allowedIps.length > 0 && { allowed_ips: key.allowedIps.join(" ") }) };
  await context.outbox.append(tx, [{ ...keyEvent("api_key.created", key, now), attributes }]);
  const made = await countKeysSince(tx, key, new Date(now.getTime() - burstMs), burstKeys + 1);
  // A burst alerts the operators; more mails about it would not help.
  if (made <= burstKeys) await notifyKeyCreated(context, tx, key);
  return { secret, key, isBurst: beginsBurst(made) };
}

/** Notifies the merchant's people except the key's creator. */
async function notifyKeyCreated(context: MerchantContext, tx: MappedTx, key: ApiKey): Promise<void> {
  const { id: objectId, merchantId, environment, name: object } = key;
  const exceptPersonId = callContext.getStore()?.actor ?? "";
  const matter = { merchantId, environment, objectId, object, path: "keys", exceptPersonId };
  await notifyPeople(context, tx, { kind: "key_created", ...matter });
}

function keyEvent(type: `api_key.${"created" | "rolled" | "limited" | "revoked"}`, key: ApiKey, at: Date) {
  const { merchantId, environment, id: objectId } = key;
  return { type, merchantId, environment, objectId, status: keyStatus(key, at), at } satisfies Announcement;
}
