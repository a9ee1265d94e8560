// Protects forms against CSRF: the request must come from our own pages (Fetch Metadata, else Origin) and hold a token
// made from the session's secret. The token is salted per page, because a compressed page could leak a fixed one
// (BREACH).
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { FastifyRequest } from "fastify";

const saltBytes = 9;

/** The token of one page. */
export function formToken(sessionSecret: string): string {
  const salt = randomBytes(saltBytes).toString("base64url");
  return `${salt}.${sign(sessionSecret, salt)}`;
}

export function isFormToken(sessionSecret: string, token: string): boolean {
  const [salt = "", signature = ""] = token.split(".");
  const [expected, actual] = [Buffer.from(sign(sessionSecret, salt)), Buffer.from(signature)];
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function sign(sessionSecret: string, salt: string): string {
  return createHmac("sha256", sessionSecret).update(`form.${salt}`).digest("base64url");
}

export function isFromOurPages(request: Pick<FastifyRequest, "headers">, origin: string): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  return request.headers.origin === origin;
}
