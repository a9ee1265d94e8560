// Limits the time of a request body: seconds for a form, the server's own minute for a file of a signed-in person.
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { hasBody } from "../../http/body/unread-body.ts";

// The longest form arrives in this time at 11 kB a second.
const formMs = 12_000;
const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Closes the connection of a slow form, as the server closes that of a slow request. */
export function limitBodyTime(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ raw }) => {
    if (!hasBody(raw)) return;
    const end = () => {
      const late = Object.assign(new Error("form timed out"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
      if (!raw.complete) app.server.emit("clientError", late, raw.socket);
    };
    const timer = setTimeout(end, formMs).unref();
    timers.set(raw, timer);
    raw.once("close", () => clearTimeout(timer));
  });
}

export function allowFileTime({ raw }: FastifyRequest): void {
  clearTimeout(timers.get(raw));
}
