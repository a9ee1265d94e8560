// Free loopback ports for the parts of a local stack. Each process takes ports from blocks that it alone holds, so two
// stacks that start at the same moment never choose the same port.
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the range of outgoing connections (Linux: from 32768), which could take a port before we listen on it. */
const lowest = 10_240;
const highest = 32_767;
/** More than one stack needs. The owner of a block listens on its first port, which marks it as taken. */
const blockSize = 32;
/** With a thousand listeners on the machine, 1 try in 20 fails. */
const triesMax = 50;

/** Unused ports of this process's block. */
const left: number[] = [];
/** Ports chosen elsewhere, perhaps without a listener yet. */
const reserved = new Set<number>();

/** Excludes the port from `freePort`, even if nothing listens on it. */
export function reservePort(port: number): void {
  reserved.add(port);
}

/** A loopback port without a listener, which no other process gets from this function while this process lives. */
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

/** Tries to listen. @returns undefined on success, else the system's error code, such as EADDRINUSE or EACCES */
export function tryListen(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen(port, host, () => server.close(() => resolve(undefined)));
  });
}
