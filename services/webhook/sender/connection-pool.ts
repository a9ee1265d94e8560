// Connections that stay open between deliveries, last used first, each for one endpoint only: no endpoint sees a connection that
// another one's certificate was checked on.
import type { Line } from "./line.ts";

// About 50 KiB each; with more, keeping them costs more than opening new ones.
const linesMax = 256;

export class ConnectionPool {
  readonly #idle = new Map<string, Line[]>();
  /** Every idle line with its key, longest kept first. */
  readonly #kept = new Map<Line, string>();

  /** The endpoint's most recently used idle connection, which now is the caller's. */
  take(key: string): Line | undefined {
    const line = this.#idle.get(key)?.at(-1);
    if (line) this.#remove(line);
    return line;
  }

  /** Keeps the connection until it is taken, or closed by either side. */
  keep(key: string, line: Line): void {
    if (line.isClosed) return;
    line.onClose = () => this.#remove(line);
    const lines = this.#idle.get(key);
    if (lines) lines.push(line);
    else this.#idle.set(key, [line]);
    this.#kept.set(line, key);
    if (this.#kept.size <= linesMax) return;
    for (const oldest of this.#kept.keys()) {
      oldest.close();
      this.#remove(oldest);
      return;
    }
  }

  /** Closes all idle connections. */
  close(): void {
    for (const line of [...this.#kept.keys()]) {
      line.close();
      this.#remove(line);
    }
  }

  #remove(line: Line): void {
    const key = this.#kept.get(line);
    if (key === undefined) return;
    line.onClose = () => {};
    this.#kept.delete(line);
    const rest = (this.#idle.get(key) ?? []).filter((other) => other !== line);
    if (rest.length > 0) this.#idle.set(key, rest);
    else this.#idle.delete(key);
  }
}
