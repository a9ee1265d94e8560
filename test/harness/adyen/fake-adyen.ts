// A stand-in of Adyen's API over real HTTP, one company with its merchant accounts: keys per company, faults by name,
// errors with Adyen's codes, Adyen's own clock. A request that Adyen does not know fails the test when it stops.
import { setTimeout as pause } from "node:timers/promises";
import { type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { membersOf } from "#platform/values/unchecked.ts";
import { AdyenAccount } from "./adyen-account.ts";
import { detailsRoute, serveBrowser } from "./adyen-browser.ts";
import { disputeRoutes } from "./adyen-disputes.ts";
import { misfitsOf } from "./adyen-fields.ts";
import type { AdyenCredentials } from "./adyen-notifications.ts";
import { checkoutRoutes, type Reply, type Route, refusalReply, replyOf } from "./adyen-routes.ts";

/** `after`: the work is done. `before`: it is not. 704: the key is in work elsewhere. 703: no store of keys. */
export type AdyenFault = "500-after" | "500-before" | "silent-after" | "silent-before" | "704" | "703";

type AdyenRequest = ReturnType<typeof requestOf>;

const inWork = Symbol("a key whose first request is not answered yet");
const keyLifeMs = 7 * 86_400_000; // by Adyen's page on idempotency; others wrote 14 or 31 days
const keyMax = 64;
const bodyMaxBytes = 32 << 20;
const routes: Readonly<Record<string, Route>> = { ...checkoutRoutes, ...detailsRoute, ...disputeRoutes };

export class FakeAdyen {
  readonly #accounts: AdyenAccount[] = [];
  readonly #answers = new Map<string, (Reply & { atMs: number }) | typeof inWork>();
  readonly #faults: { path: RegExp; fault: AdyenFault }[] = [];
  readonly #server = fastify({ bodyLimit: bodyMaxBytes, forceCloseConnections: true });
  #conflicts = 0;
  readonly requests: Pick<AdyenRequest, "method" | "path" | "key" | "body">[] = [];
  /** Requests and answers that Adyen does not know; `stop` fails if there are any. */
  readonly misfits: string[] = [];
  /** How far Adyen's clock is ahead of this machine's. */
  clockOffsetMs = 0;
  /** How long the work of a request with a key takes; its key is in work meanwhile. */
  workMs = 0;
  url = "";

  async start(): Promise<this> {
    this.#server.removeAllContentTypeParsers();
    this.#server.addContentTypeParser("*", { parseAs: "string" }, (_request, text, done) => done(null, parsed(text)));
    this.#server.setErrorHandler((error, _request, reply) => {
      this.misfits.push(String(error));
      reply.code(500).send();
    });
    this.#server.all("*", (request, reply) => this.#answer(request, reply));
    this.url = await this.#server.listen({ port: 0, host: "127.0.0.1" });
    return this;
  }

  async stop(): Promise<void> {
    await this.#server.close();
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

  async #answer(incoming: FastifyRequest, outgoing: FastifyReply): Promise<unknown> {
    const request = requestOf(incoming);
    const { method, path, key, body } = request;
    this.requests.push({ method, path, key, body });
    const index = method === "GET" ? -1 : this.#faults.findIndex((each) => each.path.test(path));
    const fault = index < 0 ? undefined : this.#faults.splice(index, 1)[0]?.fault;
    const reply = await this.#replyTo(request, fault);
    if (fault?.startsWith("silent")) return outgoing.hijack();
    const headers = { date: new Date(this.#nowMs()).toUTCString(), ...reply.headers };
    return outgoing.code(reply.status).headers(headers).send(reply.body);
  }

  async #replyTo(request: AdyenRequest, fault: AdyenFault | undefined): Promise<Reply> {
    if (fault === "704") return this.#conflict();
    if (fault === "703") return refusalReply(503, "703", "Required resource unavailable", true);
    const failed = refusalReply(500, "000", "Unknown");
    if (fault?.endsWith("before")) return failed;
    const isBrowser = request.path.startsWith("/checkoutshopper/");
    const reply = isBrowser ? serveBrowser(this.#accounts, request) : await this.#once(request);
    return fault ? failed : reply;
  }

  /** A key in work: which status comes, and whether with the header, is not known. */
  #conflict(): Reply {
    const isOdd = this.#conflicts++ % 2 === 1;
    return refusalReply(isOdd ? 422 : 409, "704", "request already processed or in progress", isOdd);
  }

  /** Answers a key's repeats with what its first request got, whatever the path, the account and the body. */
  async #once(request: AdyenRequest): Promise<Reply> {
    const { method, path, key, apiKey } = request;
    const accounts = this.#accounts.filter(({ credentials }) => credentials.apiKey === apiKey);
    if (accounts.length === 0) return refusalReply(401, "000", "HTTP Status Response - Unauthorized");
    if (method !== "POST" || key === undefined || !path.startsWith("/v72/")) return this.#work(accounts, request);
    if (key === "" || key.length > keyMax) this.misfits.push(`Idempotency-Key of ${key.length} characters`);
    const known = this.#answers.get(key);
    if (known === inWork) return this.#conflict();
    if (known && this.#nowMs() < known.atMs + keyLifeMs) return known;
    this.#answers.set(key, inWork);
    if (this.workMs > 0) await pause(this.workMs);
    const reply = this.#work(accounts, request);
    // Errors that stopped a request are not stored, refusals of its content are (second hand).
    if (reply.status < 400 || reply.status === 422) this.#answers.set(key, { ...reply, atMs: this.#nowMs() });
    else this.#answers.delete(key);
    return reply;
  }

  #work(accounts: readonly AdyenAccount[], request: AdyenRequest): Reply {
    const { method, path, query, body } = request;
    const found = findRoute(`${method} ${path}`);
    if (!found) this.misfits.push(`${method} ${path}`);
    if (!found) return refusalReply(404, "000", "Not found");
    const { id, library, takes, gives, status, serve } = found;
    if (takes && body === undefined) return refusalReply(400, "702", "Unexpected input");
    const { merchantAccount, merchantAccountCode = merchantAccount, returnUrl = "" } = membersOf(body);
    const account = accounts.find(({ name }) => name === (merchantAccountCode ?? accounts[0]?.name));
    if (!account) return refusalReply(403, "901", "Invalid Merchant Account");
    if (path === "/v72/sessions" && returnUrl === "") return refusalReply(422, "14_030", "Return URL is missing.");
    const misfits = takes ? misfitsOf(library, takes, body) : [];
    this.misfits.push(...misfits);
    // Adyen's error of an unknown or missing field; the codes of single fields are not all known.
    if (misfits.length > 0) return refusalReply(400, "702", misfits.join("; "));
    try {
      const answer: unknown = JSON.parse(JSON.stringify(serve({ account, body, id, query, nowMs: this.#nowMs() })));
      this.misfits.push(...misfitsOf(library, gives, answer));
      return { status, body: membersOf(answer) };
    } catch (error) {
      return replyOf(error);
    }
  }
}

function findRoute(request: string): (Route & { id: string }) | undefined {
  const [found] = Object.entries(routes).flatMap(([pattern, route]) => {
    const match = new RegExp(`^${pattern.replace("{id}", "(\\w+)")}$`).exec(request);
    return match ? { ...route, id: match[1] ?? "" } : [];
  });
  return found;
}

function requestOf({ method, url, headers, body }: FastifyRequest) {
  const { pathname: path, searchParams: query } = new URL(url, "http://adyen");
  return { method, path, query, body, key: headers["idempotency-key"]?.toString(), apiKey: headers["x-api-key"] };
}

/** Undefined: not JSON. */
function parsed(text: string | Buffer): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}
