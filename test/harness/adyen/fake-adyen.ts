// A stand-in of Adyen's API over real HTTP, one company with its merchant accounts: keys per company, faults by name,
// errors with Adyen's codes, Adyen's own clock. A request that Adyen does not know fails the test when it stops.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { membersOf } from "#platform/values/unchecked.ts";
import { AdyenAccount, type AdyenCredentials } from "./adyen-account.ts";
import { misfitsOf } from "./adyen-fields.ts";
import { type Reply, refusalReply, replyOf } from "./adyen-refusals.ts";
import { checkoutRoutes, type Route } from "./adyen-routes.ts";

/** `after`: the work is done. `before`: it is not. 704: the key is in work elsewhere. 703: no store of keys. */
export type AdyenFault = "500-after" | "500-before" | "silent-after" | "silent-before" | "704" | "703";

interface AdyenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly key: string | undefined;
  readonly apiKey: string;
  readonly text: string;
}

const inWork = Symbol("a key whose first request is not answered yet");
const keyLifeMs = 7 * 86_400_000; // S8; 14 days at most by S10 and S11
const keyMax = 64;
const routes: Readonly<Record<string, Route>> = checkoutRoutes;

export class FakeAdyen {
  readonly #accounts: AdyenAccount[] = [];
  readonly #answers = new Map<string, (Reply & { atMs: number }) | typeof inWork>();
  readonly #faults: { path: RegExp; fault: AdyenFault }[] = [];
  readonly #stopping = new AbortController();
  readonly #server = createServer(
    (request, response) =>
      void this.#answer(request, response).catch((error: unknown) => {
        if (request.complete) this.misfits.push(String(error));
        response.destroy();
      }),
  );
  #conflicts = 0;
  readonly requests: { method: string; path: string; key: string | undefined; body: unknown }[] = [];
  /** Requests and answers that Adyen does not know; `stop` fails if there are any. */
  readonly misfits: string[] = [];
  /** How far Adyen's clock is ahead of this machine's. */
  clockOffsetMs = 0;
  /** How long the work of a request with a key takes; its key is in work meanwhile. */
  workMs = 0;
  url = "";

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    const address = this.#server.address();
    this.url = `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
    if (this.misfits.length > 0) throw new Error(`Adyen does not know:\n  ${this.misfits.join("\n  ")}`);
  }

  /** A merchant account; several may share an API key. */
  account(name: string, credentials: AdyenCredentials): AdyenAccount {
    const account = new AdyenAccount(name, credentials, () => this.#nowMs());
    this.#accounts.push(account);
    return account;
  }

  /** The next request that changes something at such a path goes wrong. */
  failNext(path: RegExp, fault: AdyenFault): void {
    this.#faults.push({ path, fault });
  }

  #nowMs(): number {
    return Date.now() + this.clockOffsetMs;
  }

  async #answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const request = await readRequest(incoming, this.url);
    const { method, path, key } = request;
    this.requests.push({ method, path, key, body: bodyIn(request) });
    const index = method === "GET" ? -1 : this.#faults.findIndex((each) => each.path.test(path));
    const fault = index < 0 ? undefined : this.#faults.splice(index, 1)[0]?.fault;
    if (fault === "704") return this.#send(response, this.#conflict());
    if (fault === "703") return this.#send(response, refusalReply(503, "703", "Required resource unavailable", true));
    const isDone = fault !== "500-before" && fault !== "silent-before";
    const reply = isDone ? await this.#once(request) : undefined;
    if (fault?.startsWith("silent") || this.#stopping.signal.aborted) return;
    this.#send(response, fault || !reply ? refusalReply(500, "000", "Unknown") : reply);
  }

  /** A key in work: which status comes, and whether with the header, is not known. */
  #conflict(): Reply {
    const isOdd = this.#conflicts++ % 2 === 1;
    return refusalReply(isOdd ? 422 : 409, "704", "request already processed or in progress", isOdd ? true : undefined);
  }

  /** Answers a key's repeats with what its first request got, whatever the path, the account and the body (S8). */
  async #once(request: AdyenRequest): Promise<Reply> {
    const { method, key, apiKey } = request;
    const accounts = this.#accounts.filter(({ credentials }) => credentials.apiKey === apiKey);
    if (accounts.length === 0) return refusalReply(401, "000", "HTTP Status Response - Unauthorized");
    if (method !== "POST" || key === undefined) return this.#work(accounts, request);
    if (key === "" || key.length > keyMax) this.misfits.push(`Idempotency-Key of ${key.length} characters`);
    const known = this.#answers.get(key);
    if (known === inWork) return this.#conflict();
    if (known && this.#nowMs() < known.atMs + keyLifeMs) return known;
    this.#answers.set(key, inWork);
    if (this.workMs > 0) await pause(this.workMs, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
    const reply = this.#stopping.signal.aborted ? refusalReply(503, "703", "stopping") : this.#work(accounts, request);
    // Errors that stopped a request are not stored, refusals of its content are (S10).
    if (reply.status < 400 || reply.status === 422) this.#answers.set(key, { ...reply, atMs: this.#nowMs() });
    else this.#answers.delete(key);
    return reply;
  }

  #work(accounts: readonly AdyenAccount[], request: AdyenRequest): Reply {
    const { method, path, query } = request;
    const found = findRoute(`${method} ${path}`);
    if (!found) {
      this.misfits.push(`${method} ${path}`);
      return refusalReply(404, "000", "Not found");
    }
    const { route, id } = found;
    const body = bodyIn(request);
    if (route.takes && body === undefined) return refusalReply(400, "702", "Unexpected input");
    const { merchantAccount = accounts[0]?.name, returnUrl = "" } = membersOf(body);
    const account = accounts.find(({ name }) => name === merchantAccount);
    if (!account) return refusalReply(403, "901", "Invalid Merchant Account");
    if (path === "/v72/sessions" && returnUrl === "") return refusalReply(422, "14_030", "Return URL is missing.");
    const misfits = route.takes ? misfitsOf("checkout", route.takes, body) : [];
    this.misfits.push(...misfits);
    // Adyen's error of an unknown or missing field; the codes of single fields are not all known.
    if (misfits.length > 0) return refusalReply(400, "702", misfits.join("; "));
    try {
      const call = { account, body, id, query, nowMs: this.#nowMs(), origin: this.url };
      const answer: unknown = JSON.parse(JSON.stringify(route.serve(call)));
      this.misfits.push(...misfitsOf("checkout", route.gives, answer));
      return { status: route.status, body: membersOf(answer) };
    } catch (error) {
      return replyOf(error);
    }
  }

  #send(response: ServerResponse, { status, body, headers = {} }: Reply): void {
    const text = JSON.stringify(body);
    response.sendDate = false;
    response.writeHead(status, {
      date: new Date(this.#nowMs()).toUTCString(),
      "content-type": "application/json",
      "content-length": Buffer.byteLength(text),
      ...headers,
    });
    response.end(text);
  }
}

function findRoute(request: string): { route: Route; id: string } | undefined {
  for (const [pattern, route] of Object.entries(routes)) {
    const match = new RegExp(`^${pattern.replace("{id}", "(\\w+)")}$`).exec(request);
    if (match) return { route, id: match[1] ?? "" };
  }
  return undefined;
}

function bodyIn({ text }: AdyenRequest): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readRequest(request: IncomingMessage, origin: string): Promise<AdyenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const { pathname: path, searchParams: query } = new URL(request.url ?? "/", origin);
  const { method = "", headers } = request;
  const key = headers["idempotency-key"]?.toString();
  return {
    method,
    path,
    query,
    key,
    apiKey: String(headers["x-api-key"] ?? ""),
    text: Buffer.concat(chunks).toString(),
  };
}
