// What becomes of a body that nobody wants to read. Left to itself Node takes it off the wire to its end, whatever its
// length; a socket closed at once with bytes unread resets the connection, and the answer is lost with it. So the
// answer closes the connection, a little more is read and thrown away while the caller takes the answer, and then the
// socket goes.
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

// A few round trips to the far side of the world.
const lingerMs = 1_000;
// What a caller that has not heard of the refusal has on its way already; no more is taken off the wire.
const lingerBytes = 64 * 1024;

/** True when the request announced a body. */
export function hasBody({ headers }: Pick<IncomingMessage, "headers">): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

/** True when a part of the body has not arrived. */
export function isUnread(request: IncomingMessage): boolean {
  return hasBody(request) && !request.complete;
}

/** Ends the connection after the answer that is about to be sent with `Connection: close`. */
export function leaveUnread(request: IncomingMessage): void {
  const { socket } = request;
  let left = lingerBytes;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left <= 0) request.pause();
  });
  // Node calls it when the answer is written.
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (request.complete) return destroySoon();
    request.once("end", destroySoon);
    closeGently(socket);
  };
}

/** Sends the last bytes and the end of our side, and destroys the socket when the other side does not end its own. */
export function closeGently(socket: Socket, lastBytes?: string): void {
  if (lastBytes === undefined) socket.end();
  else socket.end(lastBytes);
  const timer = setTimeout(() => socket.destroy(), lingerMs);
  timer.unref();
  socket.once("close", () => clearTimeout(timer));
}
