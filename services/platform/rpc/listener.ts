// One port for HTTP/1.1 and HTTP/2, with or without TLS, distinguished by the first bytes. Old connections are asked to
// leave, so callers spread to new replicas, and all are when the process stops; active calls always finish. Silent and
// half-open connections are closed.
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import http2, { type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from "node:http2";
import net, { type AddressInfo, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import tls from "node:tls";
import type { Drain } from "#platform/process/host.ts";
import { LiveFile } from "#platform/secrets/live-file.ts";
import type { Log } from "#platform/telemetry/log.ts";

// A new replica gets its share of calls within this time, and a new connection costs a fraction of a millisecond.
const connectionMaxAgeMs = 60_000;
// Requests come from our processes, whole and at once. Our clients drop idle connections after 2 s and no call takes
// longer than 60 s, so a connection without traffic for 65 s is unused.
const patienceDefault = { headersMs: 10_000, requestMs: 15_000, idleMs: 65_000 };
// Late requests end at most this much after their limit.
const lateCheckMs = 1_000;
const streamsMax = 1_000;
// Between GOAWAY and closing an HTTP/2 session: requests that crossed the GOAWAY have arrived by then.
const noticeMs = 1_000;
const lastStreamPossible = 2 ** 31 - 1;

/** Time limits for callers. */
export interface Patience {
  /** For a connection's first byte, and for a request's headers. */
  readonly headersMs: number;
  /** For a whole request. */
  readonly requestMs: number;
  /** Between requests. */
  readonly idleMs: number;
}

/** Paths of PEM files. */
export interface CertificateFiles {
  readonly cert: string;
  readonly key: string;
}

interface RpcListenerOptions {
  readonly port: number;
  readonly host: string;
  readonly h1: RequestListener;
  readonly h2: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  /** Maximum age of a connection, ±10 % so callers do not reconnect in step. */
  readonly connectionMaxAgeMs?: number | undefined;
  readonly patience?: Patience | undefined;
  readonly tls?: CertificateFiles & { readonly log: Log };
}

export class RpcListener {
  readonly #net: net.Server;
  readonly #h1: http.Server;
  readonly #h2: http2.Http2Server;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  /** When a connection is asked to leave; monotonic milliseconds. */
  readonly #leavesAt = new WeakMap<Socket, number>();
  readonly #maxAgeMs: number;
  readonly #patience: Patience;
  #draining = false;

  private constructor(options: RpcListenerOptions) {
    this.#maxAgeMs = options.connectionMaxAgeMs ?? connectionMaxAgeMs;
    this.#patience = options.patience ?? patienceDefault;
    const { headersMs: headersTimeout, requestMs: requestTimeout, idleMs: keepAliveTimeout } = this.#patience;
    const h1Options = { headersTimeout, requestTimeout, keepAliveTimeout, connectionsCheckingInterval: lateCheckMs };
    this.#h1 = http.createServer(h1Options, (request, response) => {
      this.#askToLeave(request, response);
      options.h1(request, response);
    });
    // Node checks for late requests after "listening", which this server never emits: it gets its connections from the
    // port above.
    this.#h1.emit("listening");
    this.#h2 = http2.createServer({ settings: { maxConcurrentStreams: streamsMax } }, (request, response) => {
      endLateRequest(request, this.#patience.requestMs);
      options.h2(request, response);
    });
    const accept = (socket: Socket) => this.#accept(socket);
    this.#net = options.tls ? tlsServer(options.tls, headersTimeout, accept) : net.createServer(accept);
    // Also connections within their handshake.
    this.#net.on("connection", (socket) => this.#track(socket));
  }

  static async open(options: RpcListenerOptions): Promise<RpcListener> {
    const listener = new RpcListener(options);
    await new Promise<void>((resolve, reject) => {
      listener.#net.once("error", reject);
      listener.#net.listen(options.port, options.host, resolve);
    });
    return listener;
  }

  get port(): number {
    return (this.#net.address() as AddressInfo).port;
  }

  /** Asks every caller to leave; requests are still answered. */
  leave(): void {
    if (this.#draining) return;
    this.#draining = true;
    for (const session of this.#sessions) leaveSession(session);
  }

  /**
   * Lets callers leave, then accepts nothing new and waits for active calls.
   * @param onHalfTime called when calls are still active after half of the grace time
   */
  async close({ lameDuckMs, graceMs }: Drain, onHalfTime: () => void): Promise<void> {
    this.leave();
    await pause(lameDuckMs);
    const closed = new Promise<void>((resolve) => this.#net.close(() => resolve()));
    this.#h2.close();
    this.#h1.close();
    this.#h1.closeIdleConnections();
    const soft = setTimeout(onHalfTime, graceMs / 2);
    // Sockets, not sessions: a destroyed session can leave its socket waiting for a peer that never ends.
    const hard = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(soft);
    clearTimeout(hard);
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once("close", () => this.#sockets.delete(socket));
  }

  #accept(socket: Socket): void {
    this.#track(socket);
    this.#leavesAt.set(socket, performance.now() + this.#ageMs());
    socket.on("error", () => socket.destroy());
    const isSilent = setTimeout(() => socket.destroy(), this.#patience.headersMs);
    socket.once("close", () => clearTimeout(isSilent));
    socket.once("data", (first: Buffer) => {
      clearTimeout(isSilent);
      socket.pause();
      socket.unshift(first);
      // HTTP/2 with prior knowledge starts with "PRI"; everything else is HTTP/1.1.
      const isH2 = first.subarray(0, 3).toString("latin1") === "PRI";
      if (isH2) this.#h2.once("session", (session) => this.#follow(session, socket));
      (isH2 ? this.#h2 : this.#h1).emit("connection", socket);
      process.nextTick(() => socket.resume());
    });
  }

  /** `Connection: close` on the answer makes the client open a new connection without a race. */
  #askToLeave(request: IncomingMessage, response: ServerResponse): void {
    const leavesAt = this.#leavesAt.get(request.socket) ?? 0;
    if (this.#draining || performance.now() > leavesAt) response.shouldKeepAlive = false;
  }

  /** @param socket of the session that has just started */
  #follow(session: ServerHttp2Session, socket: Socket): void {
    this.#sessions.add(session);
    const old = setTimeout(() => leaveSession(session), this.#ageMs());
    old.unref();
    session.setTimeout(this.#patience.idleMs, () => socket.destroy());
    session.once("close", () => {
      clearTimeout(old);
      // A closed session ends its side and may wait for its peer without limit.
      setTimeout(() => socket.destroy(), noticeMs).unref();
      this.#sessions.delete(session);
    });
  }

  #ageMs(): number {
    return this.#maxAgeMs * (0.9 + Math.random() * 0.2);
  }
}

/**
 * New handshakes use changed files. A certificate and a key that do not fit are not used: they may be half of a change.
 */
function tlsServer(
  { cert, key, log }: NonNullable<RpcListenerOptions["tls"]>,
  handshakeTimeout: number,
  accept: (socket: Socket) => void,
): tls.Server {
  const files = [cert, key].map((path) => new LiveFile(path, (text) => text));
  const current = () => ({ cert: files[0]?.value ?? "", key: files[1]?.value ?? "" });
  let seen = current();
  const server = tls.createServer({ ...seen, ALPNProtocols: ["h2", "http/1.1"], handshakeTimeout }, accept);
  server.prependListener("connection", () => {
    const found = current();
    if (found.cert === seen.cert && found.key === seen.key) return;
    seen = found;
    try {
      server.setSecureContext(found);
    } catch (error) {
      log.error({ err: error }, `certificate rejected: RPC_TLS_CERT_FILE and RPC_TLS_KEY_FILE do not fit`);
    }
  });
  return server;
}

/** HTTP/2 has no limit for a request whose body never ends. */
function endLateRequest(request: Http2ServerRequest, requestMs: number): void {
  const late = setTimeout(() => request.stream.close(http2.constants.NGHTTP2_CANCEL), requestMs);
  request.once("end", () => clearTimeout(late));
  request.once("close", () => clearTimeout(late));
}

/** GOAWAY in two steps (RFC 9113, 6.8): the first refuses no stream, so a request sent meanwhile is not lost. */
function leaveSession(session: ServerHttp2Session): void {
  if (session.destroyed) return; // gone already; its "close" may come later
  session.goaway(http2.constants.NGHTTP2_NO_ERROR, lastStreamPossible);
  setTimeout(() => session.close(), noticeMs).unref();
}
