// Sends a page as HTML, compressed if the browser accepts it. The headers forbid inline code, eval, other hosts except
// merchants' logos, and caching. Only the preview of the payment page may be framed, by the console itself.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply } from "fastify";
import type { Html } from "../../html.ts";

const compress = promisify(gzip);
// A smaller page fits into the same packets uncompressed.
const compressedFromBytes = 1_000;

export async function sendPage(
  reply: FastifyReply,
  status: number,
  page: Html,
  headers: Readonly<Record<string, string>> = pageHeaders,
): Promise<FastifyReply> {
  reply.code(status).headers(headers).type("text/html; charset=utf-8").header("vary", "accept-encoding, cookie");
  const bytes = Buffer.from(page.text);
  const takesGzip = /\bgzip\b/.test(String(reply.request.headers["accept-encoding"] ?? ""));
  if (!takesGzip || bytes.length < compressedFromBytes) return reply.send(bytes);
  return reply.header("content-encoding", "gzip").send(await compress(bytes));
}

const policy = (frameAncestors: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' https: http://localhost:* http://127.0.0.1:* data:", // a merchant's logo, without a referrer
    "connect-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "object-src 'none'",
    `frame-ancestors ${frameAncestors}`,
    "require-trusted-types-for 'script'",
    "trusted-types console",
  ].join("; ");

const common = {
  "cache-control": "no-store",
  "referrer-policy": "same-origin",
  "permissions-policy":
    "camera=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(self), publickey-credentials-create=(self)",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "x-robots-tag": "noindex, nofollow",
};

export const pageHeaders: Readonly<Record<string, string>> = {
  ...common,
  "content-security-policy": policy("'none'"),
  "x-frame-options": "DENY",
};

/** For a page that the console shows in its own frame. */
export const framedHeaders: Readonly<Record<string, string>> = {
  ...common,
  "content-security-policy": policy("'self'"),
  "x-frame-options": "SAMEORIGIN",
};
