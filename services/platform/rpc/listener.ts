// One port for HTTP/1.1 and cleartext HTTP/2, told apart by the first bytes. A connection is asked to leave when it is
// old, so that callers spread over replicas that were added meanwhile, and when the process stops; what is under way on
// it always finishes. One that says nothing, or half of something, is closed.
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import http2, { type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from "node:http2";
import net, { type AddressInfo, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Drain } from "#platform/process/host.ts";

// A replica that was added has its share of the calls within this time, and a new connection costs a fraction of a
// millisecond.
const connectionMaxAgeMs = 60_000;
// Requests come from our own processes, whole and at once. Clients of ours let go of idle connections after 2 s, and no
// call takes longer than 60 s, so what moves no byte for 65 s waits for nothing.
const patienceDefault = { headersMs: 10_000, requestMs: 15_000, idleMs: 65_000 };
// Late requests end at most this much after their time.
const lateCheckMs = 1_000;
const streamsMax = 1_000;
// Between telling an HTTP/2 client to leave and closing the session: what it sent before it heard of it has arrived by
// then.
const noticeMs = 1_000;
const lastStreamPossible = 2 ** 31 - 1;

/** How long the door waits for callers. */
export interface Patience {
  /** For the first byte of a connection, and for the headers of a request. */
  readonly headersMs: number;
  /** For the whole of a request. */
  readonly requestMs: number;
  /** Between requests. */
  readonly idleMs: number;
}

export interface RpcListenerOptions {
  readonly port: number;
  readonly host: string;
  readonly h1: RequestListener;
  readonly h2: (request: Http2ServerRequest, response: Http2ServerResponse) => void;
  /** Oldest age of a connection, ±10 % so that callers do not move in step. */
  readonly connectionMaxAgeMs?: number | undefined;
  readonly patience?: Patience | undefined;
}

export class RpcListener {
  readonly #net: net.Server;
  readonly #h1: http.Server;
  readonly #h2: http2.Http2Server;
  readonly #sockets = new Set<Socket>();
  readonly #sessions = new Set<ServerHttp2Session>();
  /** When a connection leaves; monotonic milliseconds. */
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
    // Node looks for late requests from here on; this server gets its connections from us and never listens.
    this.#h1.emit("listening");
    this.#h2 = http2.createServer({ settings: { maxConcurrentStreams: streamsMax } }, (request, response) => {
      endLateRequest(request, this.#patience.requestMs);
      options.h2(request, response);
    });
    this.#net = net.createServer((socket) => this.#accept(socket));
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

  /** Asks every caller to leave; whatever comes is still answered. */
  leave(): void {
    if (this.#draining) return;
    this.#draining = true;
    for (const session of this.#sessions) leaveSession(session);
  }

  /**
   * Lets callers leave, then takes nothing new and waits for what is under way.
   * @param onHalfTime called when half of the grace time is over and calls still run
   */
  async close({ lameDuckMs, graceMs }: Drain, onHalfTime: () => void): Promise<void> {
    this.leave();
    await pause(lameDuckMs);
    const closed = new Promise<void>((resolve) => this.#net.close(() => resolve()));
    this.#h2.close();
    this.#h1.close();
    this.#h1.closeIdleConnections();
    const soft = setTimeout(onHalfTime, graceMs / 2);
    // Raw sockets, not sessions: a destroyed session can leave its socket waiting for a peer that never ends.
    const hard = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, graceMs);
    await closed;
    clearTimeout(soft);
    clearTimeout(hard);
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    this.#leavesAt.set(socket, performance.now() + this.#ageMs());
    socket.once("close", () => this.#sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const isSilent = setTimeout(() => socket.destroy(), this.#patience.headersMs);
    socket.once("close", () => clearTimeout(isSilent));
    socket.once("data", (first: Buffer) => {
      clearTimeout(isSilent);
      socket.pause();
      socket.unshift(first);
      // HTTP/2 with prior knowledge begins with "PRI"; everything else is HTTP/1.1.
      const isH2 = first.subarray(0, 3).toString("latin1") === "PRI";
      if (isH2) this.#h2.once("session", (session) => this.#follow(session, socket));
      (isH2 ? this.#h2 : this.#h1).emit("connection", socket);
      process.nextTick(() => socket.resume());
    });
  }

  /**
   * `Connection: close` on the answer, after which the client takes a new connection: there is no moment for a race.
   */
  #askToLeave(request: IncomingMessage, response: ServerResponse): void {
    const leavesAt = this.#leavesAt.get(request.socket) ?? 0;
    if (this.#draining || performance.now() > leavesAt) response.shouldKeepAlive = false;
  }

  /** @param socket the session's own: it began in this very moment */
  #follow(session: ServerHttp2Session, socket: Socket): void {
    this.#sessions.add(session);
    const old = setTimeout(() => leaveSession(session), this.#ageMs());
    old.unref();
    session.setTimeout(this.#patience.idleMs, () => socket.destroy());
    session.once("close", () => {
      clearTimeout(old);
      // A session that closes in order ends its side and waits for the peer's, for ever if need be.
      setTimeout(() => socket.destroy(), noticeMs).unref();
      this.#sessions.delete(session);
    });
  }

  #ageMs(): number {
    return this.#maxAgeMs * (0.9 + Math.random() * 0.2);
  }
}

/** HTTP/2 has no limit of its own for a request whose body never ends. */
function endLateRequest(request: Http2ServerRequest, requestMs: number): void {
  const late = setTimeout(() => request.stream.close(http2.constants.NGHTTP2_CANCEL), requestMs);
  request.once("end", () => clearTimeout(late));
  request.once("close", () => clearTimeout(late));
}

/**
 * GOAWAY in two steps (RFC 9113, 6.8): the first refuses no stream, so a client that sends one at this moment loses
 * nothing.
 */
function leaveSession(session: ServerHttp2Session): void {
  if (session.destroyed) return; // gone already; its "close" may come later
  session.goaway(http2.constants.NGHTTP2_NO_ERROR, lastStreamPossible);
  setTimeout(() => session.close(), noticeMs).unref();
}
