// Connections to NATS. The client's own transport forgets a socket that is abandoned during the greeting: the greeting
// completes later and the socket stays open unread, one per attempt at a hanging broker. This one closes it.
import type { Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { OwnNkey } from "#platform/secrets/nkey.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { CertificateRefused, certificateRefusal } from "#platform/values/failure.ts";
import {
  type ConnectionOptions,
  type JetStreamClient,
  type JetStreamManager,
  type NatsConnection,
  NatsConnectionImpl,
  NodeTransport,
  nkeyAuthenticator,
  nodeResolveHost,
  setTransportFactory,
} from "#platform/values/nats.ts";
import { errorCode } from "#platform/values/unchecked.ts";

/** The broker's address and our identity there. */
export interface Broker {
  /**
   * `nats://host:port`, or `tls://…`, which requires TLS; with `user:password@` or `token@` to log in without an NKEY.
   */
  readonly url: string;
  readonly nkey?: OwnNkey | undefined;
  /** PEM file of the broker's CA; absent for Node's own list. */
  readonly caFile?: string | undefined;
}

export function brokerOf(settings: {
  readonly NATS_URL: string;
  readonly NATS_NKEY_FILE: OwnNkey | undefined;
  readonly NATS_CA_FILE: string | undefined;
}): Broker {
  return { url: settings.NATS_URL, nkey: settings.NATS_NKEY_FILE, caFile: settings.NATS_CA_FILE };
}

/**
 * Use this instead of the client's `connect`: one factory makes the transports of the whole process.
 * @param options.name the identity; answers arrive in an inbox under it, which no other identity may read
 * (deploy/cli/setup/broker-rights.ts)
 */
export async function connectBroker(
  broker: Broker,
  options: Omit<ConnectionOptions, "servers"> & { readonly name: string },
): Promise<NatsConnection> {
  setTransportFactory({ factory: () => new EndingTransport(), dnsResolveFn: nodeResolveHost });
  const connectionOptions = { inboxPrefix: inboxOf(options.name), ...options, ...toConnectionOptions(broker) };
  const connection = await NatsConnectionImpl.connect(connectionOptions);
  // A broker without authentication has one account for all.
  if (broker.nkey && connection.info?.auth_required) identified.add(connection);
  return connection;
}

/**
 * API prefix of identities in place of `$JS.API`: each identity has its own account, which imports its allowed requests
 * (deploy/cli/setup/broker-rights.ts). Under `$JS.API` the broker would answer that the account has no streams.
 */
export const streamsApi = "streams";
const identified = new WeakSet<NatsConnection>();
const selectStreamsApi = (connection: NatsConnection) => (identified.has(connection) ? { apiPrefix: streamsApi } : {});

export function streamClient(connection: NatsConnection): JetStreamClient {
  return connection.jetstream(selectStreamsApi(connection));
}

/** Skips the client's initial request about the whole account. */
export function streamManager(connection: NatsConnection, timeoutMs?: number): Promise<JetStreamManager> {
  return connection.jetstreamManager({
    ...selectStreamsApi(connection),
    checkAPI: false,
    ...(timeoutMs !== undefined && { timeout: timeoutMs }),
  });
}

/** Inbox prefix of a process. */
export function inboxOf(name: string): string {
  return `_INBOX_${name}`;
}

/** The client reads only host and port of a URL. */
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
  #isCanceled = false;

  override async dial(host: { hostname: string; port: number }): Promise<Socket> {
    const socket = await super.dial(host);
    if (!this.#isCanceled) return socket;
    socket.destroy();
    throw new Error("canceled while connecting");
  }

  override async close(error?: Error): Promise<void> {
    if (!this.connected) {
      this.#isCanceled = true;
      this.socket?.destroy();
    }
    await super.close(error);
  }

  /** Called when pings stay unanswered; the client's own version would first flush to a lost peer. */
  override disconnect(): void {
    this.socket?.destroy(new Error("the broker does not answer"));
  }
}

// A process's broker connection: opened in the background, reopened after a loss, closed when pings stay unanswered.
// The client's own reconnect uses the machine's clock: after a step back of an hour it did not reconnect for an hour.
// So each connection is used once, and times are monotonic.

interface LinkOptions {
  readonly broker: Broker;
  /** The identity. */
  readonly name: string;
  readonly log: Log;
  /** Called for each new connection: earlier subscriptions are gone, and events may have been missed. */
  readonly onConnected: (connection: NatsConnection) => void;
}

const reconnectMs = 500;
// Limit for a broker that dies during the greeting; the client's own is 20 s.
const connectMs = 2_000;
// A connection closes after 0.8 s without an answer. Until then its events are trusted, so a revoked key may work for
// one second at most (docs/contract.md §7).
const pings = { pingInterval: 200, maxPingOut: 3 };
// After an outage relays publish their backlog. A lost publication is repeated within a second after its connection
// closes, or fails after 5 s and is repeated within another second.
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

  /** Undefined while disconnected. */
  get connection(): NatsConnection | undefined {
    return this.#connection?.isClosed() ? undefined : this.#connection;
  }

  /** True when no event from before the connection can still arrive. */
  get isSettled(): boolean {
    return this.connection !== undefined && performance.now() - this.#connectedAt >= settleMs;
  }

  /** Sends what was published, if the broker answers. */
  async close(): Promise<void> {
    this.#closing.abort();
    const connection = this.#connection;
    await waitAtMost(drainMs, connection?.drain());
    void connection?.close().catch(() => {});
    await waitAtMost(drainMs, this.#running);
  }

  async #keepConnected(): Promise<void> {
    const { log } = this.#options;
    let failures = 0;
    let refused = "";
    while (!this.#closing.signal.aborted) {
      try {
        const connection = await this.#connect();
        if (failures > 0) log.info({ failures }, "broker reconnected");
        failures = 0;
        refused = "";
        if (this.#closing.signal.aborted) await connection.close();
        else await this.#useUntilClosed(connection);
      } catch (error) {
        failures += 1;
        const refusal = certificateRefusal(error);
        if (refusal && refusal.code !== refused) {
          log.error(new CertificateRefused("NATS_URL", this.#options.broker.caFile, refusal, error).message);
        } else if (failures === 1) log.warn({ err: error }, "broker connection failed: retrying");
        refused = refusal?.code ?? refused;
      }
      await pause(reconnectMs, undefined, { signal: this.#closing.signal }).catch(() => {});
    }
  }

  #connect(): Promise<NatsConnection> {
    const { broker, name } = this.#options;
    // The client prepares an error for every publish otherwise, a quarter of the cost of publishing.
    return connectBroker(broker, { name, timeout: connectMs, reconnect: false, noAsyncTraces: true, ...pings });
  }

  async #useUntilClosed(connection: NatsConnection): Promise<void> {
    this.#connection = connection;
    this.#connectedAt = performance.now();
    this.#options.onConnected(connection);
    await connection.closed();
    this.#connection = undefined;
    if (!this.#closing.signal.aborted) this.#options.log.warn("broker connection lost: reconnecting");
  }
}

/** Resolves a request; undefined when the broker answers "not found". */
export async function unlessMissing<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (errorCode(error) === "404") return undefined;
    throw error;
  }
}

/** Waits for the work, at most this long; its failure is ignored. */
export async function waitAtMost(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  await Promise.race([Promise.allSettled([work]), pause(ms, undefined, { ref: false })]);
}
