// A process's connection to the broker: made in the background, made again for ever when it is lost, and asked all the
// time whether it is still answered (hearing.ts). The client's own reconnecting goes by the machine's clock: after that
// was set back by an hour, nobody connected for an hour. So each connection is used once, and times here are monotonic.
import { setTimeout as pause } from "node:timers/promises";
import type { NatsConnection } from "nats";
import type { Log } from "#platform/telemetry/log.ts";
import { CertificateRefused, certificateRefusal } from "#platform/values/certificate-refusal.ts";
import { type Broker, connectBroker } from "./connection.ts";
import { Hearing } from "./hearing.ts";

export interface LinkOptions {
  readonly broker: Broker;
  /** Of the identity. */
  readonly name: string;
  readonly log: Log;
  /** Told of each new connection: what was subscribed on the one before is gone, and events may have been missed. */
  readonly onConnected: (connection: NatsConnection) => void;
  /** Told when the broker answers again after a silence on the same connection. */
  readonly onReturn?: () => void;
}

const reconnectMs = 500;
// A broker that dies while it is being greeted must not be waited for: the library's own limit is 20 s.
const connectMs = 2_000;
const lookMs = 500;
// A broker that is stopped for a moment keeps its connections; one that is silent for longer is connected to anew.
const deadMs = 5_000;
// A healthy broker answers at once.
const drainMs = 2_000;

export class BrokerLink {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  #connection: NatsConnection | undefined;
  #hearing: Hearing | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#running = this.#keepConnected();
  }

  /** Undefined while there is none. */
  get connection(): NatsConnection | undefined {
    return this.#connection?.isClosed() ? undefined : this.#connection;
  }

  /** The broker answered within the last second. */
  get isAnswering(): boolean {
    return this.connection !== undefined && (this.#hearing?.isHeard ?? false);
  }

  /** It has answered for so long that nothing from a time without it is still to come. */
  get isSure(): boolean {
    return this.connection !== undefined && (this.#hearing?.isSure ?? false);
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
        else await this.#whileAnswered(connection);
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
    return connectBroker(broker, { name, timeout: connectMs, reconnect: false, noAsyncTraces: true });
  }

  /** Uses the connection until it is lost, or its broker has been silent for too long. */
  async #whileAnswered(connection: NatsConnection): Promise<void> {
    const { log, onConnected, onReturn = () => {} } = this.#options;
    const closed = connection.closed().then(() => {});
    this.#connection = connection;
    onConnected(connection);
    const hearing = new Hearing(connection, onReturn);
    this.#hearing = hearing;
    while (!connection.isClosed() && hearing.silentForMs < deadMs) {
      await Promise.race([closed, this.#pause(lookMs)]);
      if (this.#closing.signal.aborted) await closed;
    }
    hearing.stop();
    this.#connection = undefined;
    if (this.#closing.signal.aborted) return;
    log.warn("the broker is away; reconnecting");
    // It may never hear that we leave.
    void connection.close().catch(() => {});
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
