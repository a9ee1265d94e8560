// Signs people in with the company's identity provider (OpenID Connect, authorization code with PKCE). A cookie holds
// the state of the redirect. The merchant service verifies the ID token itself.
import * as oidc from "openid-client";
import { providerOf } from "#platform/service/settings.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { localPath } from "../http/address.ts";
import type { ConsoleConfig } from "../settings.ts";

/** Redirect URI, registered at the provider. */
export const returnPath = "/sign-in/provider/return";
const timeoutSeconds = 5;
const scope = "openid email";
// The cookie holds 4 kB in total.
const addressMax = 1_500;

/** Purpose of a redirect to the provider: a new session, or fresh proof in an existing one. */
export interface Errand {
  readonly purpose: "sign-in" | "prove";
  readonly to: string;
}

/** State of one redirect, carried by a cookie. */
interface Journey extends Errand {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The provider rejected the sign-in, or the answer does not match this browser's redirect. */
export class SignInRejected extends Error {
  override name = "SignInRejected";
}

export class ProviderUnavailable extends Error {
  override name = "ProviderUnavailable";
}

export class CompanyProvider {
  readonly #discover: () => Promise<oidc.Configuration>;
  readonly #origin: string;
  #discovered: Promise<oidc.Configuration> | undefined;

  constructor(discover: () => Promise<oidc.Configuration>, origin: string) {
    this.#discover = discover;
    this.#origin = origin;
  }

  /** @returns the provider's address and the cookie's value. @throws ProviderUnavailable */
  async begin({ purpose, to }: Errand): Promise<{ readonly address: string; readonly cookie: string }> {
    const configuration = await this.#configuration();
    const verifier = oidc.randomPKCECodeVerifier();
    const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
    const journey: Journey = { purpose, to: to.length > addressMax ? "/" : to, state, nonce, verifier };
    const address = oidc.buildAuthorizationUrl(configuration, {
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

  /** @param url of the redirect back. @throws SignInRejected, ProviderUnavailable */
  async finish(
    url: string,
    cookie: string,
  ): Promise<{ readonly errand: Errand; readonly idToken: string; readonly nonce: string }> {
    const journey = readJourney(cookie);
    if (!journey) throw new SignInRejected("no sign-in was started in this browser");
    const { purpose, to, state: expectedState, nonce, verifier: pkceCodeVerifier } = journey;
    const checks = { expectedState, expectedNonce: nonce, pkceCodeVerifier, idTokenExpected: true };
    const configuration = await this.#configuration();
    try {
      const { id_token: idToken = "" } = await oidc.authorizationCodeGrant(
        configuration,
        new URL(url, this.#origin),
        checks,
      );
      return { errand: { purpose, to: localPath(to) }, idToken, nonce };
    } catch (error) {
      throw isRejection(error)
        ? new SignInRejected("the provider rejected the sign-in", { cause: error })
        : new ProviderUnavailable("the provider returned no token", { cause: error });
    }
  }

  /** Discovers the provider once, and again after a failure. */
  async #configuration(): Promise<oidc.Configuration> {
    this.#discovered ??= this.#discover();
    try {
      return await this.#discovered;
    } catch (error) {
      this.#discovered = undefined;
      throw new ProviderUnavailable("discovery failed", { cause: error });
    }
  }
}

/** Undefined if no provider is configured. */
export function companyProvider(config: ConsoleConfig): CompanyProvider | undefined {
  const provider = providerOf(config);
  if (!provider) return undefined;
  const server = new URL(provider.issuer);
  const options = {
    timeout: timeoutSeconds,
    // The setting allows plain HTTP for a provider on this machine only.
    ...(server.protocol === "http:" && { execute: [oidc.allowInsecureRequests] }),
  };
  const discover = () => oidc.discovery(server, provider.clientId, {}, clientAuth(config.OIDC_CLIENT_SECRET), options);
  return new CompanyProvider(discover, config.CONSOLE_ORIGIN);
}

/** Sends the secret in the header unless the provider supports the body only (OpenID Discovery §3). */
function clientAuth(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const [header, body] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    return (supported.includes("client_secret_basic") ? header : body)(server, ...rest);
  };
}

/** The library's codes for late or malformed answers. */
const outages = new Set([
  "OAUTH_TIMEOUT",
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_RESPONSE_IS_NOT_JSON",
  "OAUTH_PARSE_ERROR",
]);

function isRejection(error: unknown): boolean {
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
