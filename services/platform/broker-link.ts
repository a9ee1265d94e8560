// A process's connection to the broker: made in the background, made again for ever when it is lost, and asked twice a second whether it is
// still answered. The client's own reconnecting goes by the machine's clock: after that was set back by an hour, nobody connected for
// an hour. So each connection is used once, and times here are monotonic.
import type { NatsConnection } from "nats";
import { type Broker, connectBroker } from "./broker-connection.ts";
import type { Log } from "./log.ts";

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
const beatMs = 300;
// Without an answer for so long, events may be on their way that were not heard.
const silentMs = 1_000;
// A broker that is stopped for a moment keeps its connections; one that is silent for longer is connected to anew.
const deadMs = 5_000;
// A healthy broker answers at once.
const drainMs = 2_000;

export class BrokerLink {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #connection: NatsConnection | undefined;
  /** When the last question was asked that was answered, monotonic milliseconds. */
  #heardAt = Number.NEGATIVE_INFINITY;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#running = this.#keepConnected();
  }

  /** Undefined while there is none. */
  get connection(): NatsConnection | undefined {
    return this.#connection?.isClosed() ? undefined : this.#connection;
  }

  /** True while the broker is known to answer: what it was told before the last second has been heard. */
  get isAnswering(): boolean {
    return this.connection !== undefined && performance.now() - this.#heardAt < silentMs;
  }

  /** Lets what was handed over be sent, as far as the broker answers. */
  async close(): Promise<void> {
    this.#closing.abort();
    const connection = this.#connection;
    await within(connection?.drain(), drainMs);
    void connection?.close();
    await within(this.#running, drainMs);
  }

  async #keepConnected(): Promise<void> {
    const { log } = this.#options;
    let failures = 0;
    while (!this.#closing.signal.aborted) {
      try {
        const connection = await this.#connect();
        if (failures > 0) log.info({ failures }, "the broker is back");
        failures = 0;
        if (this.#closing.signal.aborted) await connection.close();
        else await this.#whileAnswered(connection);
      } catch (error) {
        failures += 1;
        if (failures === 1) log.warn({ err: error }, "the broker does not answer; trying again");
      }
      await pause(reconnectMs, this.#closing.signal);
    }
  }

  #connect(): Promise<NatsConnection> {
    const { broker, name } = this.#options;
    // An error made ahead for every publish, in case it fails, is a quarter of what publishing costs.
    return connectBroker(broker, { name, timeout: connectMs, reconnect: false, noAsyncTraces: true });
  }

  /** Uses the connection until it is lost, or its broker has been silent for too long. */
  async #whileAnswered(connection: NatsConnection): Promise<void> {
    const { log, onConnected } = this.#options;
    const closed = connection.closed().then(() => {});
    this.#connection = connection;
    onConnected(connection);
    try {
      while (!connection.isClosed() && (await this.#isAnswered(connection))) {
        await Promise.race([closed, pause(beatMs, this.#closing.signal)]);
        if (this.#closing.signal.aborted) return await closed;
      }
    } finally {
      this.#connection = undefined;
    }
    if (this.#closing.signal.aborted) return;
    log.warn("the broker is away; reconnecting");
    // It may never hear that we leave.
    void connection.close();
  }

  async #isAnswered(connection: NatsConnection): Promise<boolean> {
    const askedAt = performance.now();
    const isAnswered = await within(connection.flush(), deadMs);
    if (isAnswered) this.#heardAt = askedAt;
    return isAnswered;
  }
}

/** True when the work is done in time; false when it fails, or is late. */
async function within(work: Promise<void> | undefined, ms: number): Promise<boolean> {
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

/** Ends early when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done, { once: true });
  });
}
