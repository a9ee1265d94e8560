// Checks that a body is declared as JSON in UTF-8 without encoding. A refusal names the header that is wrong.
import { MIMEType } from "node:util";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../../failures.ts";

/** `application/json` with any parameters; `assertJsonText` checks them. */
export const jsonType = /^application\/json\s*(?:;|$)/i;
// ASCII is a subset of UTF-8.
const charsets: ReadonlySet<string> = new Set(["", "utf-8", "utf8", "us-ascii", "ascii"]);

/** @throws ApiError unsupported_media_type: another charset than UTF-8, or a content encoding. */
export function assertJsonText(request: FastifyRequest): void {
  const charset = new MIMEType(request.headers["content-type"] ?? "").params.get("charset") ?? "";
  if (!charsets.has(charset.toLowerCase())) throw refusal("charset of the content type must be utf-8");
  assertNotEncoded(request);
}

/** @throws ApiError unsupported_media_type: `gzip` and the like. */
export function assertNotEncoded({ headers }: FastifyRequest): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") {
    throw refusal("content encoding is not supported: send the body without Content-Encoding");
  }
}

function refusal(message: string): ApiError {
  return new ApiError("unsupported_media_type", { message });
}
