// The cookies that hold a session's secret, and what a sign-in that is under way needs. Cookies know no ports, so each
// door has names of its own; `__Host-` keeps them from other hosts of the same site, and needs TLS, which a developer's
// own machine has not.
import type { CookieSerializeOptions } from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { ConsoleConfig } from "../settings.ts";

type CookieConfig = Pick<ConsoleConfig, "CONSOLE_DOOR" | "CONSOLE_ORIGIN">;

/** Which secret. */
type Purpose = "session" | "sign-in" | "provider";

/** Reads and writes the cookies of one console. */
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

  /** @param maxAgeSeconds absent: until the browser ends, or the service says that the session is over */
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
    // Lax: with Strict the first page after a link in a mail looks signed out.
    return { path: "/", httpOnly: true, sameSite: "lax", secure: this.#isSecure };
  }
}
