// A TCP connection's way that can be cut: listens on a free loopback port and passes bytes on to another one until told to break all
// that is open, as a network does, without a goodbye.
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface CuttableLink {
  /** On loopback. */
  readonly port: number;
  /** Breaks every open connection; new ones may come at once. @returns how many there were */
  cut(): number;
  close(): Promise<void>;
}

/** @param target port on loopback; it need not listen yet. */
export async function openLink(target: number): Promise<CuttableLink> {
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    const end = () => {
      near.resetAndDestroy();
      far.resetAndDestroy();
      open.delete(near);
    };
    open.add(near);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on("error", end);
      socket.on("close", end);
    }
    near.pipe(far);
    far.pipe(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("the link has no address");
  const cut = () => {
    const count = open.size;
    for (const socket of open) socket.resetAndDestroy();
    return count;
  };
  return {
    port: address.port,
    cut,
    async close() {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
  };
}
