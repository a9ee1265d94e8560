// Keeps connections open between deliveries, each for one endpoint only. No endpoint may use a connection for which
// another endpoint's certificate was verified.
import { Client } from "undici";
import type { Target } from "../rules/target.ts";
import type { Connection, ConnectTiming } from "./connection.ts";

// About 50 KiB each; with more, keeping them costs more than opening new ones.
const idleMax = 256;

export class ConnectionPool {
  readonly #idle = new Map<string, PooledConnection[]>();
  /** Every idle connection with its key, oldest first. */
  readonly #kept = new Map<PooledConnection, string>();

  /** Removes the endpoint's most recently used idle connection. */
  take(key: string): PooledConnection | undefined {
    const connection = this.#idle.get(key)?.at(-1);
    if (connection) this.#remove(connection);
    return connection;
  }

  /** Keeps the connection until `take` or until either side closes it. */
  keep(key: string, connection: PooledConnection): void {
    if (connection.isClosed) return;
    connection.onClose = () => this.#remove(connection);
    const connections = this.#idle.get(key);
    if (connections) connections.push(connection);
    else this.#idle.set(key, [connection]);
    this.#kept.set(connection, key);
    if (this.#kept.size <= idleMax) return;
    for (const oldest of this.#kept.keys()) {
      oldest.close();
      this.#remove(oldest);
      return;
    }
  }

  close(): void {
    for (const connection of [...this.#kept.keys()]) {
      connection.close();
      this.#remove(connection);
    }
  }

  #remove(connection: PooledConnection): void {
    const key = this.#kept.get(connection);
    if (key === undefined) return;
    connection.onClose = () => {};
    this.#kept.delete(connection);
    const rest = (this.#idle.get(key) ?? []).filter((other) => other !== connection);
    if (rest.length > 0) this.#idle.set(key, rest);
    else this.#idle.delete(key);
  }
}

const answerHeadersMaxBytes = 16 * 1_024;
// An endpoint may set another keepalive time in whole seconds. Node's servers close after 5 s.
const idleMs = 4_000;
const idleMaxMs = 30_000;

/** A connection with an HTTP client. It serves one request at a time and is never reopened. */
export class PooledConnection {
  readonly client: Client;
  readonly remoteIp: string;
  readonly timing: ConnectTiming;
  /** Called when either side closes. */
  onClose: () => void = () => {};

  constructor(connection: Connection, target: Target) {
    this.remoteIp = connection.remoteIp;
    this.timing = connection.timing;
    let isUsed = false;
    this.client = new Client(target.origin, {
      connect: (_options, callback) => {
        if (isUsed) return callback(new Error("a closed connection cannot be reopened"), null);
        isUsed = true;
        // Asynchronously: the client ignores a connection that it gets before this call returns.
        queueMicrotask(() => callback(null, connection.socket));
      },
      pipelining: 1,
      allowH2: false,
      // The attempt's own deadline covers both.
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: answerHeadersMaxBytes,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: idleMaxMs,
    });
    this.client.once("disconnect", () => {
      this.close();
      this.onClose();
    });
  }

  get isClosed(): boolean {
    return this.client.destroyed;
  }

  close(): void {
    this.client.destroy().catch(() => {});
  }
}
