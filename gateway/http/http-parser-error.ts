// What is said where no request begins, to bytes that are none and to what HTTP itself refuses: an envelope like every
// other answer, written by hand; never in place of the answer to a request that came before on the same connection.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { newId } from "#platform/values/id.ts";
import { ApiError, errorAnswer, errorTable } from "../failures.ts";
import { closeGently } from "./body/unread-body.ts";

type ParserError = Error & { readonly code?: string; readonly rawPacket?: unknown };

// Those whose body broke off, so that their handler must not begin; and those whose handler goes on without it.
const refused = new WeakSet<IncomingMessage>();
const begun = new WeakSet<IncomingMessage>();

/** Before a handler that does not wait for the body. @returns false: the caller was refused, nothing may be done */
export function beginWithoutBody(request: IncomingMessage): boolean {
  begun.add(request);
  return !refused.has(request);
}

/** The connections of a server whose bytes are no HTTP (any more). */
export class BrokenConnections {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #unanswered = new WeakMap<Socket, Set<ServerResponse>>();
  readonly #ending = new WeakSet<Socket>();

  /** @param headers of every refusal */
  constructor(headers: Readonly<Record<string, string>>) {
    this.#headers = headers;
  }

  /** Knows from now on which of the server's requests are not answered yet. */
  follow(server: Server): void {
    server.on("request", ({ socket }, response) => {
      const known = this.#unanswered.get(socket);
      if (known) known.add(response);
      else this.#unanswered.set(socket, new Set([response]));
      response.once("close", () => this.#unanswered.get(socket)?.delete(response));
    });
  }

  /** Ends the connection: after the answers that are still due, or else with a refusal. */
  readonly end = (error: ParserError, socket: Socket): void => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    if (this.#ending.has(socket)) return;
    this.#ending.add(socket);
    const unanswered = [...(this.#unanswered.get(socket) ?? [])];
    for (const response of unanswered) if (!isInWork(response)) refused.add(response.req);
    const last = unanswered.filter(isInWork).at(-1);
    if (!last) {
      closeGently(socket, badRequestText(error, this.#headers));
      return;
    }
    last.shouldKeepAlive = false;
    // Node would destroy the socket, with bytes unread, after an answer that closes: the caller could lose it.
    socket.destroySoon = () => closeGently(socket);
    last.once("finish", () => closeGently(socket));
  };
}

/** True when what is asked for is, or may be, done: its answer is the truth. A body that broke off begins nothing. */
function isInWork(response: ServerResponse): boolean {
  const { req: request } = response;
  return request.complete || begun.has(request) || response.headersSent;
}

/** The whole answer. Headers that are too large and requests that are too slow keep their own status. */
function badRequestText(error: ParserError, headers: Readonly<Record<string, string>>): string {
  const [status, code] = refusalOf(error);
  const body = JSON.stringify({ error: { code, message: errorTable[code].message } });
  return [
    `HTTP/1.1 ${status}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${newId("request")}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

function refusalOf({ code, rawPacket }: ParserError): readonly [string, "invalid_body" | "method_not_allowed"] {
  if (code === "HPE_HEADER_OVERFLOW") return ["431 Request Header Fields Too Large", "invalid_body"];
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return ["408 Request Timeout", "invalid_body"];
  // RFC 9110 §15.6.2: a method that no resource here has.
  const begun = Buffer.isBuffer(rawPacket) ? rawPacket.toString("latin1", 0, lineMax) : "";
  const isRequest = /^[A-Z][A-Z-]* \S+ HTTP\/1\.[01]\r\n/.test(begun);
  if (code === "HPE_INVALID_METHOD" && isRequest) return ["501 Not Implemented", "method_not_allowed"];
  return ["400 Bad Request", "invalid_body"];
}

// A request line is no longer.
const lineMax = 8_192;

/** Answers an `Expect` that is not `100-continue` (RFC 9110 §10.1.1): no route sees such a request. */
export function refuseExpectation(headers: Readonly<Record<string, string>>) {
  return (_request: IncomingMessage, response: ServerResponse): void => {
    const violations = [{ field: "Expect", problem: "must be 100-continue" }];
    const body = JSON.stringify(errorAnswer(new ApiError("invalid_body", { violations })).body);
    const own = { "content-type": "application/json; charset=utf-8", "request-id": newId("request"), ...headers };
    // What it announced may follow, or not: nothing is read of it.
    response.writeHead(417, { ...own, "content-length": Buffer.byteLength(body), connection: "close" }).end(body);
  };
}
