// What is said where no request begins, to bytes that are none and to what HTTP itself refuses: an envelope like every
// other answer, written by hand.
import type { IncomingMessage, ServerResponse } from "node:http";
import { newId } from "#platform/values/id.ts";
import { ApiError, errorAnswer, errorTable } from "../failures.ts";

type ParserError = Error & { readonly code?: string; readonly rawPacket?: unknown };

/** The whole answer. Headers that are too large and requests that are too slow keep their own status. */
export function badRequestText(error: ParserError, headers: Readonly<Record<string, string>>): string {
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
