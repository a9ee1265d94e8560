// Connections to NATS that end for good. The client's own transport forgets a socket that is given up while it is being greeted:
// it greets later, and stays open without anybody reading from it, one for every attempt at a broker that hangs.
import type { Socket } from "node:net";
import type { ConnectionOptions, NatsConnection } from "nats";
import { NatsConnectionImpl, setTransportFactory } from "nats/lib/nats-base-client/internal_mod.js";
import { NodeTransport, nodeResolveHost } from "nats/lib/src/node_transport.js";

/** As `connect` of the client, which nothing else may call: transports are made by one factory for the whole process. */
export function connectBroker(options: ConnectionOptions): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new EndingTransport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect(options);
}

class EndingTransport extends NodeTransport {
  #givenUp = false;

  override async dial(host: { hostname: string; port: number }): Promise<Socket> {
    const socket = await super.dial(host);
    if (!this.#givenUp) return socket;
    socket.destroy();
    throw new Error("given up while connecting");
  }

  override async close(error?: Error): Promise<void> {
    if (!this.connected) {
      this.#givenUp = true;
      this.socket?.destroy();
    }
    await super.close(error);
  }
}
