// Serves files from memory. Each is compressed on its first request: compressing all at start took half of the
// gateway's start time.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface ServedFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: () => Promise<Buffer>;
  readonly brotli: () => Promise<Buffer>;
  readonly etag: string;
  readonly integrity: string;
}

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
  map: "application/json; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  yaml: "application/yaml; charset=utf-8",
};

const [gzipped, brotlied] = [promisify(gzip), promisify(brotliCompress)];

/** @param quality of Brotli; 11 costs as much as twenty requests, so use it for files that are compressed once */
export function servedFile(name: string, content: string | Buffer, quality = 11): ServedFile {
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  return {
    type: types[name.split(".").at(-1) ?? ""] ?? "text/plain; charset=utf-8",
    bytes,
    gzip: once(() => gzipped(bytes, { level: 9 })),
    brotli: once(() => brotlied(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: quality } })),
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}`,
  };
}

/** Concurrent callers share the work. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => (result ??= make());
}

/** For files whose name changes with their content. */
export const foreverCache = "public, max-age=31536000, immutable";

/** Sends the file in the smallest encoding that the browser accepts. */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: ServedFile,
  cache: string,
): Promise<FastifyReply> {
  reply.header("cache-control", cache).header("etag", file.etag).header("vary", "accept-encoding");
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  reply.type(file.type);
  const accepted = String(request.headers["accept-encoding"] ?? "");
  if (/\bbr\b/.test(accepted)) return reply.header("content-encoding", "br").send(await file.brotli());
  if (/\bgzip\b/.test(accepted)) return reply.header("content-encoding", "gzip").send(await file.gzip());
  return reply.send(file.bytes);
}
