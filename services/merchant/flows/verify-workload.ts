// Verifies the token of a Kubernetes service account by the cluster's keys: the signature, the issuer, our audience and
// its end. The token counts as one of the team that KUBERNETES_TEAMS names.
import { createRemoteJWKSet, errors, jwtVerify } from "jose";
import { clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";

/** Asymmetric only: otherwise the public key would be enough to forge tokens. */
const algorithms = ["RS256", "ES256"];
const audience = "tollbooth";
const skewSeconds = 10;
const requestMsMax = 2_000;
// An unknown key causes a request at most this often.
const cooldownMs = 5_000;
// The API server removes an old key only after its tokens have ended. While it does not answer, known keys count.
const readAgainMs = 600_000;

export interface Workload {
  /** `<namespace>/<service account>`. */
  readonly name: string;
  readonly expiresAt: Date;
}

export interface WorkloadVerifier {
  /** By workload. */
  readonly teams: ReadonlyMap<string, string>;
  /** @returns undefined when the token is not valid @throws Failure SERVICE_UNAVAILABLE: its key cannot be read */
  verify(token: string): Promise<Workload | undefined>;
}

export function workloadVerifier(settings: {
  readonly issuer: string;
  readonly keysUrl: string;
  readonly teams: ReadonlyMap<string, string>;
}): WorkloadVerifier {
  const timing = { timeoutDuration: requestMsMax, cooldownDuration: cooldownMs, cacheMaxAge: Number.POSITIVE_INFINITY };
  const keys = createRemoteJWKSet(new URL(settings.keysUrl), timing);
  const { issuer, teams } = settings;
  let readAt = performance.now();
  return {
    teams,
    verify: async (token) => {
      if (performance.now() - readAt > readAgainMs) {
        readAt = performance.now();
        await keys.reload().catch(() => {});
      }
      const rules = { issuer, audience, algorithms, clockTolerance: skewSeconds, requiredClaims: ["exp", "sub"] };
      try {
        const { payload } = await jwtVerify(token, keys, { ...rules, currentDate: clockNow() });
        const [, namespace, account] = subjectForm.exec(payload.sub ?? "") ?? [];
        if (namespace === undefined || account === undefined || payload.exp === undefined) return undefined;
        return { name: `${namespace}/${account}`, expiresAt: new Date(payload.exp * 1_000) };
      } catch (error) {
        if (isOfToken(error)) return undefined;
        throw new Failure("SERVICE_UNAVAILABLE", { cause: error, retryAfterMs: 1_000 });
      }
    },
  };
}

const subjectForm = /^system:serviceaccount:([a-z0-9-]{1,63}):([a-z0-9.-]{1,253})$/;

/** Other errors are of the keys: no answer, another status (a generic error), or not a set of keys. */
function isOfToken(error: unknown): boolean {
  const ofKeys = ["ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID", "ERR_JOSE_GENERIC"];
  return error instanceof errors.JOSEError && !ofKeys.includes(error.code);
}
