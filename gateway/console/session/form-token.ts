// Whether a form is one of ours: its request comes from our own pages (Fetch Metadata, else the origin), and it has a
// token that needs the session's secret. The token differs from page to page, so that compressed pages do not leak it
// (BREACH).
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";

const saltBytes = 9; // twelve characters

/** A token for the forms of one page. */
export function formToken(sessionSecret: string): string {
  const salt = randomBytes(saltBytes).toString("base64url");
  return `${salt}.${mark(sessionSecret, salt)}`;
}

/** True for a token of this session. */
export function isFormToken(sessionSecret: string, token: string): boolean {
  const [salt = "", signature = ""] = token.split(".");
  const [wanted, shown] = [Buffer.from(mark(sessionSecret, salt)), Buffer.from(signature)];
  return wanted.length === shown.length && timingSafeEqual(wanted, shown);
}

function mark(sessionSecret: string, salt: string): string {
  return createHmac("sha256", sessionSecret).update(`form.${salt}`).digest("base64url");
}

export function isFromOurPages(request: Pick<FastifyRequest, "headers">, origin: string): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  return request.headers.origin === origin;
}
