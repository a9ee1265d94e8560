// Free loopback ports for the parts of a local stack, one port per part for the stack's whole life.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below every system's range for outgoing connections (Linux begins at 32768), so that between choosing a port and listening
 * on it, no outgoing connection of another process takes it.
 */
const lowest = 10_240;
const highest = 32_767;
/** With a thousand listeners on the machine one try fails in 20; fifty in a row never do. */
const triesMax = 50;

/** A loopback port on which nothing listens now. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < triesMax; attempt++) {
    const port = randomInt(lowest, highest + 1);
    if ((await tryListen(port, "127.0.0.1")) === undefined) return port;
  }
  throw new Error(`no free port found between ${lowest} and ${highest}`);
}

/**
 * Listens for a moment.
 * @returns undefined when the port can be had, else the system's error code, such as EADDRINUSE or EACCES
 */
export function tryListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
