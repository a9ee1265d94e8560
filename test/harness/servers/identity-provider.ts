// An identity provider for tests (OpenID Connect): its sign-in page asks for nothing but who one is, and its tokens are
// real ones. It takes a code once, from who began it (PKCE), with the client's secret.
import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export const clientId = "tollbooth-console";
export const clientSecret = "a secret: of the client%";

interface Grant {
  readonly challenge: string;
  readonly redirectUri: string;
  readonly claims: JWTPayload;
}

export class TestIdentityProvider {
  /** Whether it answers at all. */
  isAway = false;
  /** Claims that replace the true ones in tokens. */
  lies: JWTPayload = {};
  /** Where browsers were sent to sign in, as they came. */
  readonly requests: URLSearchParams[] = [];
  readonly #keys = generateKeyPair("RS256");
  readonly #codes = new Map<string, Grant>();
  readonly #server: Server = createServer((request, response) => {
    this.#answer(request, response).catch(() => response.destroy());
  });

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "", this.issuer);
    if (this.isAway) return void response.writeHead(503).end();
    if (url.pathname === "/authorize") return this.#authorize(url.searchParams, response);
    if (url.pathname === "/signed-in") return this.#grant(url.searchParams, response);
    const body = await this.#document(url.pathname, request);
    response.writeHead(body === undefined ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { error: "invalid_grant" }));
  }

  async #document(path: string, request: IncomingMessage): Promise<object | undefined> {
    const { issuer } = this;
    const { publicKey } = await this.#keys;
    if (path === "/keys") return { keys: [{ ...(await exportJWK(publicKey)), kid: "k1", alg: "RS256" }] };
    if (path === "/token") return await this.#token(request);
    return {
      issuer,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    };
  }

  #authorize(query: URLSearchParams, response: ServerResponse): void {
    this.requests.push(query);
    const kept = [...query].map(([name, value]) => `<input type=hidden name="${name}" value="${value}">`).join("");
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>Company</title><form action=/signed-in>${kept}<label>Address <input name=who></label>
<button>That is me</button><button name=refused value=1>Cancel</button></form>`);
  }

  #grant(form: URLSearchParams, response: ServerResponse): void {
    const back = new URL(form.get("redirect_uri") ?? "");
    back.searchParams.set("state", form.get("state") ?? "");
    if (form.has("refused")) back.searchParams.set("error", "access_denied");
    else {
      const code = randomBytes(16).toString("hex");
      const email = form.get("who") ?? "";
      const nonce = form.get("nonce") ?? "";
      // A user who is signed in there is not prompted, unless the console requires a fresh sign-in.
      const signedInAgo = form.get("max_age") === "0" ? 0 : 3_600;
      const claims = { email, email_verified: true, sub: `sub-${email}`, nonce, auth_time: now() - signedInAgo };
      const [challenge, redirectUri] = [form.get("code_challenge") ?? "", form.get("redirect_uri") ?? ""];
      this.#codes.set(code, { challenge, redirectUri, claims: { ...claims, ...this.lies } });
      back.searchParams.set("code", code);
    }
    // Most redirect at once; a link lets a test stop here.
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>Company</title><a href="${back.href.replaceAll("&", "&amp;")}">Continue</a>`);
  }

  async #token(request: IncomingMessage): Promise<object | undefined> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const form = new URLSearchParams(text);
    const granted = this.#codes.get(form.get("code") ?? "");
    this.#codes.delete(form.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (!isOurClient(request) || granted?.challenge !== challenge || granted.redirectUri !== form.get("redirect_uri")) {
      return undefined;
    }
    const token = new SignJWT(granted.claims)
      .setProtectedHeader({ alg: "RS256", kid: "k1" })
      .setIssuer(this.issuer)
      .setAudience(clientId)
      .setIssuedAt()
      .setExpirationTime("1h");
    const { privateKey } = await this.#keys;
    return { access_token: "unused", token_type: "Bearer", id_token: await token.sign(privateKey) };
  }
}

const now = () => Math.floor(Date.now() / 1_000);

/** RFC 6749 §2.3.1: both are form-encoded first. */
function isOurClient({ headers }: IncomingMessage): boolean {
  const [scheme, encoded = ""] = (headers.authorization ?? "").split(" ");
  const parts = Buffer.from(encoded, "base64").toString().split(":");
  const [id, secret] = parts.map((field) => new URLSearchParams(`x=${field}`).get("x"));
  return scheme === "Basic" && parts.length === 2 && id === clientId && secret === clientSecret;
}
