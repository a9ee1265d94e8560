// An HTTPS webhook receiver on a free port that forwards each delivery unchanged to a local address and returns its
// response: a refusal there is a failed delivery, which the service retries on its schedule.
import { readFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { reasonOf } from "../start-error.ts";
import type { TlsFiles } from "../state/tls.ts";

export interface ForwardedEvent {
  /** The event's type, and the payment's id if it has one. */
  readonly type: string;
  readonly paymentId: string;
  /** Status of the local address; 502: no response, see `problem`. */
  readonly status: number;
  readonly problem: string;
  readonly tookMs: number;
}

export interface Forwarder {
  /** https URL to register. */
  readonly url: string;
  close(): Promise<void>;
}

// Deliveries have less than a kilobyte; the service reads at most 64 KiB of a response.
const bodyMaxBytes = 64 * 1_024;
// The service waits 10 s in total; a slower response would look like none at all.
const answerMaxMs = 9_000;
const passedOn = [
  ...["content-type", "user-agent", "service-event", "service-delivery", "service-signature"],
  ...["webhook-id", "webhook-timestamp", "webhook-signature", "traceparent"],
];

/** @param onForwarded called after each response */
export async function startForwarder(
  to: URL,
  tls: TlsFiles,
  onForwarded: (delivery: ForwardedEvent) => void,
): Promise<Forwarder> {
  const server = createServer({ cert: await readFile(tls.cert), key: await readFile(tls.key) }, (request, response) => {
    void pass(request, response, to).then(onForwarded, () => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  return {
    url: `https://localhost:${port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function pass(request: IncomingMessage, response: ServerResponse, to: URL): Promise<ForwardedEvent> {
  const body = await bytesOf(request);
  const headers = new Headers();
  for (const name of passedOn) {
    const value = request.headers[name];
    if (typeof value === "string") headers.set(name, value);
  }
  const began = performance.now();
  const { status, text, problem } = await post(to, headers, body);
  response.writeHead(status, { "content-type": "text/plain" }).end(text);
  return { ...named(body), status, problem, tookMs: performance.now() - began };
}

async function post(to: URL, headers: Headers, body: Buffer) {
  try {
    const options = { method: "POST", headers, body: new Uint8Array(body), redirect: "manual" } as const;
    const answer = await fetch(to, { ...options, signal: AbortSignal.timeout(answerMaxMs) });
    const text = (await answer.text()).slice(0, bodyMaxBytes);
    return { status: answer.status, text: answer.status === 204 ? undefined : text, problem: "" };
  } catch (error) {
    const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
    return { status: 502, text: "the local address did not answer", problem: reasonOf(cause) };
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > bodyMaxBytes) throw new Error("too large for a delivery");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Type and payment of the event; an unreadable body is forwarded too. */
function named(body: Buffer): { type: string; paymentId: string } {
  const fields = /^\{"type":"([a-z_.]{1,64})"(?:,"payment_id":"(pay_[0-9a-z]{1,64})")?/.exec(body.toString("utf8"));
  return { type: fields?.[1] ?? "?", paymentId: fields?.[2] ?? "" };
}
