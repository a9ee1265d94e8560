// Answers connections whose bytes are not a valid HTTP request, with the usual error envelope. Responses to earlier
// requests of the same connection are sent first.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { newId } from "#platform/values/id.ts";
import { ApiError, type ErrorCode, errorAnswer, errorTable, helpLink } from "../failures.ts";
import { closeGently } from "./body/unread-body.ts";

type ParserError = Error & { readonly code?: string; readonly rawPacket?: unknown };

// Requests whose body broke off, so their handler must not begin; and requests whose handler does not need the body.
const refused = new WeakSet<IncomingMessage>();
const begun = new WeakSet<IncomingMessage>();

/** Call before a handler that ignores the body. @returns false if the request is already refused */
export function beginWithoutBody(request: IncomingMessage): boolean {
  begun.add(request);
  return !refused.has(request);
}

/** Ends connections after an HTTP parser error. */
export class BrokenConnections {
  readonly #headers: Readonly<Record<string, string>>;
  readonly #unanswered = new WeakMap<Socket, Set<ServerResponse>>();
  readonly #ending = new WeakSet<Socket>();

  constructor(headers: Readonly<Record<string, string>>) {
    this.#headers = headers;
  }

  follow(server: Server): void {
    server.on("request", ({ socket }, response) => {
      const responses = this.#unanswered.get(socket);
      if (responses) responses.add(response);
      else this.#unanswered.set(socket, new Set([response]));
      response.once("close", () => this.#unanswered.get(socket)?.delete(response));
    });
  }

  /** Ends the connection after the responses that are due, or else with an error response. */
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
    // Node would destroy the socket with bytes unread, and the reset could lose the response.
    socket.destroySoon = () => closeGently(socket);
    last.once("finish", () => closeGently(socket));
  };
}

/** True if the handler runs or may run, so its response must be sent. An incomplete body starts no handler. */
function isInWork(response: ServerResponse): boolean {
  const { req: request } = response;
  return request.complete || begun.has(request) || response.headersSent;
}

function badRequestText(error: ParserError, headers: Readonly<Record<string, string>>): string {
  const [status, code, message = errorTable[code].message] = refusalOf(error);
  const body = JSON.stringify({ error: { code, message } });
  return [
    `HTTP/1.1 ${status}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${newId("request")}`,
    `Link: ${helpLink(code)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}

function refusalOf({ code, rawPacket }: ParserError): readonly [status: string, ErrorCode, message?: string] {
  if (code === "HPE_HEADER_OVERFLOW") {
    return ["431 Request Header Fields Too Large", "invalid_body", "the request's headers are too large"];
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return ["408 Request Timeout", "invalid_body", "the request did not arrive in time"];
  }
  // RFC 9110 §15.6.2: the server does not recognize the method.
  const begun = Buffer.isBuffer(rawPacket) ? rawPacket.toString("latin1", 0, lineMax) : "";
  const isRequest = /^[A-Z][A-Z-]* \S+ HTTP\/1\.[01]\r\n/.test(begun);
  if (code === "HPE_INVALID_METHOD" && isRequest) return ["501 Not Implemented", "method_not_allowed"];
  return ["400 Bad Request", "invalid_body", "the request is not valid HTTP"];
}

const lineMax = 8_192;

/** Answers 417 for any `Expect` but `100-continue` (RFC 9110 §10.1.1). */
export function refuseExpectation(headers: Readonly<Record<string, string>>) {
  return (_request: IncomingMessage, response: ServerResponse): void => {
    const violations = [{ field: "Expect", problem: "must be 100-continue" }];
    const answer = errorAnswer(new ApiError("invalid_body", { message: "invalid header", violations }));
    const body = JSON.stringify(answer.body);
    const own = { "content-type": "application/json; charset=utf-8", "request-id": newId("request"), ...headers };
    // The announced body is not read.
    response
      .writeHead(417, {
        ...{ ...own, ...answer.headers },
        ...{ "content-length": Buffer.byteLength(body), connection: "close" },
      })
      .end(body);
  };
}
