// Files for browsers, kept in memory, compressed once at start. A file either never changes under its address or is asked for again.
import { createHash } from "node:crypto";
import { brotliCompressSync, gzipSync, constants as zlib } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface ServedFile {
  readonly type: string;
  readonly text: string;
  readonly gzip: Buffer;
  readonly brotli: Buffer;
  readonly etag: string;
  /** For the `integrity` of a script tag. */
  readonly integrity: string;
}

const types: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json; charset=utf-8",
  map: "application/json; charset=utf-8",
  mjs: "text/javascript; charset=utf-8",
};

export function servedFile(name: string, text: string): ServedFile {
  const bytes = Buffer.from(text);
  return {
    type: types[name.split(".").at(-1) ?? ""] ?? "text/plain; charset=utf-8",
    text,
    gzip: gzipSync(bytes, { level: 9 }),
    brotli: brotliCompressSync(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 11 } }),
    etag: `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 22)}"`,
    integrity: `sha384-${createHash("sha384").update(bytes).digest("base64")}`,
  };
}

/** `public, max-age=…` of a file that is another one under another name. */
export const foreverCache = "public, max-age=31536000, immutable";

/** Answers with the file, in the smallest form that the browser takes. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: ServedFile, cache: string): FastifyReply {
  reply.header("cache-control", cache).header("etag", file.etag).header("vary", "accept-encoding");
  if (request.headers["if-none-match"] === file.etag) return reply.code(304).send();
  reply.type(file.type);
  const accepted = String(request.headers["accept-encoding"] ?? "");
  if (/\bbr\b/.test(accepted)) return reply.header("content-encoding", "br").send(file.brotli);
  if (/\bgzip\b/.test(accepted)) return reply.header("content-encoding", "gzip").send(file.gzip);
  return reply.send(file.text);
}
