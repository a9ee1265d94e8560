// The answer to a call that is refused before any of it is read, in the caller's own protocol.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import { codeToHttpStatus, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { CallGate } from "./call.ts";

type Listener<Q, S> = (request: Q, response: S) => void;

/** The listener for callers that the gate knows; all others hear why not. */
export function forKnownCallers<
  Q extends IncomingMessage | Http2ServerRequest,
  S extends ServerResponse | Http2ServerResponse,
>(gate: CallGate, listener: Listener<Q, S>): Listener<Q, S> {
  return (request, response) => {
    const [path = ""] = (request.url ?? "").split("?");
    const refusal = gate.rejectUnauthenticated(path, (name) => headerOf(request.headers, name));
    if (refusal) sendRefusal(request, response, refusal);
    else listener(request, response);
  };
}

function headerOf(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

function sendRefusal(
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  refusal: ConnectError,
): void {
  const type = request.headers["content-type"] ?? "";
  // What is still to come of the call is not waited for.
  if ("shouldKeepAlive" in response) response.shouldKeepAlive = false;
  if (type.startsWith("application/grpc")) {
    const status = new Headers({ "content-type": type });
    setTrailerStatus(status, refusal);
    for (const [name, value] of status) response.setHeader(name, value);
    response.statusCode = 200;
    response.end();
    return;
  }
  response.statusCode = codeToHttpStatus(refusal.code);
  response.setHeader("content-type", "application/json");
  response.end(errorToJsonBytes(refusal, undefined));
}
