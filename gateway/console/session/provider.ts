// The way to the company's identity provider and back (OpenID Connect, authorization code with PKCE). What the way back
// needs stands in the browser's own cookie; who somebody is, the merchant service reads from the token itself.
import * as oidc from "openid-client";
import { providerOf } from "#platform/service/settings.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { localPath } from "../http/address.ts";
import type { ConsoleConfig } from "../settings.ts";

/** Where the provider sends browsers back to; registered there. */
export const returnPath = "/sign-in/provider/return";
const askSecondsMax = 5;
const scope = "openid email";
// Beside the rest in a cookie, which holds 4 kB.
const addressMax = 1_500;

/** What somebody is sent there for: to begin a session, or to prove themselves again in the one they have. */
export interface Errand {
  readonly purpose: "sign-in" | "prove";
  /** Where to afterwards. */
  readonly to: string;
}

/** One way there and back; a cookie carries it. */
interface Journey extends Errand {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The provider said no, or what came back is of no way that this browser went. */
export class NotVouched extends Error {
  override name = "NotVouched";
}

/** The provider does not answer. */
export class ProviderAway extends Error {
  override name = "ProviderAway";
}

export class CompanyProvider {
  readonly #ask: () => Promise<oidc.Configuration>;
  readonly #origin: string;
  #known: Promise<oidc.Configuration> | undefined;

  constructor(ask: () => Promise<oidc.Configuration>, origin: string) {
    this.#ask = ask;
    this.#origin = origin;
  }

  /** @returns the provider's address for this browser, and what its cookie holds. @throws ProviderAway */
  async begin({ purpose, to }: Errand): Promise<{ readonly address: string; readonly cookie: string }> {
    const known = await this.#configuration();
    const verifier = oidc.randomPKCECodeVerifier();
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    const journey: Journey = { purpose, to: to.length > addressMax ? "/" : to, state, nonce, verifier };
    const address = oidc.buildAuthorizationUrl(known, {
      redirect_uri: this.#origin + returnPath,
      scope,
      state,
      nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(purpose === "prove" && { max_age: "0" }),
    });
    return { address: address.href, cookie: Buffer.from(JSON.stringify(journey)).toString("base64url") };
  }

  /** @param url that the browser came back to. @throws NotVouched, ProviderAway */
  async finish(
    url: string,
    cookie: string,
  ): Promise<{ readonly errand: Errand; readonly idToken: string; readonly nonce: string }> {
    const journey = readJourney(cookie);
    if (!journey) throw new NotVouched("no way was begun in this browser");
    const { purpose, to, state: expectedState, nonce, verifier: pkceCodeVerifier } = journey;
    const checks = { expectedState, expectedNonce: nonce, pkceCodeVerifier, idTokenExpected: true };
    const known = await this.#configuration();
    try {
      const { id_token: idToken = "" } = await oidc.authorizationCodeGrant(known, new URL(url, this.#origin), checks);
      return { errand: { purpose, to: localPath(to) }, idToken, nonce };
    } catch (error) {
      throw isNo(error)
        ? new NotVouched("the provider did not sign them in", { cause: error })
        : new ProviderAway("no token from the provider", { cause: error });
    }
  }

  /** Asked for once, and again after it failed. */
  async #configuration(): Promise<oidc.Configuration> {
    this.#known ??= this.#ask();
    try {
      return await this.#known;
    } catch (error) {
      this.#known = undefined;
      throw new ProviderAway("the provider does not describe itself", { cause: error });
    }
  }
}

/** @returns undefined: none is set */
export function companyProvider(config: ConsoleConfig): CompanyProvider | undefined {
  const known = providerOf(config);
  if (!known) return undefined;
  const server = new URL(known.issuer);
  const options = {
    timeout: askSecondsMax,
    // The setting lets a provider on this machine alone be asked in the clear.
    ...(server.protocol === "http:" && { execute: [oidc.allowInsecureRequests] }),
  };
  const ask = () => oidc.discovery(server, known.clientId, {}, clientAuth(config.OIDC_CLIENT_SECRET), options);
  return new CompanyProvider(ask, config.CONSOLE_ORIGIN);
}

/** As the provider says that it takes the secret: in the header, unless it says otherwise (OpenID Discovery §3). */
function clientAuth(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const [header, body] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return (supported.includes("client_secret_basic") ? header : body)(server, ...rest);
  };
}

/** The library's own codes for a provider that answered late, or not as one. */
const outages = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
]);

function isNo(error: unknown): boolean {
  if (error instanceof oidc.AuthorizationResponseError) return true;
  if (error instanceof oidc.ResponseBodyError) return error.status < 500;
  return error instanceof oidc.ClientError && !outages.has(error.code ?? "");
}

function readJourney(cookie: string): Journey | undefined {
  try {
    const { purpose, to, state, nonce, verifier } = membersOf(JSON.parse(Buffer.from(cookie, "base64url").toString()));
    if (purpose !== "sign-in" && purpose !== "prove") return undefined;
    const isWhole = [to, state, nonce, verifier].every((each) => typeof each === "string" && each !== "");
    return isWhole
      ? { purpose, to: String(to), state: String(state), nonce: String(nonce), verifier: String(verifier) }
      : undefined;
  } catch {
    return undefined;
  }
}
