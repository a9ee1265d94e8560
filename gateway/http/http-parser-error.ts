// What is said to bytes that are no HTTP request: an envelope like every other answer, written by hand, since there is
// no request.
import { newId } from "#platform/values/id.ts";
import { errorTable } from "../failures.ts";

/** The whole answer. Headers that are too large and requests that are too slow keep their own status. */
export function badRequestText(error: Error & { code?: string }, headers: Readonly<Record<string, string>>): string {
  const statusLine =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "408 Request Timeout"
        : "400 Bad Request";
  const body = JSON.stringify({ error: { code: "invalid_body", message: errorTable.invalid_body.message } });
  return [
    `HTTP/1.1 ${statusLine}`,
    "Content-Type: application/json; charset=utf-8",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `Request-Id: ${newId("request")}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    "Connection: close",
    "",
    body,
  ].join("\r\n");
}
