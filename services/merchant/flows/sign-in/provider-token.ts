// An ID token as the flows take it: verified at the provider, and good for one use.
import { createHash } from "node:crypto";
import type { Sql } from "#platform/database/database.ts";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import type { MerchantContext } from "../../context.ts";
import { spendToken } from "../../store/sign-in/provider-links.ts";
import { type ProvedIdentity, TokenRefused } from "./provider.ts";

export interface ProviderToken {
  readonly idToken: string;
  /** That the browser was sent off with. */
  readonly nonce: string;
}

/** @throws Failure UNAUTHORIZED, FEATURE_DISABLED, SERVICE_UNAVAILABLE */
export async function verifyToken(
  { provider, log }: MerchantContext,
  { idToken, nonce }: ProviderToken,
): Promise<ProvedIdentity & { readonly issuer: string }> {
  if (!provider) throw new Failure("FEATURE_DISABLED");
  try {
    return { ...(await provider.verify(idToken, nonce)), issuer: provider.issuer };
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    log.warn({ why: error.message }, "a token of the identity provider was refused");
    throw new Failure("UNAUTHORIZED", { cause: error });
  }
}

/**
 * Known again by what is signed: a signature can be written in other letters, or made anew of itself, and still hold.
 * @throws Failure UNAUTHORIZED: it was used before
 */
export async function useTokenUp(sql: Sql, { idToken }: ProviderToken): Promise<void> {
  const signed = idToken.slice(0, idToken.lastIndexOf("."));
  const hash = createHash("sha256").update(signed).digest();
  if (!(await spendToken(sql, hash, clockNow()))) throw new Failure("UNAUTHORIZED");
}
