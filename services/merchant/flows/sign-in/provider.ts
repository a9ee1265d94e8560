// The company's identity provider (OpenID Connect Core 1.0 and Discovery 1.0): verifies the ID tokens that consoles
// bring. Its keys are looked up where the provider itself says, at most once in a while; a token is young, ours, and
// about an address that the provider vouches for.
import { createRemoteJWKSet, errors, type JWTPayload, jwtVerify } from "jose";
import { sameSecret } from "#platform/secrets/vault.ts";
import { clockNow } from "#platform/values/clock.ts";
import { isEmail } from "#platform/values/email.ts";
import { Failure } from "#platform/values/failure.ts";
import { normalEmail } from "../../rules/people/person.ts";

/** Symmetric ones would make whoever knows the client's secret a provider. */
const algorithms = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"];
const askMsMax = 5_000;
const bytesMax = 65_536;
/** Longer than a browser takes from the provider to the console. */
const tokenAgeMax = "10 minutes";
const skewSeconds = 30;

/** Whom the provider vouches for. */
export interface ProvedIdentity {
  readonly subject: string;
  /** As persons' are stored. */
  readonly email: string;
  /** When they last proved to be themselves there; undefined: not told. */
  readonly provedAt: Date | undefined;
}

/** The token proves nobody; why is for logs. */
export class TokenRefused extends Error {
  override name = "TokenRefused";
}

export interface IdentityProvider {
  readonly issuer: string;
  /** @throws TokenRefused; Failure SERVICE_UNAVAILABLE: the provider's keys cannot be read */
  verify(idToken: string, nonce: string): Promise<ProvedIdentity>;
}

export function identityProvider(issuer: string, clientId: string): IdentityProvider {
  let keys: Promise<ReturnType<typeof createRemoteJWKSet>> | undefined;
  const known = () => {
    keys ??= discoverKeys(issuer);
    // Asked again with the next token.
    keys.catch(() => (keys = undefined));
    return keys;
  };
  return {
    issuer,
    verify: async (idToken, nonce) => {
      const keySet = await known().catch(unavailable);
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

function readIdentity(payload: JWTPayload, clientId: string, nonce: string): ProvedIdentity {
  const { sub: subject, aud, azp, nonce: tokenNonce, email, email_verified: isVerified, auth_time: authTime } = payload;
  if (typeof tokenNonce !== "string" || !sameSecret(tokenNonce, nonce)) throw new TokenRefused("another nonce");
  if (Array.isArray(aud) && aud.length > 1 && azp !== clientId) throw new TokenRefused("for another client");
  if (azp !== undefined && azp !== clientId) throw new TokenRefused("for another client");
  if (typeof subject !== "string" || subject === "" || subject.length > 255) throw new TokenRefused("no subject");
  if (typeof email !== "string" || !isEmail(normalEmail(email))) throw new TokenRefused("no address");
  if (isVerified !== true) throw new TokenRefused("an address that the provider does not vouch for");
  const provedAt = typeof authTime === "number" ? new Date(authTime * 1_000) : undefined;
  return { subject, email: normalEmail(email), provedAt };
}

async function discoverKeys(issuer: string): Promise<ReturnType<typeof createRemoteJWKSet>> {
  const answer = await fetch(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`, {
    redirect: "error",
    signal: AbortSignal.timeout(askMsMax),
  });
  const found: unknown = answer.ok ? JSON.parse(await readBounded(answer)) : undefined;
  const metadata = typeof found === "object" && found ? new Map<string, unknown>(Object.entries(found)) : new Map();
  const address: unknown = metadata.get("jwks_uri");
  if (metadata.get("issuer") !== issuer || typeof address !== "string" || !URL.canParse(address)) {
    throw new Error("the identity provider does not describe itself");
  }
  // Keys that come in the clear could be anybody's; only a provider on this machine has them so.
  if (new URL(address).protocol !== new URL(issuer).protocol) throw new Error("keys at an address of another kind");
  return createRemoteJWKSet(new URL(address), { timeoutDuration: askMsMax });
}

async function readBounded(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answer.body ?? []) {
    length += chunk.length;
    if (length > bytesMax) throw new Error("the identity provider says too much");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function unavailable(error: unknown): never {
  throw new Failure("SERVICE_UNAVAILABLE", { cause: error, retryAfterMs: 1_000 });
}
