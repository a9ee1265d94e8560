// Cookies of a session and of a sign-in in progress. Cookies ignore ports, so the two consoles use different names.
// `__Host-` protects them from sibling hosts and needs TLS, so a developer's machine goes without.
import type { CookieSerializeOptions } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ConsoleConfig } from "../settings.ts";

type CookieConfig = Pick<ConsoleConfig, "CONSOLE_DOOR" | "CONSOLE_ORIGIN">;

type Purpose = "session" | "sign-in" | "provider";

export class SecretCookies {
  readonly #isSecure: boolean;
  readonly #door: string;

  constructor({ CONSOLE_ORIGIN: origin, CONSOLE_DOOR: door }: CookieConfig) {
    this.#isSecure = origin.startsWith("https:");
    this.#door = door;
  }

  read(request: FastifyRequest, purpose: Purpose): string {
    return request.cookies[this.#name(purpose)] ?? "";
  }

  /** @param maxAgeSeconds default: until the browser closes */
  write(reply: FastifyReply, purpose: Purpose, secret: string, maxAgeSeconds?: number): void {
    const age = maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds };
    reply.setCookie(this.#name(purpose), secret, { ...this.#options, ...age });
  }

  forget(reply: FastifyReply, purpose: Purpose): void {
    reply.clearCookie(this.#name(purpose), this.#options);
  }

  #name(purpose: Purpose): string {
    return `${this.#isSecure ? "__Host-" : ""}tollbooth-${this.#door}-${purpose}`;
  }

  get #options(): CookieSerializeOptions {
    // With Strict, the first page after a link in an email would look signed out.
    return { path: "/", httpOnly: true, sameSite: "lax", secure: this.#isSecure };
  }
}
