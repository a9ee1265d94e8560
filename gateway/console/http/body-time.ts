// How long a body may be on its way: seconds for a form, up to the server's own limit for a file of somebody who is
// signed in, which takes a minute over a phone's line.
import type { IncomingMessage } from "node:http";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { hasBody } from "../../http/body/unread-body.ts";

// The longest form takes this long at 11 kB a second.
const formMs = 12_000;
const timers = new WeakMap<IncomingMessage, NodeJS.Timeout>();

/** Ends the connection of a form that is late, as the server ends that of a request. */
export function limitBodyTime(app: FastifyInstance): void {
  app.addHook("onRequest", async ({ raw }) => {
    if (!hasBody(raw)) return;
    const end = () => {
      const late = Object.assign(new Error("the form is late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
      if (!raw.complete) app.server.emit("clientError", late, raw.socket);
    };
    const timer = setTimeout(end, formMs).unref();
    timers.set(raw, timer);
    raw.once("close", () => clearTimeout(timer));
  });
}

/** From here on the server's own limit counts. */
export function giveFileTime({ raw }: FastifyRequest): void {
  clearTimeout(timers.get(raw));
}
