// Spans of a call across processes: RPC calls, SQL, broker and outbound requests. The current span travels as the call
// context's traceparent. Without a tracer (trace-export.ts) these functions do almost nothing.
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { callContext, nextTraceparent } from "#platform/values/call-context.ts";

/** Attributes contain names, ids and codes; never a body, an address, a secret or text typed by a person. */
export interface SpanOptions {
  readonly name: string;
  readonly kind: keyof typeof SpanKind;
  readonly attributes?: Attributes;
  /** A traceparent; absent for the current span. */
  readonly parent?: string | null | undefined;
  /** Starts a trace when there is no parent. */
  readonly mayBegin?: boolean;
  /** Set for a parent from outside: its trace continues, and this share of such traces is recorded. */
  readonly share?: number | undefined;
  /** Absent for the current call's tracer. */
  readonly tracer?: Tracer | undefined;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Share of outside traces that is recorded, 0 to 1. */
  readonly share: number;
}

export interface OpenSpan {
  /** Traceparent for calls made within the span. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** @param failure a code, if the span failed */
  end(failure?: string): void;
}

export function isTracing(): boolean {
  return callContext.getStore()?.tracer !== undefined;
}

/** Opens a span that the caller ends. @returns undefined when nothing records, or without a parent */
export function openSpan(spanOptions: SpanOptions): OpenSpan | undefined {
  const call = callContext.getStore();
  const tracer = spanOptions.tracer ?? call?.tracer;
  if (!tracer) return undefined;
  // By chance: an outside caller also chooses the trace id.
  const flags = spanOptions.share === undefined ? undefined : Number(Math.random() < spanOptions.share);
  const parent = contextOf(spanOptions.parent ?? call?.traceparent, flags);
  if (!parent && !spanOptions.mayBegin) return undefined;
  const options = { kind: SpanKind[spanOptions.kind], attributes: spanOptions.attributes ?? {} };
  const span = tracer.startSpan(spanOptions.name, options, parent ?? ROOT_CONTEXT);
  return {
    traceparent: traceparentOf(span.spanContext()),
    set: (attributes) => void span.setAttributes(attributes),
    end: (failure) => {
      if (failure !== undefined) span.setAttribute("error.type", failure).setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Runs the work in a span of the current call. @param failureOf code of a thrown error */
export async function inSpan<T>(
  spanOptions: SpanOptions,
  work: (span?: OpenSpan) => Promise<T>,
  failureOf: (error: unknown) => string = nameOf,
): Promise<T> {
  const span = openSpan(spanOptions);
  if (!span) return work();
  const context = callContext.getStore() ?? { requestId: "", actor: "", deadlineMs: undefined };
  try {
    const result = await callContext.run({ ...context, traceparent: span.traceparent }, () => work(span));
    span.end();
    return result;
  } catch (error) {
    span.end(failureOf(error));
    throw error;
  }
}

/** The traceparent for a call out of the current span. */
export function outgoingTraceparent(): string {
  const current = callContext.getStore()?.traceparent;
  return isTracing() && current ? current : nextTraceparent(current);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}

const format = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function contextOf(traceparent: string | null | undefined, ownFlags?: number): Context | undefined {
  const [, traceId, spanId, flags] = format.exec(traceparent ?? "") ?? [];
  if (!traceId || !spanId || !flags || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const remote: SpanContext = { traceId, spanId, traceFlags: ownFlags ?? Number.parseInt(flags, 16), isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, remote);
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}
