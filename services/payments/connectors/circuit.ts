// A time limit and a circuit breaker for each connector account. While a circuit is open nothing is sent: a command
// certainly did not happen, a query stays unanswered. After a pause one call probes; it closes the circuit, or opens it
// for twice as long.
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
import { newCounter, newGauge } from "#platform/telemetry/metrics.ts";
import { clockNow } from "#platform/values/clock.ts";
import type { Connector, ProcessorAccount, ProcessorAnswer } from "./connector.ts";
import { processorShareMs } from "./processor-time.ts";

interface CircuitSettings {
  /** A circuit opens if more than half of this many latest calls failed; it needs at least half of them. */
  readonly windowCalls: number;
  /** Longest pause before a probe; the first is a second. */
  readonly openMaxMs: number;
  /** For one call of the port, with all its requests. */
  readonly timeoutMs: number;
}

// Past this many circuits the closed ones are dropped.
const circuitsMax = 10_000;
const firstPauseMs = 1_000;
// Without abortOnReturn each call that ends well would end with an unhandled exception.
const limitOptions = { strategy: TimeoutStrategy.Aggressive, abortOnReturn: false };

/** A circuit as operators see it. */
export interface CircuitSnapshot {
  readonly connectorAccountId: string;
  readonly connector: string;
  readonly state: "closed" | "open" | "probing";
  /** Time of its last change; undefined: it was never open. */
  readonly since: Date | undefined;
  /** Until a call may probe; 0 unless it is open. */
  readonly probeInMs: number;
}

interface Circuit {
  readonly policy: CircuitBreakerPolicy;
  readonly connector: string;
  changedAt: Date | undefined;
  /** When an open circuit allows a probe; by performance.now(). */
  probeAt: number;
}

/** `failed`: counts against the account, as a missing answer does, or a command that could not be sent. */
type JudgedAnswer<T> = { readonly answer: ProcessorAnswer<T>; readonly failed: boolean };

/** A call of the port about an account. */
type AccountCall<A extends unknown[], T> = (account: ProcessorAccount, ...args: A) => Promise<ProcessorAnswer<T>>;

export class Circuits {
  readonly #settings: CircuitSettings;
  readonly #log: Log;
  readonly #byAccount = new Map<string, Circuit>();
  readonly #calls: Counter<"connector" | "call" | "answer">;
  readonly #open: Gauge<"connector">;

  constructor(settings: CircuitSettings, log: Log, registry: Registry = register) {
    this.#settings = settings;
    this.#log = log;
    this.#calls = newCounter(registry, {
      name: "tollbooth_connector_calls_total",
      help: "Calls of the connector port by answer; refused: the circuit was open, nothing was sent.",
      labelNames: ["connector", "call", "answer"] as const,
    });
    this.#open = newGauge(registry, {
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

  /** The circuits of this process, those that are not closed first. */
  snapshot(): readonly CircuitSnapshot[] {
    const all = [...this.#byAccount].map(([connectorAccountId, circuit]) => snapshotOf(connectorAccountId, circuit));
    return all.sort((a, b) => Number(a.state === "closed") - Number(b.state === "closed"));
  }

  /** The connector with each account's circuit around its calls. */
  guard(connector: Connector): Connector {
    this.#open.inc({ connector: connector.name }, 0);
    const command =
      <A extends unknown[], T>(name: string, call: AccountCall<A, T>): AccountCall<A, T> =>
      (account, ...args) =>
        this.#run(account, name, () => call(account, ...args), "not_sent");
    const query =
      <A extends unknown[], T>(name: string, call: AccountCall<A, T>): AccountCall<A, T> =>
      (account, ...args) =>
        this.#run(account, name, () => call(account, ...args), "unknown");
    const { readStatement, readEvents, finishRedirect, balance } = connector;
    return {
      ...connector,
      // The account is not ours yet, so it has no circuit.
      readAccount: (environment, credentials) => this.#within(() => connector.readAccount(environment, credentials)),
      createIntent: command("create_intent", connector.createIntent),
      payIntent: command("pay_intent", connector.payIntent),
      findIntent: query("find_intent", connector.findIntent),
      retrieveIntent: query("retrieve_intent", connector.retrieveIntent),
      captureIntent: command("capture_intent", connector.captureIntent),
      cancelIntent: command("cancel_intent", connector.cancelIntent),
      createRefund: command("create_refund", connector.createRefund),
      findRefund: query("find_refund", connector.findRefund),
      retrieveDispute: query("retrieve_dispute", connector.retrieveDispute),
      uploadFile: command("upload_file", connector.uploadFile),
      submitEvidence: command("submit_evidence", connector.submitEvidence),
      acceptDispute: command("accept_dispute", connector.acceptDispute),
      ...(finishRedirect && { finishRedirect: query("finish_redirect", finishRedirect) }),
      ...(readStatement && { readStatement: query("read_statement", readStatement) }),
      ...(readEvents && { readEvents: query("read_events", readEvents) }),
      ...(balance && {
        balance: {
          readMovements: query("read_movements", balance.readMovements),
          readPayouts: query("read_payouts", balance.readPayouts),
          readPayoutLines: query("read_payout_lines", balance.readPayoutLines),
          readBalance: query("read_balance", balance.readBalance),
        },
      }),
    };
  }

  async #run<T>(
    account: ProcessorAccount,
    call: string,
    work: () => Promise<ProcessorAnswer<T>>,
    refusal: "not_sent" | "unknown",
  ): Promise<ProcessorAnswer<T>> {
    const count = (answer: string) => this.#calls.inc({ connector: account.connector, call, answer });
    const refuse = (): ProcessorAnswer<T> => {
      count("refused");
      return { kind: refusal, cause: new Error(`the circuit of ${account.id} is open`) };
    };
    const { policy, probeAt } = this.#of(account);
    // The library would let callers wait for the probe, but they can use another account.
    if (policy.state === CircuitState.HalfOpen) return refuse();
    if (policy.state === CircuitState.Open && performance.now() < probeAt) return refuse();
    try {
      const judged = await policy.execute(async (): Promise<JudgedAnswer<T>> => {
        const answer = await this.#within(work);
        return { answer, failed: answer.kind === "unknown" || answer.kind === refusal };
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
    if (this.#byAccount.size >= circuitsMax) this.#dropClosed();
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

  /** A pause that doubles after each failed probe. @param onScheduled gets its end: the library's clock can step. */
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

  #dropClosed(): void {
    for (const [id, { policy }] of this.#byAccount) {
      if (policy.state === CircuitState.Closed) this.#byAccount.delete(id);
    }
  }
}

function snapshotOf(connectorAccountId: string, { connector, policy, changedAt, probeAt }: Circuit): CircuitSnapshot {
  const isClosed = policy.state === CircuitState.Closed;
  const isOpen = policy.state === CircuitState.Open || policy.state === CircuitState.Isolated;
  const state = isClosed ? "closed" : isOpen ? "open" : "probing";
  const probeInMs = isOpen ? Math.max(0, Math.ceil(probeAt - performance.now())) : 0;
  return { connectorAccountId, connector, state, since: changedAt, probeInMs };
}
