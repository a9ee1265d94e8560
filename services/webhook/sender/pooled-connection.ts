// A connection with the HTTP client on it. It serves one request at a time and is used up when it closes.
import { Client } from "undici";
import type { Target } from "../rules/target.ts";
import type { Connection, ConnectTiming } from "./connection.ts";

const answerHeadersMaxBytes = 16 * 1_024;
// An endpoint's own keep-alive time is honoured up to the second; Node's servers close after 5 s.
const idleMs = 4_000;
const idleMaxMs = 30_000;

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
        if (isUsed) return callback(new Error("a connection is used up when it closes"), null);
        isUsed = true;
        // Not within this call: the client does not notice a connection that is there before it has asked for one.
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

  /** Ends the connection at once. */
  close(): void {
    this.client.destroy().catch(() => {});
  }
}
