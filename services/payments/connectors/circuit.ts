// A time limit and a circuit breaker for each connector account, around the port. While a circuit is open nothing is
// sent: a call that changes something surely did not happen, a question stays unanswered. After a pause one call
// probes; it closes the circuit or opens it for twice as long.
import {
  type CircuitBreakerPolicy,
  CircuitState,
  CountBreaker,
  circuitBreaker,
  handleWhenResult,
  type IBackoff,
  isBrokenCircuitError,
  isTaskCancelledError,
  TaskCancelledError,
  TimeoutStrategy,
  timeout,
} from "cockatiel";
import { type Counter, type Gauge, type Registry, register } from "prom-client";
import type { Log } from "#platform/telemetry/log.ts";
import { counter, gauge } from "#platform/telemetry/metrics.ts";
import { processorShareMs } from "#platform/values/call-context.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { Connector, ProcessorAccount, ProcessorAnswer, StatementPeriod } from "./connector.ts";

export interface CircuitSettings {
  /** A circuit opens when more than half of this many latest calls failed; half of them must have been made. */
  readonly windowCalls: number;
  /** Longest pause before a probe; the first one is a second. */
  readonly openMaxMs: number;
  /** For one call of the port as a whole, however many requests it needs. */
  readonly timeoutMs: number;
}

// Circuits are kept per account that was used; past this many the closed ones are forgotten.
const circuitsMax = 10_000;
const firstPauseMs = 1_000;
// Without abortOnReturn each call that ends well would end with an exception that nobody sees.
const limitOptions = { strategy: TimeoutStrategy.Aggressive, abortOnReturn: false };

// Never given: a connector is asked for a list only when it has one.
const noList: ProcessorAnswer<never> = { kind: "unknown", cause: new Error("the processor has no such list") };

/** A circuit as operators see it. */
export interface CircuitSight {
  readonly connectorAccountId: string;
  readonly connector: string;
  readonly state: "closed" | "open" | "probing";
  /** When it changed to that; undefined: it has been closed ever since. */
  readonly since: Date | undefined;
  /** Until a call may probe; 0 unless it is open. */
  readonly probeInMs: number;
}

interface Circuit {
  readonly policy: CircuitBreakerPolicy;
  readonly connector: string;
  changedAt: Date | undefined;
  /** When an open circuit lets a probe through; by performance.now(). */
  probeAt: number;
}

/** `failed`: it says something about the account, as no answer does, and a change that could not be sent. */
type JudgedAnswer<T> = { readonly answer: ProcessorAnswer<T>; readonly failed: boolean };

export class Circuits {
  readonly #settings: CircuitSettings;
  readonly #log: Log;
  readonly #byAccount = new Map<string, Circuit>();
  readonly #calls: Counter<"connector" | "call" | "answer">;
  readonly #open: Gauge<"connector">;

  constructor(settings: CircuitSettings, log: Log, registry: Registry = register) {
    this.#settings = settings;
    this.#log = log;
    this.#calls = counter(registry, {
      name: "tollbooth_connector_calls_total",
      help: "Calls of the connector port, by what came of them; refused: the circuit was open, nothing was sent.",
      labelNames: ["connector", "call", "answer"] as const,
    });
    this.#open = gauge(registry, {
      name: "tollbooth_connector_circuits_open",
      help: "Connector accounts whose circuit is not closed, in this process.",
      labelNames: ["connector"] as const,
    });
  }

  /** True while calls of the account would be refused. */
  isOpen(accountId: string): boolean {
    const circuit = this.#byAccount.get(accountId);
    if (!circuit || circuit.policy.state === CircuitState.Closed) return false;
    return circuit.policy.state === CircuitState.HalfOpen || performance.now() < circuit.probeAt;
  }

  /** All of this process; those that are not closed first. */
  sights(): readonly CircuitSight[] {
    const all = [...this.#byAccount].map(([connectorAccountId, circuit]) => sightOf(connectorAccountId, circuit));
    return all.sort((a, b) => Number(a.state === "closed") - Number(b.state === "closed"));
  }

  /** The connector with each account's circuit around its calls. */
  guard(connector: Connector): Connector {
    this.#open.inc({ connector: connector.name }, 0);
    const change = <T>(account: ProcessorAccount, call: string, work: () => Promise<ProcessorAnswer<T>>) =>
      this.#run(account, call, work, (answer) => answer.kind === "unknown" || answer.kind === "not_sent", "not_sent");
    const ask = <T>(account: ProcessorAccount, call: string, work: () => Promise<ProcessorAnswer<T>>) =>
      this.#run(account, call, work, (answer) => answer.kind === "unknown", "unknown");
    return {
      name: connector.name,
      surfaces: connector.surfaces,
      environments: connector.environments,
      keyLifeSeconds: connector.keyLifeSeconds,
      failureNames: connector.failureNames,
      capturesLater: connector.capturesLater,
      processorTime: () => connector.processorTime(),
      refusesAmount: (amount, currency) => connector.refusesAmount(amount, currency),
      judgeCredentials: (environment, credentials) => connector.judgeCredentials(environment, credentials),
      // No account of ours yet, so no circuit.
      readAccount: (environment, credentials) => this.#within(() => connector.readAccount(environment, credentials)),
      createIntent: (a, order, key) => change(a, "create_intent", () => connector.createIntent(a, order, key)),
      payIntent: (a, order, key) => change(a, "pay_intent", () => connector.payIntent(a, order, key)),
      findIntent: (a, search) => ask(a, "find_intent", () => connector.findIntent(a, search)),
      retrieveIntent: (a, ref, eventId) => ask(a, "retrieve_intent", () => connector.retrieveIntent(a, ref, eventId)),
      captureIntent: (a, order, key) => change(a, "capture_intent", () => connector.captureIntent(a, order, key)),
      cancelIntent: (a, ref, authorized) =>
        change(a, "cancel_intent", () => connector.cancelIntent(a, ref, authorized)),
      createRefund: (a, order, key) => change(a, "create_refund", () => connector.createRefund(a, order, key)),
      findRefund: (a, order) => ask(a, "find_refund", () => connector.findRefund(a, order)),
      retrieveDispute: (a, ref) => ask(a, "retrieve_dispute", () => connector.retrieveDispute(a, ref)),
      uploadFile: (a, file, key) => change(a, "upload_file", () => connector.uploadFile(a, file, key)),
      submitEvidence: (a, order, key) => change(a, "submit_evidence", () => connector.submitEvidence(a, order, key)),
      acceptDispute: (a, ref) => change(a, "accept_dispute", () => connector.acceptDispute(a, ref)),
      ...(connector.readStatement && {
        readStatement: (a: ProcessorAccount, period: StatementPeriod, after: string) =>
          ask(a, "read_statement", async () => (await connector.readStatement?.(a, period, after)) ?? noList),
      }),
      ...(connector.readEvents && {
        readEvents: (a: ProcessorAccount, since: Date | undefined, after: string) =>
          ask(a, "read_events", async () => (await connector.readEvents?.(a, since, after)) ?? noList),
      }),
      readEvent: (a, body, headers) => connector.readEvent(a, body, headers),
      close: () => connector.close(),
    };
  }

  async #run<T>(
    account: ProcessorAccount,
    call: string,
    work: () => Promise<ProcessorAnswer<T>>,
    isFailure: (answer: ProcessorAnswer<T>) => boolean,
    refusal: "not_sent" | "unknown",
  ): Promise<ProcessorAnswer<T>> {
    const count = (answer: string) => this.#calls.inc({ connector: account.connector, call, answer });
    const refuse = (): ProcessorAnswer<T> => {
      count("refused");
      return { kind: refusal, cause: new Error(`the circuit of ${account.id} is open`) };
    };
    const { policy, probeAt } = this.#of(account);
    // The library would let callers wait for the probe; they have something better to do, such as another account.
    if (policy.state === CircuitState.HalfOpen) return refuse();
    if (policy.state === CircuitState.Open && performance.now() < probeAt) return refuse();
    try {
      const judged = await policy.execute(async (): Promise<JudgedAnswer<T>> => {
        const answer = await this.#within(work);
        return { answer, failed: isFailure(answer) };
      });
      count(judged.answer.kind);
      return judged.answer;
    } catch (error) {
      if (isBrokenCircuitError(error)) return refuse();
      throw error;
    }
  }

  async #within<T>(work: () => Promise<ProcessorAnswer<T>>): Promise<ProcessorAnswer<T>> {
    try {
      const shareMs = processorShareMs(this.#settings.timeoutMs);
      if (shareMs === 0) throw new TaskCancelledError("no time is left");
      return await timeout(shareMs, limitOptions).execute(work);
    } catch (cause) {
      if (isTaskCancelledError(cause)) return { kind: "unknown", cause };
      throw cause;
    }
  }

  #of(account: ProcessorAccount): Circuit {
    const known = this.#byAccount.get(account.id);
    if (known) return known;
    if (this.#byAccount.size >= circuitsMax) this.#forgetClosed();
    const { windowCalls: size } = this.#settings;
    const circuit: Circuit = {
      connector: account.connector,
      changedAt: undefined,
      probeAt: 0,
      policy: circuitBreaker(
        handleWhenResult((result) => (result as JudgedAnswer<unknown>).failed),
        {
          breaker: new CountBreaker({ threshold: 0.5, size, minimumNumberOfCalls: Math.ceil(size / 2) }),
          halfOpenAfter: this.#pauseOf(firstPauseMs, (probeAt) => {
            circuit.probeAt = probeAt;
          }),
        },
      ),
    };
    this.#byAccount.set(account.id, circuit);
    this.#logTransitions(account, circuit);
    return circuit;
  }

  /**
   * A pause that doubles each time a probe fails. @param onScheduled is called with its end, since the library's clock
   * can step.
   */
  #pauseOf(ms: number, onScheduled: (probeAt: number) => void): { next(): IBackoff<unknown> } {
    const pauseMs = Math.min(ms, this.#settings.openMaxMs);
    return {
      next: () => {
        onScheduled(performance.now() + pauseMs);
        return { duration: Number.NEGATIVE_INFINITY, ...this.#pauseOf(pauseMs * 2, onScheduled) };
      },
    };
  }

  #logTransitions(account: ProcessorAccount, circuit: Circuit): void {
    const { policy } = circuit;
    const { id, connector } = account;
    const fields = { connector, connector_account_id: id };
    let wasClosed = true;
    policy.onStateChange((state) => {
      circuit.changedAt = clockNow();
      const isClosed = state === CircuitState.Closed;
      if (isClosed !== wasClosed) {
        this.#open.inc({ connector }, isClosed ? -1 : 1);
        this.#log.warn(fields, isClosed ? "circuit closed" : "circuit opened: most calls to the processor fail");
      }
      wasClosed = isClosed;
    });
  }

  #forgetClosed(): void {
    for (const [id, { policy }] of this.#byAccount) {
      if (policy.state === CircuitState.Closed) this.#byAccount.delete(id);
    }
  }
}

function sightOf(connectorAccountId: string, { connector, policy, changedAt, probeAt }: Circuit): CircuitSight {
  const isClosed = policy.state === CircuitState.Closed;
  const isOpen = policy.state === CircuitState.Open || policy.state === CircuitState.Isolated;
  const state = isClosed ? "closed" : isOpen ? "open" : "probing";
  const probeInMs = isOpen ? Math.max(0, Math.ceil(probeAt - performance.now())) : 0;
  return { connectorAccountId, connector, state, since: changedAt, probeInMs };
}
