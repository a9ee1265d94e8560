// Bodies that are no JSON: bytes of the types that an operation names, read by its handler as they come.
import { Readable } from "node:stream";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { membersOf } from "#platform/values/unchecked.ts";
import { ApiError } from "../../failures.ts";
import { assertNotEncoded } from "./body-type.ts";

/** What an operation takes in place of JSON. */
export interface RawBody {
  readonly types: readonly [string, ...string[]];
  /** Names that browsers and scanners use for these types. */
  readonly otherNames: Readonly<Record<string, string>>;
  readonly maxBytes: number;
  /** What its handler has in memory of it at once. */
  readonly heldBytes: number;
}

/** What is said to bodies of other types. */
export function typesMessage({ types }: Pick<RawBody, "types">): string {
  return `content type must be ${types.slice(0, -1).join(", ")} or ${types.at(-1)}`;
}

/** Has the routes of a scope take such bodies, and no others. */
export function takeRawBodies(scope: FastifyInstance, raw: RawBody): void {
  scope.removeAllContentTypeParsers();
  const { types, otherNames, maxBytes } = raw;
  const message = typesMessage(raw);
  // A type that is none in any words never comes as far as to a parser.
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

/** Which of the types the body is said to be. @throws ApiError unsupported_media_type: none, as without a body. */
export function typeOf(request: FastifyRequest, raw: Pick<RawBody, "types" | "otherNames">): string {
  const [declared = ""] = (request.headers["content-type"] ?? "").split(";");
  const name = declared.trim().toLowerCase();
  const type = raw.types.find((known) => known === (raw.otherNames[name] ?? name));
  if (type === undefined) throw new ApiError("unsupported_media_type", { message: typesMessage(raw) });
  return type;
}

/** The body as it comes. @throws ApiError payload_too_large. */
export async function* bytesOf(request: FastifyRequest, maxBytes: number): AsyncGenerator<Buffer> {
  const { body } = request;
  if (!(body instanceof Readable)) return;
  let total = 0;
  // The answer to a body that is refused midway needs its connection.
  for await (const chunk of body.iterator({ destroyOnReturn: false })) {
    total += chunk.length;
    if (total > maxBytes) throw new ApiError("payload_too_large");
    yield chunk;
  }
}
