// Connections to NATS that do what the URL says and end for good. The client's own transport forgets a socket that is
// given up while it is being greeted: it greets later, and stays open without anybody reading from it, one for every
// attempt at a broker that hangs.
import type { Socket } from "node:net";
import {
  type ConnectionOptions,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
  nkeyAuthenticator,
} from "nats";
import { NatsConnectionImpl, setTransportFactory } from "nats/lib/nats-base-client/internal_mod.js";
import { NodeTransport, nodeResolveHost } from "nats/lib/src/node_transport.js";
import type { OwnNkey } from "#platform/secrets/nkey.ts";

/** Where the broker is, and who we are there. */
export interface Broker {
  /**
   * `nats://host:port`, or `tls://…`, which refuses a server without TLS; with `user:password@` or `token@` to log in
   * without an NKEY.
   */
  readonly url: string;
  readonly nkey?: OwnNkey | undefined;
  /** PEM file of the authority that vouches for the broker; absent: those that Node knows. */
  readonly caFile?: string | undefined;
}

/** What a process that uses the broker is set. */
export function brokerOf(settings: {
  readonly NATS_URL: string;
  readonly NATS_NKEY_FILE: OwnNkey | undefined;
  readonly NATS_CA_FILE: string | undefined;
}): Broker {
  return { url: settings.NATS_URL, nkey: settings.NATS_NKEY_FILE, caFile: settings.NATS_CA_FILE };
}

/**
 * As `connect` of the client, which nothing else may call: transports are made by one factory for the whole process.
 * @param options.name of the identity; answers come to an inbox under it, which nobody else may read (rights.ts)
 */
export async function connectBroker(
  broker: Broker,
  options: Omit<ConnectionOptions, "servers"> & { readonly name: string },
): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new EndingTransport(), dnsResolveFn: nodeResolveHost });
  const connectionOptions = { inboxPrefix: inboxOf(options.name), ...options, ...toConnectionOptions(broker) };
  const connection = await NatsConnectionImpl.connect(connectionOptions);
  // One that asks nobody who he is has one account for everybody.
  if (broker.nkey && connection.info?.auth_required) identified.add(connection);
  return connection;
}

/**
 * What identities ask for streams by, instead of `$JS.API`: each has an account of its own, into which rights.ts brings
 * the questions that it may ask. By `$JS.API` the broker answers each account that it has no streams.
 */
export const streamsApi = "streams";
const identified = new WeakSet<NatsConnection>();
const selectStreamsApi = (connection: NatsConnection) => (identified.has(connection) ? { apiPrefix: streamsApi } : {});

/** To publish into streams and read from them. */
export function streamClient(connection: NatsConnection): JetStreamClient {
  return connection.jetstream(selectStreamsApi(connection));
}

/** For questions about streams and consumers. It does not begin with one about a whole account. */
export function streamManager(connection: NatsConnection, timeoutMs?: number): Promise<JetStreamManager> {
  const api = selectStreamsApi(connection);
  return connection.jetstreamManager({
    ...api,
    checkAPI: false,
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  });
}

/** Where the broker answers a process of this name. */
export function inboxOf(name: string): string {
  return `_INBOX_${name}`;
}

/** The client takes host and port from a URL and passes over the rest. */
function toConnectionOptions({ url, nkey, caFile }: Broker): ConnectionOptions {
  const { protocol, host, username, password } = new URL(url);
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const login = password === "" ? { token: user } : { user, pass };
  return {
    servers: host,
    ...(username !== "" && login),
    ...(nkey && { authenticator: nkeyAuthenticator(() => nkey.seed) }),
    ...(protocol === "tls:" && { tls: caFile === undefined ? {} : { caFile } }),
  };
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

  /** Called when pings are not answered; the client's own would first flush to a peer that is gone. */
  override disconnect(): void {
    this.socket?.destroy(new Error("the broker does not answer"));
  }
}
