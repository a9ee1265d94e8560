// Raw bodies: bytes of an operation's own types, which its handler reads as a stream.
import { Readable } from "node:stream";
import { MIMEType } from "node:util";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { membersOf } from "#platform/values/unchecked.ts";
import { ApiError } from "../../failures.ts";

export interface RawBody {
  readonly types: readonly [string, ...string[]];
  /** Aliases that browsers and scanners send for these types. */
  readonly otherNames: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** Bytes in the handler's memory at once. */
  readonly heldBytes: number;
}

export function typesMessage({ types }: Pick<RawBody, "types">): string {
  return `content type must be ${types.slice(0, -1).join(", ")} or ${types.at(-1)}`;
}

/** Makes the routes of a scope accept only such bodies. */
export function takeRawBodies(scope: FastifyInstance, raw: RawBody): void {
  scope.removeAllContentTypeParsers();
  const { types, otherNames, maxBytes } = raw;
  const message = typesMessage(raw);
  // Fastify refuses a malformed type before any parser runs.
  scope.setErrorHandler(async (error) => {
    if (membersOf(error).code !== "FST_ERR_CTP_INVALID_MEDIA_TYPE") throw error;
    throw new ApiError("unsupported_media_type", { message });
  });
  scope.addContentTypeParser("*", async () => {
    throw new ApiError("unsupported_media_type", { message });
  });
  const named = [...types, ...Object.keys(otherNames)];
  scope.addContentTypeParser(named, async (request: FastifyRequest, payload: Readable) => {
    assertNotEncoded(request);
    if (Number(request.headers["content-length"]) > maxBytes) throw new ApiError("payload_too_large");
    return payload;
  });
}

/** The declared type. @throws ApiError unsupported_media_type for any other, or without a body. */
export function typeOf(request: FastifyRequest, raw: Pick<RawBody, "types" | "otherNames">): string {
  const [declared = ""] = (request.headers["content-type"] ?? "").split(";");
  const name = declared.trim().toLowerCase();
  const type = raw.types.find((known) => known === (raw.otherNames[name] ?? name));
  if (type === undefined) throw new ApiError("unsupported_media_type", { message: typesMessage(raw) });
  return type;
}

/** Streams the body. @throws ApiError payload_too_large. */
export async function* bytesOf(request: FastifyRequest, maxBytes: number): AsyncGenerator<Buffer> {
  const { body } = request;
  if (!(body instanceof Readable)) return;
  let total = 0;
  // Keeps the connection for the response to a body that is refused midway.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    total += chunk.length;
    if (total > maxBytes) throw new ApiError("payload_too_large");
    yield chunk;
  }
}

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
function assertNotEncoded({ headers }: FastifyRequest): void {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") {
    throw refusal("content encoding is not supported: send the body without Content-Encoding");
  }
}

function refusal(message: string): ApiError {
  return new ApiError("unsupported_media_type", { message });
}
