// A TCP connection's way that can go bad as networks do: listens on a free loopback port and passes bytes on to another
// one, until what is open is broken, swallowed in silence, left half-open, or broken in the middle of an answer. New
// connections always work.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export interface BadLink {
  /** On loopback. */
  readonly port: number;
  /** Breaks every open connection. @returns how many there were */
  cut(): number;
  /**
   * Every open connection swallows what both ends send, without a word, and is broken after the time: what waits for
   * ever would otherwise never be seen to recover. @returns how many there were
   */
  blackHole(forMs: number): Promise<number>;
  /**
   * Every open connection swallows what both ends send, without a word, until the link is closed: their machine is
   * gone, and another one has its address. @returns how many there were
   */
  vanish(): number;
  /** Closes the far end only: the near end's bytes are dropped until it gets a reset after the time. */
  halfOpen(forMs: number): Promise<number>;
  /**
   * Of the next answer on each open connection one byte arrives, then the connection is broken. @returns how many there
   * were
   */
  breakAnswers(): number;
  close(): Promise<void>;
}

/** One connection: the caller's socket, and ours to the target. */
interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  /** True: no bytes pass in either direction. */
  isSilent: boolean;
}

/** @param target port on loopback, where it moves asked for each connection; it need not listen yet. */
export async function openLink(target: number | (() => number)): Promise<BadLink> {
  const open = new Set<Pair>();
  const server = createServer((near) => {
    const pair: Pair = {
      near,
      far: connect(typeof target === "number" ? target : target(), "127.0.0.1"),
      isSilent: false,
    };
    open.add(pair);
    join(pair, () => open.delete(pair));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the link has no address");
  const cut = () => {
    const pairs = [...open];
    for (const pair of pairs) end(pair);
    return pairs.length;
  };
  const silenceAll = (and: (pair: Pair) => void = () => {}) => {
    const pairs = [...open].filter((pair) => !pair.isSilent);
    for (const pair of pairs) {
      silence(pair);
      and(pair);
    }
    return pairs;
  };
  const silenced = async (forMs: number, and?: (pair: Pair) => void) => {
    const pairs = silenceAll(and);
    await pause(forMs);
    for (const pair of pairs) {
      end(pair);
      open.delete(pair);
    }
    return pairs.length;
  };
  return {
    port: address.port,
    cut,
    blackHole: (forMs) => silenced(forMs),
    vanish: () => silenceAll().length,
    halfOpen: (forMs) => silenced(forMs, ({ far }) => breakOff(far)),
    breakAnswers() {
      const pairs = [...open].filter((pair) => !pair.isSilent);
      for (const pair of pairs) breakAnswer(pair);
      return pairs.length;
    },
    async close() {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
  };
}

function join(pair: Pair, onEnd: () => void): void {
  const { near, far } = pair;
  for (const socket of [near, far]) {
    socket.setNoDelay(true);
    const over = () => {
      if (pair.isSilent) return; // the other end must not notice
      end(pair);
      onEnd();
    };
    socket.on("error", over);
    socket.on("close", over);
  }
  near.pipe(far);
  far.pipe(near);
}

function end({ near, far }: Pair): void {
  breakOff(near);
  breakOff(far);
}

/**
 * Closes with a reset, except a closing socket: for that Node fails with EINVAL, never closes it, and loops at exit.
 */
function breakOff(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Both sockets are read on, so that senders notice nothing, and what they sent is dropped. */
function silence(pair: Pair): void {
  pair.isSilent = true;
  for (const [from, to] of [
    [pair.near, pair.far],
    [pair.far, pair.near],
  ] as const) {
    from.unpipe(to);
    from.resume();
  }
}

function breakAnswer(pair: Pair): void {
  const { near, far } = pair;
  far.unpipe(near);
  far.once("data", (answer: Buffer) => near.write(answer.subarray(0, 1), () => end(pair)));
  far.resume();
}
