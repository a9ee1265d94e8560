// A merchant's webhook endpoint on this machine: HTTPS with the stack's certificate; records each request's bytes, and
// answers as the test configures.
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { TlsFiles } from "../../deploy/local/state/tls.ts";
import { eventually } from "./eventually.ts";

/** One delivery as it came. */
export interface ReceivedRequest {
  /** Milliseconds since 1970. */
  at: number;
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  /** The exact bytes. */
  body: Buffer;
}

/** How to answer a delivery. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: string;
  /** Answer after this time. */
  delayMs?: number;
  /** Answer when this has settled. */
  after?: Promise<unknown>;
  /** Never answer; cut the connection after the delay. */
  drop?: boolean;
}

/** A running receiver. */
export interface Receiver {
  /** https URL to register; a path may be appended. */
  url: string;
  /** Everything that came, oldest first. */
  received: readonly ReceivedRequest[];
  /** From now on; the default is 200 at once. */
  answer(reply: Reply | ((request: ReceivedRequest) => Reply)): void;
  /** The first request that fits, now or within the limit (default: that of `eventually`). */
  waitFor(fits: (request: ReceivedRequest) => boolean, limitMs?: number): Promise<ReceivedRequest>;
  close(): Promise<void>;
}

const bodyMax = 1024 * 1024; // deliveries have less than a kilobyte; more is a defect that should not fill the memory

/** Starts a receiver on a free port. @param tls the stack's files */
export async function startReceiver(tls: Pick<TlsFiles, "cert" | "key">): Promise<Receiver> {
  const received: ReceivedRequest[] = [];
  let reply: (request: ReceivedRequest) => Reply = () => ({ status: 200 });
  const server = createServer(
    { cert: readFileSync(tls.cert), key: readFileSync(tls.key) },
    async (message, response) => {
      try {
        const request = await record(message);
        received.push(request);
        send(response, reply(request));
      } catch {
        response.destroy(); // the sender went away in the middle of its request
      }
    },
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the receiver has no address");
  return {
    url: `https://localhost:${address.port}`,
    received,
    answer(next) {
      reply = typeof next === "function" ? next : () => next;
    },
    waitFor: (fits, limitMs) =>
      eventually("a delivery that fits", () => received.find(fits), limitMs === undefined ? {} : { limitMs }),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function record(message: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of message) {
    size += chunk.length;
    if (size > bodyMax) throw new Error(`a delivery has more than ${bodyMax} bytes`);
    chunks.push(chunk);
  }
  const { method = "", url: path = "", headers } = message;
  return { at: Date.now(), method, path, headers, body: Buffer.concat(chunks) };
}

function send(response: ServerResponse, reply: Reply): void {
  const act = () => {
    if (reply.drop) response.destroy();
    else response.writeHead(reply.status, reply.headers).end(reply.body);
  };
  if (reply.after !== undefined) void reply.after.then(act, act);
  else if (reply.delayMs) setTimeout(act, reply.delayMs).unref();
  else act();
}

/**
 * Checks the signature as docs/contract.md §9 describes, over the raw bytes.
 * @returns true when one of the `v1` values fits the secret
 */
export function isSignedWith(request: ReceivedRequest, signingSecret: string): boolean {
  const header = request.headers["service-signature"];
  if (typeof header !== "string") return false;
  const parts = header.split(",").map((field) => field.split("="));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  const wanted = createHmac("sha256", signingSecret).update(`${time}.`).update(request.body).digest("hex");
  return /^\d+$/.test(time) && parts.some(([name, value]) => name === "v1" && value === wanted);
}
