// Changes a merchant's profile and branding in one or both environments, or its standing (by an operator). Each change
// is ONE transaction that announces `merchant.updated`, on which gateways drop the merchant's keys from their caches,
// or `branding.updated`.
import { clockNow } from "#platform/values/clock.ts";
import { Failure, invalidField, requireFound } from "#platform/values/failure.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import type { MerchantContext } from "../context.ts";
import { type Branding, brandingViolations, logoType } from "../rules/branding.ts";
import { type Home, isTimeZone, movedHome, type Profile, profileViolations, type Standing } from "../rules/profile.ts";
import { type BrandingRow, lockBranding } from "../store/brandings.ts";
import { insertLogo } from "../store/logos.ts";
import { findMerchant, lockMerchant, type Merchant } from "../store/merchants.ts";
import { setOnOutage } from "../store/routings.ts";
import { lockSandboxProfile, markProfilesSynced } from "../store/sandbox-profiles.ts";
import { merchantChanged } from "./create-merchant.ts";
import { notifyOwners } from "./people/notify-people.ts";

/** An unspecified environment means both: for an operator, or a gateway of 0.1.0. */
interface ChangeScope {
  readonly merchantId: string;
  readonly environment: Environment;
}

/**
 * @param home the caller's country and currency, which must equal the stored ones
 * @returns the merchant, and its profile in that environment; for both environments the live one
 * @throws Failure NOT_FOUND, INVALID_BODY.
 */
export async function updateProfile(
  context: MerchantContext,
  { merchantId, environment }: ChangeScope,
  { timeZone, ...change }: Partial<Profile> & { readonly timeZone?: string },
  home: Partial<Home> = {},
): Promise<{ merchant: Merchant; profile: Profile }> {
  const violations = profileViolations(change);
  if (timeZone && !isTimeZone(timeZone))
    violations.push({ field: "time_zone", problem: "must be an IANA time zone like Europe/Berlin" });
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const updated = await context.db.transaction(async (tx) => {
    const merchant = requireFound(await lockMerchant(tx.em, merchantId));
    const moved = movedHome(merchant, home);
    if (moved.length > 0) throw new Failure("INVALID_BODY", { violations: moved });
    await markProfilesSynced(tx);
    const sandbox = await lockSandboxProfile(tx.em, merchantId);
    if (environment !== Environment.LIVE) tx.em.assign(sandbox, change);
    if (environment !== Environment.SANDBOX) tx.em.assign(merchant, change);
    if (timeZone !== undefined) tx.em.assign(merchant, { timeZone });
    const changed = timeZone === undefined ? change : { ...change, timeZone };
    await context.outbox.append(tx, [merchantUpdated(merchant, environment, changed)]);
    return { merchant, profile: environment === Environment.SANDBOX ? sandbox : merchant };
  });
  context.outbox.wake();
  return updated;
}

// The live branding first, since it is the one returned for both.
const bothEnvironments = [Environment.LIVE, Environment.SANDBOX] as const;

/** @returns the branding in that environment; for both the live one @throws Failure NOT_FOUND, INVALID_BODY. */
export async function updateBranding(
  context: MerchantContext,
  { merchantId, environment }: ChangeScope,
  change: Partial<Branding>,
): Promise<Branding> {
  const violations = brandingViolations(change);
  if (violations.length > 0) throw new Failure("INVALID_BODY", { violations });
  const branding = await context.db.transaction(async (tx) => {
    await markProfilesSynced(tx);
    const found: BrandingRow[] = [];
    for (const each of environment === Environment.UNSPECIFIED ? bothEnvironments : [environment]) {
      const copy = await lockBranding(tx.em, merchantId, each);
      if (copy) found.push(copy);
    }
    const [first] = found;
    if (!first) throw new Failure("NOT_FOUND");
    for (const copy of found) tx.em.assign(copy, change);
    const event = { type: "branding.updated", merchantId, environment, objectId: merchantId, status: "" };
    const attributes = { changed: Object.keys(change).join(",") };
    await context.outbox.append(tx, [{ ...event, at: clockNow(), attributes }]);
    return first;
  });
  context.outbox.wake();
  return branding;
}

/** A crash between the two changes leaves a logo that no branding shows. @throws Failure NOT_FOUND, INVALID_BODY. */
export async function uploadLogo(
  context: MerchantContext,
  scope: ChangeScope,
  content: Buffer,
  origin: string,
): Promise<Branding> {
  const type = logoType(content);
  if (!type) throw invalidField("content", "must be a PNG, JPEG or WebP picture");
  if (!(await findMerchant(context.db.em(), scope.merchantId))) throw new Failure("NOT_FOUND");
  const id = await insertLogo(context.db, scope.merchantId, { type, content });
  return await updateBranding(context, scope, { logoUrl: new URL(`/logos/${id}`, origin).href });
}

/**
 * An operator may set any status, also an earlier one. The merchant's owners get a mail about a new one.
 * @param reason for the audit log and the mail; may be empty
 * @throws Failure NOT_FOUND.
 */
export async function updateStanding(
  context: MerchantContext,
  merchantId: string,
  change: Partial<Standing>,
  reason: string,
): Promise<Merchant> {
  const merchant = await context.db.transaction(async (tx) => {
    const found = requireFound(await lockMerchant(tx.em, merchantId));
    const isNewStatus = change.status !== undefined && change.status !== found.status;
    tx.em.assign(found, change);
    const { failoverEnabled } = change;
    if (failoverEnabled !== undefined) await setOnOutage(tx, merchantId, failoverEnabled ? "next" : "stop");
    await context.outbox.append(tx, [merchantUpdated(found, Environment.UNSPECIFIED, change, reason)]);
    if (isNewStatus) await notifyOwners(context, tx, found, reason);
    return found;
  });
  context.outbox.wake();
  context.mails.now();
  return merchant;
}

function merchantUpdated(merchant: Merchant, environment: Environment, change: object, reason = "") {
  const attributes = { changed: Object.keys(change).join(","), ...(reason !== "" && { reason }) };
  return { ...merchantChanged("merchant.updated", merchant), environment, attributes };
}
