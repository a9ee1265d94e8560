// Sends a page as HTML: compressed where the browser takes it, since pages are most of what a console sends.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { FastifyReply } from "fastify";
import type { Html } from "../../docs/html.ts";
import { pageHeaders } from "./headers.ts";

const compress = promisify(gzip);
// Below this a compressed page is no fewer packets.
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
