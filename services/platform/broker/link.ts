// A process's connection to the broker: made in the background, made again whenever it is lost, and closed by the
// client when the broker does not answer its pings. The client's own reconnecting depends on the machine's clock: after
// that was set back by an hour, it did not connect for an hour. So each connection is used once, and times here are
// monotonic.
import { setTimeout as pause } from "node:timers/promises";
import type { NatsConnection } from "nats";
import type { Log } from "#platform/telemetry/log.ts";
import { CertificateRefused, certificateRefusal } from "#platform/values/certificate-refusal.ts";
import { type Broker, connectBroker } from "./connection.ts";

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
