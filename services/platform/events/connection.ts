// Connections to NATS that do what the URL says and end for good. The client's own transport forgets a socket that is
// given up while it is being greeted: it greets later, and stays open without anybody reading from it, one for every
// attempt at a broker that hangs.
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
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
import type { Log } from "#platform/telemetry/log.ts";
import { CertificateRefused, certificateRefusal } from "#platform/values/failure.ts";

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

// A process's connection to the broker: made in the background, made again whenever it is lost, and closed by the
// client when the broker does not answer its pings. The client's own reconnecting depends on the machine's clock: after
// that was set back by an hour, it did not connect for an hour. So each connection is used once, and times here are
// monotonic.

export interface LinkOptions {
  readonly broker: Broker;
  /** Of the identity. */
  readonly name: string;
  readonly log: Log;
  /** Told of each new connection: what was subscribed on the one before is gone, and events may have been missed. */
  readonly onConnected: (connection: NatsConnection) => void;
}

const reconnectMs = 500;
// A broker that dies while it is being greeted must not be waited for: the library's own limit is 20 s.
const connectMs = 2_000;
// A connection is closed at the fourth interval without an answer, 0.8 s after the broker has vanished or hangs: until
// then its events are trusted, and a revoked key may work for a second at most (docs/contract.md §7).
const pings = { pingInterval: 200, maxPingOut: 3 };
// After an outage relays publish what waited: a publication that the outage swallowed is sent again within a second
// after its connection is closed, or fails after 5 s and is sent again within one more.
const settleMs = 8_000;
// A healthy broker answers at once.
const drainMs = 2_000;

export class BrokerLink {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #connection: NatsConnection | undefined;
  /** Monotonic milliseconds. */
  #connectedAt = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#running = this.#keepConnected();
  }

  /** Undefined while there is none. */
  get connection(): NatsConnection | undefined {
    return this.#connection?.isClosed() ? undefined : this.#connection;
  }

  /** True when the connection is old enough that no event from before it is still to come. */
  get isSettled(): boolean {
    return this.connection !== undefined && performance.now() - this.#connectedAt >= settleMs;
  }

  /** Lets what was handed over be sent, as far as the broker answers. */
  async close(): Promise<void> {
    this.#closing.abort();
    const connection = this.#connection;
    await endsWithin(connection?.drain(), drainMs);
    void connection?.close().catch(() => {});
    await endsWithin(this.#running, drainMs);
  }

  async #keepConnected(): Promise<void> {
    const { log } = this.#options;
    let failures = 0;
    let refused = "";
    while (!this.#closing.signal.aborted) {
      try {
        const connection = await this.#connect();
        if (failures > 0) log.info({ failures }, "the broker is back");
        failures = 0;
        refused = "";
        if (this.#closing.signal.aborted) await connection.close();
        else await this.#useUntilClosed(connection);
      } catch (error) {
        failures += 1;
        const refusal = certificateRefusal(error);
        if (refusal && refusal.code !== refused) {
          log.error(new CertificateRefused("NATS_URL", this.#options.broker.caFile, refusal, error).message);
        } else if (failures === 1) log.warn({ err: error }, "the broker does not answer; trying again");
        refused = refusal?.code ?? refused;
      }
      await this.#pause(reconnectMs);
    }
  }

  #connect(): Promise<NatsConnection> {
    const { broker, name } = this.#options;
    // An error made ahead for every publish, in case it fails, is a quarter of what publishing costs.
    return connectBroker(broker, { name, timeout: connectMs, reconnect: false, noAsyncTraces: true, ...pings });
  }

  async #useUntilClosed(connection: NatsConnection): Promise<void> {
    this.#connection = connection;
    this.#connectedAt = performance.now();
    this.#options.onConnected(connection);
    await connection.closed();
    this.#connection = undefined;
    if (!this.#closing.signal.aborted) this.#options.log.warn("the broker is away; reconnecting");
  }

  /** Ends early when the link is closed. */
  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#closing.signal }).catch(() => {});
  }
}

/** True when the work is done in time; false when it fails, or is late. */
async function endsWithin(work: Promise<void> | undefined, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const done = (work ?? Promise.resolve()).then(
    () => true,
    () => false,
  );
  return await Promise.race([done, late]).finally(() => clearTimeout(timer));
}

/** What was asked for, or undefined when the broker says that there is none. */
export async function unlessMissing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "404") return undefined;
    throw error;
  }
}
