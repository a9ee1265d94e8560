// Files for browsers, kept in memory, each compressed once, when it is first asked for: all of them at start, source
// maps included, took half of a gateway's start. A file either never changes under its address or is asked for again.
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface ServedFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** The compressed bytes; made outside the event loop. */
  readonly gzip: () => Promise<Buffer>;
  readonly brotli: () => Promise<Buffer>;
  readonly etag: string;
  /** For the `integrity` of a script tag. */
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

/** @param quality of Brotli; 11 takes as long as some twenty requests, so it is for what is compressed once */
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

/** Those who ask at once share the work. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** `public, max-age=…` of a file that is another one under another name. */
export const foreverCache = "public, max-age=31536000, immutable";

/** Answers with the file, in the smallest form that the browser takes. */
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
