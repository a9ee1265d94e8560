// The company's identity provider (OpenID Connect Core 1.0 and Discovery 1.0): verifies ID tokens and lets each be used
// once. A token must be recent, for this client, and about an address that the provider has verified.
import { createHash } from "node:crypto";
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose";
import type { Sql } from "#platform/database/database.ts";
import { sameSecret } from "#platform/secrets/vault.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { clockNow } from "#platform/values/clock.ts";
import { isEmail } from "#platform/values/email.ts";
import { Failure } from "#platform/values/failure.ts";
import { normalEmail } from "../../rules/people/person.ts";
import { spendToken } from "../../store/sign-in/provider-links.ts";

/** Asymmetric only: otherwise the client's secret would be enough to forge tokens. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const requestMsMax = 5_000;
const bytesMax = 65_536;
/** Longer than a browser takes from the provider to the console. */
const tokenAgeMax = "10 minutes";
const skewSeconds = 30;

export interface ProviderToken {
  readonly idToken: string;
  /** The nonce of the browser's authorization request. */
  readonly nonce: string;
}

export interface ProviderIdentity {
  readonly subject: string;
  /** Normalized. */
  readonly email: string;
  /** The time of the sign-in at the provider (`auth_time`), if the token contains it. */
  readonly provedAt: Date | undefined;
}

/** The message is for logs only. */
class TokenRefused extends Error {
  override name = "TokenRefused";
}

export interface IdentityProvider {
  readonly issuer: string;
  /** @throws TokenRefused; Failure SERVICE_UNAVAILABLE (the provider's keys cannot be read) */
  verify(idToken: string, nonce: string): Promise<ProviderIdentity>;
}

/** @throws Failure UNAUTHORIZED, FEATURE_DISABLED, SERVICE_UNAVAILABLE */
export async function verifyToken(
  { provider, log }: { readonly provider: IdentityProvider | undefined; readonly log: Log },
  { idToken, nonce }: ProviderToken,
): Promise<ProviderIdentity & { readonly issuer: string }> {
  if (!provider) throw new Failure("FEATURE_DISABLED");
  try {
    return { ...(await provider.verify(idToken, nonce)), issuer: provider.issuer };
  } catch (error) {
    if (!(error instanceof TokenRefused)) throw error;
    log.warn({ why: error.message }, "identity token rejected");
    throw new Failure("UNAUTHORIZED", { cause: error });
  }
}

/**
 * Identifies a token by its signed part: another encoding or another valid signature would still be the same token.
 * @throws Failure UNAUTHORIZED (used before)
 */
export async function consumeToken(sql: Sql, { idToken }: ProviderToken): Promise<void> {
  const signed = idToken.slice(0, idToken.lastIndexOf("."));
  const hash = createHash("sha256").update(signed).digest();
  if (!(await spendToken(sql, hash, clockNow()))) throw new Failure("UNAUTHORIZED");
}

export function identityProvider(issuer: string, clientId: string): IdentityProvider {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;
  const readKeys = () => {
    keys ??= discoverKeys(issuer);
    // After a failure the next token retries.
    keys.catch(() => (keys = undefined));
    return keys;
  };
  return {
    issuer,
    verify: async (idToken, nonce) => {
      const keySet = await readKeys().catch(unavailable);
      const rules = { issuer, audience: clientId, algorithms, maxTokenAge: tokenAgeMax, clockTolerance: skewSeconds };
      const requiredClaims = ["exp", "iat", "sub", "nonce"];
      try {
        const { payload } = await jwtVerify(idToken, keySet, { ...rules, requiredClaims, currentDate: clockNow() });
        return readIdentity(payload, clientId, nonce);
      } catch (error) {
        if (error instanceof TokenRefused) throw error;
        const isTheirs = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
        if (isTheirs) throw new TokenRefused(error.code, { cause: error });
        return unavailable(error);
      }
    },
  };
}

function readIdentity(payload: JWTPayload, clientId: string, nonce: string): ProviderIdentity {
  const { sub: subject, aud, azp, nonce: tokenNonce, email, email_verified: isVerified, auth_time: authTime } = payload;
  if (typeof tokenNonce !== "string" || !sameSecret(tokenNonce, nonce)) throw new TokenRefused("another nonce");
  if (Array.isArray(aud) && aud.length > 1 && azp !== clientId) throw new TokenRefused("for another client");
  if (azp !== undefined && azp !== clientId) throw new TokenRefused("for another client");
  if (typeof subject !== "string" || subject === "" || subject.length > 255) throw new TokenRefused("no subject");
  if (typeof email !== "string" || !isEmail(normalEmail(email))) throw new TokenRefused("no address");
  if (isVerified !== true) throw new TokenRefused("unverified address");
  const provedAt = typeof authTime === "number" ? new Date(authTime * 1_000) : undefined;
  return { subject, email: normalEmail(email), provedAt };
}

async function discoverKeys(issuer: string): Promise<ReturnType<typeof createRemoteJWKSet>> {
  const answer = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {
    redirect: "error",
    signal: AbortSignal.timeout(requestMsMax),
  });
  const found: unknown = answer.ok ? JSON.parse(await readBounded(answer)) : undefined;
  const metadata = typeof found === "object" && found ? new Map<string, unknown>(Object.entries(found)) : new Map();
  const address: unknown = metadata.get("jwks_uri");
  if (metadata.get("issuer") !== issuer || typeof address !== "string" || !URL.canParse(address)) {
    throw new Error("the identity provider's configuration is invalid");
  }
  // Keys over plain HTTP could be forged. Only a provider on this machine may use it.
  if (new URL(address).protocol !== new URL(issuer).protocol) throw new Error("jwks_uri has another protocol");
  return createRemoteJWKSet(new URL(address), { timeoutDuration: requestMsMax });
}

async function readBounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw new Error("the identity provider's answer is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function unavailable(error: unknown): never {
  throw new Failure("SERVICE_UNAVAILABLE", { cause: error, retryAfterMs: 1_000 });
}
