// Handles a body that is not needed. Node would read it to the end, and closing at once would reset the connection and
// lose the response. So the response closes the connection, a little more is read and discarded, then the socket is
// destroyed.
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

// A few round trips around the world.
const lingerMs = 1_000;
// Bytes that are in flight before the caller sees the refusal; no more are read.
const lingerBytes = 64 * 1024;

export function hasBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** True if part of the body has not arrived. */
export function isUnread(request: IncomingMessage): boolean {
  return hasBody(request) && !request.complete;
}

/** Ends the connection after the pending `Connection: close` response. */
export function leaveUnread(request: IncomingMessage): void {
  const { socket } = request;
  let left = lingerBytes;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) request.pause();
  });
  // Node calls it once the response is written.
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (request.complete) return destroySoon();
    request.once("end", destroySoon);
    closeGently(socket);
  };
}

/** Half-closes the socket after the last bytes, and destroys it if the peer does not close in time. */
export function closeGently(socket: Socket, lastBytes?: string): void {
  if (lastBytes === undefined) socket.end();
  else socket.end(lastBytes);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}
