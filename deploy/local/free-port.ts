// Free loopback ports for the parts of a local stack, one port per part for the stack's whole life. Each process takes
// its ports out of blocks that no other process of ours takes from: two stacks that start side by side never choose the
// same.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/**
 * Below every system's range for outgoing connections (Linux begins at 32768), so that between choosing a port and
 * listening on it, no outgoing connection of another process takes it.
 */
const lowest = 10_240;
const highest = 32_767;
/**
 * More than one stack needs. The first port of a block marks it as taken: its owner listens there and answers nobody.
 */
const blockSize = 32;
/** With a thousand listeners on the machine one try fails in 20; fifty in a row never do. */
const triesMax = 50;

/** What is left of this process's block. */
const left: number[] = [];
/** Chosen some other way, and perhaps nobody listens there yet. */
const reserved = new Set<number>();

/** The port is nobody's from here on, though it may be free. */
export function reservePort(port: number): void {
  reserved.add(port);
}

/**
 * A loopback port on which nothing listens now, and which no other process that asks here gets while this one lives.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < triesMax; attempt++) {
    const port = left.shift();
    if (port === undefined) await takeBlock();
    else if (!reserved.has(port) && (await tryListen(port, "127.0.0.1")) === undefined) return port;
  }
  throw new Error(`no free port found between ${lowest} and ${highest}`);
}

async function takeBlock(): Promise<void> {
  const first = lowest + blockSize * randomInt((highest + 1 - lowest) / blockSize);
  const mark = createServer((socket) => socket.destroy()).unref();
  const isOurs = await new Promise<boolean>((resolve) => {
    mark.once("error", () => resolve(false));
    mark.listen(first, "127.0.0.1", () => resolve(true));
  });
  if (!isOurs) return;
  for (let port = first + 1; port < first + blockSize; port++) left.push(port);
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
