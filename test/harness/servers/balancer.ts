// A Kubernetes ClusterIP: each new TCP connection goes to the next of the listed replicas. Existing connections stay
// where they are when the list changes, as with kube-proxy.
import net, { type AddressInfo, type Socket } from "node:net";

export interface Balancer {
  readonly port: number;
  readonly url: string;
  /** Ports of the replicas; changed as they become ready or end. */
  readonly replicas: Set<number>;
  /** How many connections each port was given, also of replicas that are gone. */
  readonly connectionCounts: ReadonlyMap<number, number>;
  stop(): Promise<void>;
}

/** Listens on a free port of this machine. @param replicas may be shared with another balancer, one per caller */
export async function startBalancer(replicas: Set<number> = new Set()): Promise<Balancer> {
  const connectionCounts = new Map<number, number>();
  const sockets = new Set<Socket>();
  let turn = 0;
  const server = net.createServer({ allowHalfOpen: true }, (caller) => {
    const port = [...replicas][turn++ % Math.max(replicas.size, 1)];
    if (port === undefined) return void caller.destroy();
    connectionCounts.set(port, (connectionCounts.get(port) ?? 0) + 1);
    const replica = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    for (const [socket, other] of [
      [caller, replica],
      [replica, caller],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroySoon();
      });
      socket.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    replicas,
    connectionCounts,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
