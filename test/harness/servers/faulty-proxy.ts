// A proxy on loopback between a merchant's backend and the gateway: fails the next requests as a test configures, and
// passes all others.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from "node:http";

export type Trouble =
  /** Is passed on and carried out; the answer never arrives. */
  | "answer lost"
  /** Is refused by a part that is away, before it arrives. */
  | "unavailable"
  /** A balancer's own page, in place of an answer. */
  | "bad gateway"
  | "redirect"
  /** No answer, and the connection stays open. */
  | "silence"
  /** The answer's first half. */
  | "half an answer"
  /** More of an answer than anybody reads. */
  | "endless answer"
  /** An answer that is no JSON. */
  | "nonsense"
  /** An amount with more digits than JavaScript keeps. */
  | "large number"
  /** An error that echoes the request's headers, as a debugging proxy does. */
  | "key echoed"
  /** An answer, and a refusal, of 10,000 lists in each other. */
  | "deep answer"
  | "deep refusal";

/** A request as it came. */
export interface ProxiedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface FaultyProxy {
  readonly url: string;
  /** Every request, oldest first. */
  readonly passed: readonly ProxiedRequest[];
  /** Faults of the next requests, one each. */
  trouble(...next: Trouble[]): void;
  close(): Promise<void>;
}

/** @param target the gateway's base URL */
export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  const passed: ProxiedRequest[] = [];
  const waiting: Trouble[] = [];
  const server = createServer((incoming, answer) => {
    const { method = "", url: path = "", headers } = incoming;
    passed.push({ method, path, headers });
    handle(waiting.shift(), target, incoming, answer);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the proxy has no address");
  return {
    url: `http://127.0.0.1:${address.port}`,
    passed,
    trouble: (...next) => void waiting.push(...next),
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const json = { "content-type": "application/json", "request-id": "req_01jd3v9q6k8m2n4p6r8t0v2x4z" };
const away = { error: { code: "service_unavailable", message: "a part of the service is away" } };
const halfLength = 1_000;

function handle(trouble: Trouble | undefined, target: string, incoming: IncomingMessage, answer: ServerResponse): void {
  incoming.on("error", () => answer.destroy());
  switch (trouble) {
    case undefined:
    case "answer lost":
      passOn(target, incoming, answer, trouble === "answer lost");
      return;
    case "unavailable":
      answer.writeHead(503, { ...json, "retry-after": "1" }).end(JSON.stringify(away));
      return;
    case "bad gateway":
      answer.writeHead(502, { "content-type": "text/html" }).end("<h1>502 Bad Gateway</h1>");
      return;
    case "redirect":
      answer.writeHead(307, { location: "http://127.0.0.1:9/elsewhere" }).end();
      return;
    case "silence":
      return;
    case "half an answer":
      answer.writeHead(200, { ...json, "content-length": String(halfLength) });
      answer.write('{"id":"pay_', () => answer.destroy());
      return;
    case "endless answer":
      answer.writeHead(200, json);
      pour(answer);
      return;
    case "nonsense":
      answer.writeHead(200, json).end("cs_secret_never_shown");
      return;
    case "large number":
      answer.writeHead(200, json).end('{"id":"pay_x","amount":9007199254740993}');
      return;
    case "key echoed":
      answer.writeHead(400, { ...json, "request-id": keyOf(incoming) }).end(JSON.stringify(echoedKey(incoming)));
      return;
    case "deep answer":
      answer.writeHead(200, json).end(`{"id":"pay_x","metadata":${deep}}`);
      return;
    case "deep refusal":
      answer.writeHead(400, json).end(`{"error":{"code":"a","message":"b","details":[{"field":${deep}}]}}`);
  }
}

const deepLevels = 10_000;
const deep = "[".repeat(deepLevels) + "]".repeat(deepLevels);

const keyOf = ({ headers }: IncomingMessage) => (headers.authorization ?? "").replace("Bearer ", "");

function echoedKey(incoming: IncomingMessage): object {
  const message = `not liked: ${incoming.headers.authorization}`;
  const [code, details] = [`no_${keyOf(incoming)}`, [{ field: keyOf(incoming), problem: message }]];
  return { error: { code, message, details } };
}

function passOn(target: string, incoming: IncomingMessage, answer: ServerResponse, isLost: boolean): void {
  const { host: _, ...headers } = incoming.headers;
  const onward = request(new URL(incoming.url ?? "/", target), { method: incoming.method, headers }, (came) => {
    if (isLost) {
      // Read to its end, so that the request was certainly carried out.
      came.resume().on("end", () => answer.destroy());
      return;
    }
    answer.writeHead(came.statusCode ?? 502, came.headers);
    came.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  incoming.pipe(onward);
}

/** White space, which JSON may have, until the connection closes. */
function pour(answer: ServerResponse): void {
  const block = Buffer.alloc(64 * 1024, " ");
  while (!answer.destroyed && answer.write(block));
  if (!answer.destroyed) answer.once("drain", () => pour(answer));
}
