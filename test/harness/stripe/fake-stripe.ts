// A stand-in of Stripe's HTTP API over real HTTP: keys with replay and 409 while one is in progress, errors, faults by
// name, Stripe's own clock.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import Stripe from "stripe";
import { StripeAccount } from "./stripe-account.ts";
import { FaultDraw, planOf } from "./stripe-faults.ts";
import { type FormObject, parseForm, parseParts } from "./stripe-form.ts";
import type { Json } from "./stripe-records.ts";
import { type Reply, refusalReply } from "./stripe-refusals.ts";
import { serveRoutes } from "./stripe-routes.ts";

interface StripeRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly form: FormObject;
  readonly text: string;
  readonly headers: IncomingMessage["headers"];
}
interface StoredReply extends Reply {
  readonly fingerprint: string;
  readonly atMs: number;
}
/** An edge server's answer in place of its origin's. */
type Page = { readonly status: number; readonly html: string };

const inProgress = Symbol("a key whose first request is not answered yet");
const keyLifeMs = 24 * 3_600_000; // https://docs.stripe.com/api/idempotent_requests

export class FakeStripe extends FaultDraw {
  readonly #accounts = new Map<string, StripeAccount>();
  readonly #answers = new Map<string, StoredReply | typeof inProgress>();
  readonly #stopping = new AbortController();
  /** Method, path and idempotency key of every request that was taken. */
  readonly requests: { method: string; path: string; key: string; form: FormObject }[] = [];
  /** How far Stripe's clock is ahead of this machine's: its `Date`, its objects' times and its keys' lives go by it. */
  clockOffsetMs = 0;
  /** How long the work of a request that changes something takes; its key is in progress meanwhile. */
  workMs = 0;
  /** How much later than the answer the work of the fault `early` is done. */
  earlyMs = 300;
  /** How late the answer of the fault `slow` is. */
  slowMs = 300;
  readonly #server = createServer((request, response) =>
    this.#answer(request, response).catch((error: unknown) => {
      if (request.complete) throw error;
      response.destroy(); // the caller went away in the middle of its request
    }),
  );
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
  }

  account(id: string, secretKey: string): StripeAccount {
    const account = new StripeAccount(id, secretKey, () => this.#nowMs());
    this.#accounts.set(secretKey, account);
    return account;
  }

  /** Stripe forgets keys after a day; this day is over. */
  forgetKeys(): void {
    this.#answers.clear();
  }

  #nowMs(): number {
    return Date.now() + this.clockOffsetMs;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parsed = await readRequest(request, this.url);
    const { method, path, key, form } = parsed;
    this.requests.push({ method, path, key, form });
    const fault = this.draw(method, path);
    const plan = fault && planOf(fault);
    const scripted = typeof plan?.answer === "object" ? replyOf(plan.answer) : undefined;
    if (plan?.work === "later") void this.#once(parsed, undefined, this.earlyMs);
    const kept = plan?.isKept && scripted && "body" in scripted ? scripted : undefined;
    // Stripe stores the outcome of a request, but not an error of its edge.
    const isProcessed = !plan || plan.work === "now" || kept !== undefined;
    const done = isProcessed
      ? await this.#once(parsed, kept && { reply: kept, isDone: plan?.work === "now" })
      : undefined;
    if (plan?.answer === "late") await this.#pause(this.slowMs);
    if (plan?.answer === "nothing" || this.#stopping.signal.aborted) return;
    if (plan?.answer === "cut") return void request.socket.destroy();
    const reply = (kept ? done : (scripted ?? done)) ?? refusalReply(500, "api_error", "");
    this.#send(response, reply, plan?.answer === "half");
  }

  /**
   * Answers a key's repeats with what its first request got, also a fault.
   * @param instead what is answered and kept in place of the work's own answer @param extraMs that the work takes
   * longer
   */
  async #once(parsed: StripeRequest, instead?: { reply: Reply; isDone: boolean }, extraMs = 0): Promise<Reply> {
    const { method, path, key, text } = parsed;
    const bearer = /^Bearer (\S+)$/.exec(parsed.headers.authorization ?? "")?.[1] ?? "";
    const account = this.#accounts.get(bearer);
    if (!account) return refusalReply(401, "invalid_request_error", "");
    if (parsed.headers["stripe-version"] !== Stripe.API_VERSION)
      return refusalReply(400, "invalid_request_error", "version");
    const work = () => {
      if (instead && !instead.isDone) return instead.reply;
      const reply = serveRoutes(account, method, path, parsed.form);
      return instead?.reply ?? reply;
    };
    if (method !== "POST") return work();
    if (key === "") return refusalReply(400, "invalid_request_error", "no idempotency key");
    const scoped = `${account.id}/${key}`;
    const fingerprint = `${path}?${text}`;
    const known = this.#keptOf(scoped);
    if (known === inProgress) return refusalReply(409, "idempotency_error", "idempotency_key_in_use");
    if (known) return known.fingerprint === fingerprint ? known : refusalReply(400, "idempotency_error", "");
    this.#answers.set(scoped, inProgress);
    await this.#pause(this.workMs + extraMs);
    if (this.#stopping.signal.aborted) return refusalReply(503, "api_error", "");
    const answer = work();
    // Requests that were refused before their work began are not kept.
    const isKept = answer.status < 400 || answer.status === 402 || answer.status >= 500;
    if (isKept) this.#answers.set(scoped, { fingerprint, atMs: this.#nowMs(), ...answer });
    else this.#answers.delete(scoped);
    return answer;
  }

  #keptOf(scoped: string): StoredReply | typeof inProgress | undefined {
    const known = this.#answers.get(scoped);
    if (known === undefined || known === inProgress) return known;
    if (this.#nowMs() < known.atMs + keyLifeMs) return known;
    this.#answers.delete(scoped);
    return undefined;
  }

  #pause(ms: number): Promise<void> {
    if (ms === 0) return Promise.resolve();
    return pause(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }

  /** @param breaks the connection ends in the middle of the body */
  #send(response: ServerResponse, reply: Reply | Page, breaks: boolean): void {
    const isPage = "html" in reply;
    const body = isPage ? reply.html : JSON.stringify(reply.body);
    response.sendDate = false;
    response.writeHead(reply.status, {
      date: new Date(this.#nowMs()).toUTCString(),
      "content-type": isPage ? "text/html" : "application/json",
      "content-length": Buffer.byteLength(body),
      "request-id": "req_fake",
      ...("fingerprint" in reply ? { "idempotent-replayed": "true" } : {}),
    });
    if (!breaks) return void response.end(body);
    response.write(body.slice(0, 1), () => response.destroy());
  }
}

/** A body and the header that Stripe would send with it, signed by the SDK's own test helper. */
export function signEvent(
  event: Json,
  secret: string,
  atSeconds = Math.floor(Date.now() / 1_000),
): { body: string; header: string } {
  const body = JSON.stringify(event);
  const header = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: atSeconds });
  return { body, header };
}

async function readRequest(request: IncomingMessage, origin: string): Promise<StripeRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const url = new URL(request.url ?? "/", origin);
  const { method = "", headers } = request;
  const key = String(headers["idempotency-key"] ?? "");
  const boundary = /^multipart\/form-data; boundary=(\S+)$/.exec(headers["content-type"] ?? "")?.[1];
  if (boundary !== undefined) {
    const parts = parseParts(Buffer.concat(chunks).toString("latin1"), boundary);
    // With its boundary: a repeat that differs in anything may be another request to Stripe.
    return { method, path: url.pathname, key, form: parts, text: `${boundary}${JSON.stringify(parts)}`, headers };
  }
  const text = method === "POST" ? Buffer.concat(chunks).toString() : url.search.slice(1);
  return { method, path: url.pathname, key, form: parseForm(text), text, headers };
}

function replyOf({ status, type, code = "" }: { status: number; type?: string; code?: string }): Reply | Page {
  return type === undefined ? { status, html: `<html><h1>${status}</h1></html>` } : refusalReply(status, type, code);
}
