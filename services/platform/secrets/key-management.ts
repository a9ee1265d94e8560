// A key management service that wraps our keys: its interface, its errors, the retries, and Vault's transit engine.
// Errors never contain a key or a wrapped key.
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { Agent, request } from "undici";
import { errorCode, type Members, membersOf } from "#platform/values/unchecked.ts";

/** Every call is safe to repeat. */
export interface KeyManagement {
  unwrap(wrapped: string): Promise<Buffer>;
  close(): Promise<void>;
}

/** An error of the service, without anything that was sent or received. `mayPass`: the same call may succeed later. */
export class KeyManagementError extends Error {
  override name = "KeyManagementError";
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super(message);
    this.mayPass = mayPass;
  }
}

const refuse = () => Promise.reject(new KeyManagementError("KMS=environment cannot unwrap keys", false));

/** Keys are configured in plain text, so nothing needs to be unwrapped. */
export const environment: KeyManagement = { unwrap: refuse, close: async () => {} };

// A server that restarts or elects a leader is back within seconds. After these tries the supervisor should see the
// process fail.
const triesMax = 5;
const pauseMs = 500;

/** @param firstPauseMs each later pause is twice as long */
export async function tryAgain<T>(call: () => Promise<T>, firstPauseMs = pauseMs): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      if (tries === triesMax || !(error instanceof KeyManagementError) || !error.mayPass) throw error;
      await pause(firstPauseMs * 2 ** (tries - 1));
    }
  }
}

// Vault's (or OpenBao's) transit engine over HTTP. Responses are not repeated anywhere except for the expected field,
// and no error contains a request.

/** Options have the names of their settings. */
interface VaultOptions {
  readonly VAULT_ADDR?: string | undefined;
  readonly VAULT_CACERT?: string | undefined;
  readonly VAULT_NAMESPACE?: string | undefined;
  readonly VAULT_TOKEN?: string | undefined;
  readonly VAULT_KUBERNETES_MOUNT: string;
  readonly VAULT_KUBERNETES_ROLE?: string | undefined;
  readonly VAULT_KUBERNETES_JWT?: string | undefined;
  readonly VAULT_TRANSIT_MOUNT: string;
  readonly VAULT_TRANSIT_KEY?: string | undefined;
}

// A healthy server answers within milliseconds. With a login and five tries, a start fails within a minute.
const connectMsMax = 2_000;
const callMsMax = 5_000;
// A key and its envelope are a few hundred bytes.
const answerBytesMax = 65_536;
const keyBytes = 32;
const headerForm = /^[\x21-\x7e]{1,8192}$/;

export class VaultTransit implements KeyManagement {
  readonly #options: VaultOptions;
  readonly #agent: Agent;
  readonly #where: string;
  #token: string | undefined;

  constructor(options: VaultOptions) {
    this.#options = options;
    this.#where = `Vault at ${new URL(options.VAULT_ADDR ?? "").origin}`;
    this.#token = options.VAULT_TOKEN;
    const ca = options.VAULT_CACERT;
    this.#agent = new Agent({
      connect: { timeout: connectMsMax, ...(ca === undefined ? {} : { ca: readFileSync(ca, "utf8") }) },
      maxResponseSize: answerBytesMax,
    });
  }

  async unwrap(wrapped: string): Promise<Buffer> {
    const { plaintext } = await this.transit("decrypt", { ciphertext: wrapped });
    const key = typeof plaintext === "string" ? Buffer.from(plaintext, "base64") : Buffer.alloc(0);
    if (key.length !== keyBytes) throw this.problem("decrypted something other than a 32-byte key");
    return key;
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  protected async transit(verb: "encrypt" | "decrypt" | "rewrap", body: Members): Promise<Members> {
    const { VAULT_TRANSIT_MOUNT: mount, VAULT_TRANSIT_KEY: key = "" } = this.#options;
    this.#token ??= await this.#logIn();
    const answer = await this.#post(`${mount}/${verb}/${encodeURIComponent(key)}`, body, this.#token);
    return membersOf(answer.data);
  }

  /** Logs in with the pod's own token, which Vault verifies at Kubernetes. */
  async #logIn(): Promise<string> {
    const { VAULT_KUBERNETES_MOUNT: mount, VAULT_KUBERNETES_ROLE: role, VAULT_KUBERNETES_JWT: jwt } = this.#options;
    const { auth } = await this.#post(`auth/${mount}/login`, { role, jwt });
    const { client_token: token } = membersOf(auth);
    if (typeof token !== "string" || !headerForm.test(token))
      throw this.problem("returned something other than a token");
    return token;
  }

  async #post(path: string, body: Members, token?: string): Promise<Members> {
    const { VAULT_ADDR: address = "", VAULT_NAMESPACE: namespace } = this.#options;
    const { statusCode, text } = await this.#send(`${address}/v1/${path}`, {
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { "x-vault-token": token }),
        ...(namespace === undefined ? {} : { "x-vault-namespace": namespace }),
      },
      body: JSON.stringify(body),
    });
    if (statusCode === 200) return parsed(text);
    const verb = path.split("/").slice(0, -1).join("/");
    throw this.problem(`refused ${verb} with ${statusCode}${meanings[statusCode] ?? ""}`, isPassing(statusCode));
  }

  async #send(url: string, post: { headers: Record<string, string>; body: string }) {
    try {
      const signal = AbortSignal.timeout(callMsMax);
      const answer = await request(url, { method: "POST", dispatcher: this.#agent, ...post, signal });
      return { statusCode: answer.statusCode, text: await answer.body.text() };
    } catch (error) {
      const code = errorCode(error);
      throw this.problem(`does not answer${code && ` (${code})`}`, true);
    }
  }

  protected problem(what: string, mayPass = false): KeyManagementError {
    return new KeyManagementError(`${this.#where} ${what}`, mayPass);
  }
}

/** Anything that is not an object is read as empty. */
function parsed(text: string): Members {
  try {
    return membersOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** A server that is sealed, starting, electing a leader or overloaded may answer later. */
function isPassing(status: number): boolean {
  return status >= 500 || status === 429 || status === 412;
}

const meanings: Readonly<Record<number, string>> = {
  400: ": the wrapped key is of another key, or was changed, or the login is wrong",
  403: ": the token is not accepted, or its policy does not allow it",
  404: ": nothing is mounted there, or there is no such key",
  503: ": it is sealed or in maintenance",
};
