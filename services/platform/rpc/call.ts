// Handles every incoming call: opens its context, checks its token, validates its message, and converts errors to a
// Failure of the catalogue.
import type { DescMessage, DescMethod, DescService, MessageShape } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Attributes, Tracer } from "@opentelemetry/api";
import type { Counter, Histogram, Registry } from "prom-client";
import {
  actorOf,
  allowedCallers,
  type CallerName,
  mayCallFor,
  type TrustedCallers,
} from "#platform/secrets/callers.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { newCounter, newHistogram } from "#platform/telemetry/metrics.ts";
import { openSpan } from "#platform/telemetry/trace.ts";
import { type CallContext, callContext, nextTraceparent } from "#platform/values/call-context.ts";
import { asFailure, Failure, toConnectError } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { findUnstorableFields } from "#platform/values/storable.ts";
import type { Team } from "#proto/access/v1/teams_pb.ts";
import { answerFor, assertMayAsk, type Teams } from "./teams.ts";

interface IncomingCall {
  readonly method: DescMethod;
  /** Returns a header by its lower-case name. */
  readonly header: (name: string) => string | null | undefined;
}

type Caller = { readonly names: readonly CallerName[]; readonly team?: Team; readonly isTeamCut?: () => boolean };

const healthPath = "/grpc.health.v1.Health/";
// Used in place of a method name, which an unauthenticated caller may have invented.
export const unauthenticated = "at the door";
// Our ids, or an id of another team's program. Other values are dropped: they would reach every log and event.
const requestIdForm = /^[\w.:-]{1,64}$/;
// For callers without a deadline.
const timeoutDefaultMs = 15_000;

export class CallGate {
  readonly #trusted: TrustedCallers;
  readonly #teams: Teams;
  readonly #log: Log;
  readonly #metrics: CallMetrics;
  readonly #tracer: Tracer | undefined;
  readonly #validator = createValidator();

  /** @param options.trusted the accepted callers; health checks need no token */
  constructor(options: {
    trusted: TrustedCallers;
    teams: Teams;
    log: Log;
    metrics: CallMetrics;
    tracer: Tracer | undefined;
  }) {
    this.#trusted = options.trusted;
    this.#teams = options.teams;
    this.#log = options.log;
    this.#metrics = options.metrics;
    this.#tracer = options.tracer;
  }

  /** Runs a call within its context. @throws ConnectError with the Failure as its detail */
  run<T>(call: IncomingCall, work: () => Promise<T>): Promise<T> {
    const service = call.method.parent.typeName;
    const rpc = `${service}/${call.method.name}`;
    const isOurs = !service.startsWith("grpc.");
    const began = performance.now();
    const span = isOurs
      ? openSpan({
          name: rpc,
          kind: "SERVER",
          parent: call.header("traceparent"),
          mayBegin: true,
          tracer: this.#tracer,
          attributes: callAttributes(call),
        })
      : undefined;
    const caller = isOurs ? this.#callerOf(call.header) : { names: [] };
    const context = { ...contextOf(call, caller, span?.traceparent), tracer: this.#tracer };
    return callContext.run(context, async () => {
      let reason = "OK";
      try {
        if (isOurs) this.#admit(call, caller);
        return await work();
      } catch (error) {
        reason = error instanceof ConnectError ? Code[error.code] : asFailure(error).reason;
        throw this.#answerable(error, rpc);
      } finally {
        this.#metrics.count(rpc, reason, performance.now() - began);
        span?.end(reason === "OK" ? undefined : reason);
      }
    });
  }

  /**
   * @throws Failure CALLER_UNKNOWN or CALLER_REFUSED, which are distinct from a merchant's wrong key; FORBIDDEN when
   * the merchant is not active; for a team also TOO_MANY_CALLS
   */
  #admit(call: IncomingCall, { names, team }: Caller): void {
    if (team) {
      this.#teams.admit(team, call.method);
      return;
    }
    if (names.length === 0) throw this.#stranger(call.header);
    const allowed = allowedCallers(call.method);
    if (!names.some((name) => allowed.has(name))) {
      const cause = new Error(`${names.join(", ")} may not call it; allowed: ${[...allowed].join(", ") || "none"}`);
      throw new Failure("CALLER_REFUSED", { cause });
    }
    assertStanding(call, names);
  }

  #callerOf(header: IncomingCall["header"]): Caller {
    const token = bearerToken(header);
    const team = this.#teams.of(token);
    if (team) return { names: [], team, isTeamCut: () => this.#teams.of(token) === undefined };
    return { names: token === "" ? [] : this.#trusted.of(token) };
  }

  #stranger(header: IncomingCall["header"]): Failure {
    return this.#teams.refusalOf(bearerToken(header), this.#trusted.problem);
  }

  /**
   * @throws Failure INVALID_BODY when the message breaks a bound of its proto or cannot be stored; CALLER_REFUSED when
   * it is beyond the calling team's merchants
   */
  assertValid<M extends DescMessage>(schema: M, message: MessageShape<M>): void {
    const team = callContext.getStore()?.team;
    if (team) assertMayAsk(team, message);
    const result = this.#validator.validate(schema, message);
    if (result.kind === "error") throw result.error;
    const broken = result.kind === "invalid" ? result.violations : [];
    const violations = broken.map((v) => ({
      field: v.field.flatMap((element) => (element.kind === "field" ? [element.name] : [])).join("."),
      problem: v.message,
    }));
    violations.push(...findUnstorableFields(schema, message));
    if (violations.length > 0) throw new Failure("INVALID_BODY", { cause: result.error, violations });
  }

  /** The answer that the caller may see. */
  answerFor<M extends DescMessage>(schema: M, message: MessageShape<M>): MessageShape<M> {
    const team = callContext.getStore()?.team;
    return team ? answerFor(team, schema, message) : message;
  }

  /**
   * Authenticates a call before reading it, also requests for descriptions. Health checks are open.
   * @returns the refusal; undefined when the call proceeds to the check of its method
   */
  rejectUnauthenticated(path: string, header: IncomingCall["header"]): ConnectError | undefined {
    if (path.startsWith(healthPath)) return undefined;
    const caller = this.#callerOf(header);
    if (caller.team || caller.names.length > 0) return undefined;
    const failure = this.#stranger(header);
    this.#metrics.count(unauthenticated, failure.reason, 0);
    return this.#answerable(failure, unauthenticated);
  }

  /** Verifies a caller that is not known yet. @returns undefined when it can be judged at once, else its refusal */
  learnCaller(header: IncomingCall["header"]): Promise<ConnectError | undefined> | undefined {
    return this.#teams.learn(bearerToken(header))?.then(
      () => undefined,
      (error: unknown) => this.#answerable(error, unauthenticated),
    );
  }

  #answerable(error: unknown, rpc: string): ConnectError {
    // The library's protocol errors (unknown method, too large) have their own code.
    if (error instanceof ConnectError && error.code !== Code.Internal && error.code !== Code.Unknown) return error;
    const failure = asFailure(error);
    const explained = failure.message === failure.reason ? {} : { explanation: failure.message };
    const fields = { rpc, reason: failure.reason, err: failure.cause, ...explained };
    if (failure.reason === "INTERNAL_ERROR") this.#log.error(fields, "call failed");
    else if (failure.fault) this.#log.warn(fields, "call failed");
    else this.#log.debug(fields, "call refused");
    return toConnectError(failure, failure.begun || callContext.getStore()?.begun === true);
  }
}

/**
 * A merchant's status does not restrict operators. A console always sends the status; the previous release's gateway
 * sends none and enforces it itself.
 */
function assertStanding({ method, header }: IncomingCall, names: readonly CallerName[]): void {
  if (names.includes("operator")) return;
  const status = header("merchant-status") ?? (names.includes("console") ? "" : "active");
  if (!mayCallFor(method, status)) throw new Failure("FORBIDDEN");
}

function bearerToken(header: IncomingCall["header"]): string {
  const [scheme = "", token = ""] = (header("authorization") ?? "").split(" ");
  return scheme.toLowerCase() === "bearer" ? token : "";
}

function callAttributes(call: IncomingCall): Attributes {
  return { "rpc.system.name": "connectrpc", "rpc.method": `${call.method.parent.typeName}/${call.method.name}` };
}

function contextOf(
  call: IncomingCall,
  { names, team, isTeamCut }: Caller,
  traceparent: string | undefined,
): CallContext {
  const requestId = call.header("request-id") ?? "";
  const timeoutMs = Number(call.header("connect-timeout-ms") ?? grpcTimeoutMs(call.header("grpc-timeout")));
  return {
    requestId: requestIdForm.test(requestId) ? requestId : newId("request"),
    ...actorOf(names, call.header("actor") ?? ""),
    ...(team && isTeamCut && { team, isTeamCut, actor: `team:${team.name}` }),
    byOperator: names.length > 0 && names.every((name) => name === "operator"),
    traceparent: traceparent ?? nextTraceparent(call.header("traceparent")),
    deadlineMs: performance.now() + (timeoutMs > 0 ? timeoutMs : timeoutDefaultMs),
  };
}

const grpcUnitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000001 };

function grpcTimeoutMs(header: string | null | undefined): number {
  const match = /^(\d{1,8})([HMSmun])$/.exec(header ?? "");
  return match ? Number(match[1]) * (grpcUnitMs[match[2] ?? "m"] ?? 1) : 0;
}

// Metrics of answered calls. Defects and unknown or refused callers are also counted separately, from 0 for every
// method, since Prometheus sees only a rise.

const reasons = ["INTERNAL_ERROR", "CALLER_UNKNOWN", "CALLER_REFUSED"] as const;
const alarming: ReadonlySet<string> = new Set(reasons);

export class CallMetrics {
  readonly #calls: Histogram<"rpc" | "reason">;
  readonly #alarms: Counter<"rpc" | "reason">;

  /** @param others labels to count in addition to the services' methods */
  constructor(registry: Registry, services: readonly DescService[], others: readonly string[]) {
    this.#calls = newHistogram(registry, {
      name: "tollbooth_rpc_seconds",
      help: "Internal calls answered, by method and reason.",
      labelNames: ["rpc", "reason"] as const,
      // A read takes a millisecond, a processor answers within seconds, and the longest deadline is 20 s.
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
    });
    this.#alarms = newCounter(registry, {
      name: "tollbooth_rpc_alarms_total",
      help: "Internal calls that failed by a defect (INTERNAL_ERROR) or whose caller is not known or not allowed, by method and reason.",
      labelNames: ["rpc", "reason"] as const,
    });
    const methods = services.flatMap((service) => service.methods.map(({ name }) => `${service.typeName}/${name}`));
    for (const rpc of [...methods, ...others]) for (const reason of reasons) this.#alarms.inc({ rpc, reason }, 0);
  }

  /** @param reason OK or a reason of the catalogue */
  count(rpc: string, reason: string, tookMs: number): void {
    this.#calls.observe({ rpc, reason }, tookMs / 1_000);
    if (alarming.has(reason)) this.#alarms.inc({ rpc, reason });
  }
}
