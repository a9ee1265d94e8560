// A fake Vault or OpenBao server: NOT Vault, it proves that we use the documented API, not that Vault implements it.
// It has transit's encrypt, decrypt and rewrap with key versions, the Kubernetes login, and the errors 403 for an
// unknown token, 400 for a changed ciphertext, 404 for a missing mount, 503 while sealed, as `{"errors": [...]}`. Its
// keys are real AES-256-GCM.
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import http, { type IncomingMessage } from "node:http";
import https from "node:https";
import { randomToken } from "#platform/secrets/vault.ts";
import { freePort } from "../../../deploy/local/free-port.ts";

export interface VaultStandIn {
  readonly url: string;
  /** Of an operator: everything is allowed. */
  readonly token: string;
  /** A pod's login. */
  readonly kubernetes: { readonly role: string; readonly jwt: string };
  /** Path and namespace of each call so far. */
  readonly calls: { readonly path: string; readonly namespace: string | undefined }[];
  /** A new version of the key: it wraps, the older ones still open. */
  rotate(): void;
  /** Versions below it open nothing any more, as `min_decryption_version` does. */
  forgetBelow(version: number): void;
  seal(isSealed: boolean): void;
  /** This many next calls are answered so. */
  answerNext(count: number, status: number, body: string): void;
  stop(): Promise<void>;
}

const keyName = "tollbooth";

/** A transit key: the newest version wraps, the others open until they are forgotten. */
class VersionedKey {
  readonly #versions = [randomBytes(32)];
  #oldest = 1;

  get version(): number {
    return this.#versions.length;
  }

  wrap(plain: Buffer): string {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", this.#versions.at(-1) as Buffer, nonce);
    const data = Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
    return `vault:v${this.version}:${data.toString("base64")}`;
  }

  unwrap(text: unknown): Buffer {
    const [, version = "0", encoded = ""] = /^vault:v(\d+):(.+)$/.exec(String(text)) ?? [];
    const key = Number(version) >= this.#oldest ? this.#versions[Number(version) - 1] : undefined;
    const data = Buffer.from(encoded, "base64");
    if (!key || data.length < 28) throw new Error("invalid ciphertext");
    const decipher = createDecipheriv("aes-256-gcm", key, data.subarray(0, 12));
    decipher.setAuthTag(data.subarray(-16));
    return Buffer.concat([decipher.update(data.subarray(12, -16)), decipher.final()]);
  }

  rotate(): void {
    this.#versions.push(randomBytes(32));
  }

  forgetBelow(version: number): void {
    this.#oldest = version;
  }
}

const verbs: Readonly<Record<string, (key: VersionedKey, body: Record<string, unknown>) => unknown>> = {
  encrypt: (key, { plaintext }) => ({
    ciphertext: key.wrap(Buffer.from(String(plaintext), "base64")),
    key_version: key.version,
  }),
  decrypt: (key, { ciphertext }) => ({ plaintext: key.unwrap(ciphertext).toString("base64") }),
  rewrap: (key, { ciphertext }) => ({ ciphertext: key.wrap(key.unwrap(ciphertext)), key_version: key.version }),
};

/** @param tls of the server; absent: plain HTTP */
export async function startVaultStandIn(tls?: { readonly cert: string; readonly key: string }): Promise<VaultStandIn> {
  const token = `hvs.${randomToken(24)}`;
  const kubernetes = { role: "tollbooth", jwt: `${randomToken(24)}.${randomToken(24)}.${randomToken(24)}` };
  const tokens = new Set([token]);
  const key = new VersionedKey();
  const calls: VaultStandIn["calls"] = [];
  const planned: { status: number; body: string }[] = [];
  let isSealed = false;

  const answer = (path: string, token: string | undefined, body: Record<string, unknown>): [number, unknown] => {
    if (isSealed) return [503, { errors: ["Vault is sealed"] }];
    if (path === "/v1/auth/kubernetes/login") {
      if (body.role !== kubernetes.role) return [400, { errors: [`invalid role name "${String(body.role)}"`] }];
      if (body.jwt !== kubernetes.jwt) return [403, { errors: ["permission denied"] }];
      const issued = `hvs.${randomToken(24)}`;
      tokens.add(issued);
      return [200, { auth: { client_token: issued, lease_duration: 3_600, renewable: true } }];
    }
    if (token === undefined || !tokens.has(token)) return [403, { errors: ["permission denied"] }];
    const [, verb = "", name] = /^\/v1\/transit\/(\w+)\/(.+)$/.exec(path) ?? [];
    const run = verbs[verb];
    if (!run) return [404, { errors: [`no handler for route "${path.slice(4)}". route entry not found.`] }];
    if (name !== keyName) return [400, { errors: ["encryption key not found"] }];
    try {
      return [200, { data: run(key, body) }];
    } catch {
      return [400, { errors: [`invalid ciphertext: ${String(body.ciphertext)}`] }];
    }
  };

  const handler = async (request: IncomingMessage, response: http.ServerResponse) => {
    const path = request.url ?? "";
    calls.push({ path, namespace: request.headers["x-vault-namespace"]?.toString() });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const next = planned.shift();
    if (next) return response.writeHead(next.status).end(next.body);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const [status, reply] =
      request.method === "POST" ? answer(path, request.headers["x-vault-token"]?.toString(), body) : [405, {}];
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(reply));
  };
  const listen = (request: IncomingMessage, response: http.ServerResponse) => void handler(request, response);
  const server = tls ? https.createServer(tls, listen) : http.createServer(listen);
  const port = await freePort(); // stays free once it is closed
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http${tls ? "s" : ""}://127.0.0.1:${port}`,
    token,
    kubernetes,
    calls,
    rotate: () => key.rotate(),
    forgetBelow: (version) => key.forgetBelow(version),
    seal: (value) => {
      isSealed = value;
    },
    answerNext: (count, status, body) => {
      for (let i = 0; i < count; i++) planned.push({ status, body });
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
