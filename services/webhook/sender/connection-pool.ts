// Connections that stay open between deliveries, last used first, each for one endpoint only: no endpoint sees a
// connection that another one's certificate was checked on.
import type { PooledConnection } from "./pooled-connection.ts";

// About 50 KiB each; with more, keeping them costs more than opening new ones.
const linesMax = 256;

export class ConnectionPool {
  readonly #idle = new Map<string, PooledConnection[]>();
  /** Every idle connection with its key, longest kept first. */
  readonly #kept = new Map<PooledConnection, string>();

  /** The endpoint's most recently used idle connection, which now is the caller's. */
  take(key: string): PooledConnection | undefined {
    const connection = this.#idle.get(key)?.at(-1);
    if (connection) this.#remove(connection);
    return connection;
  }

  /** Keeps the connection until it is taken, or closed by either side. */
  keep(key: string, connection: PooledConnection): void {
    if (connection.isClosed) return;
    connection.onClose = () => this.#remove(connection);
    const connections = this.#idle.get(key);
    if (connections) connections.push(connection);
    else this.#idle.set(key, [connection]);
    this.#kept.set(connection, key);
    if (this.#kept.size <= linesMax) return;
    for (const oldest of this.#kept.keys()) {
      oldest.close();
      this.#remove(oldest);
      return;
    }
  }

  /** Closes all idle connections. */
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
