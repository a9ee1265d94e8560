// Connections to NATS that do what the URL says and end for good. The client's own transport forgets a socket that is given up while it
// is being greeted: it greets later, and stays open without anybody reading from it, one for every attempt at a broker that hangs.
import type { Socket } from "node:net";
import type { ConnectionOptions, NatsConnection } from "nats";
import { NatsConnectionImpl, setTransportFactory } from "nats/lib/nats-base-client/internal_mod.js";
import { NodeTransport, nodeResolveHost } from "nats/lib/src/node_transport.js";

/**
 * As `connect` of the client, which nothing else may call: transports are made by one factory for the whole process.
 * @param url `nats://host:port`, or `tls://…`, which refuses a server without TLS; with `user:password@` or `token@` to log in
 */
export function connectBroker(url: string, options: Omit<ConnectionOptions, "servers">): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new EndingTransport(), dnsResolveFn: nodeResolveHost });
  return NatsConnectionImpl.connect({ ...options, ...wishesOf(new URL(url)) });
}

/** The client takes host and port from a URL and passes over the rest. */
function wishesOf({ protocol, host, username, password }: URL): ConnectionOptions {
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const login = password === "" ? { token: user } : { user, pass };
  return { servers: host, ...(username !== "" && login), ...(protocol === "tls:" && { tls: {} }) };
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
