// Spans of a call as it goes through processes: who called whom, what was said to the database, the broker and the
// outside. The current span travels as the traceparent of the call context. Until a tracer is given (trace-export.ts)
// every function here does next to nothing.
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

/**
 * What a span is. Attributes hold names, ids and codes; never a body, an address, a secret or anything typed by a
 * person.
 */
export interface SpanOptions {
  readonly name: string;
  readonly kind: keyof typeof SpanKind;
  readonly attributes?: Attributes;
  /** A traceparent; absent: the current span. */
  readonly parent?: string | null | undefined;
  /** True: begins a trace when there is no parent. */
  readonly mayBegin?: boolean;
  /** Given: the parent is a stranger's. Its trace goes on, and this share of such traces is recorded. */
  readonly share?: number | undefined;
  /** Records it; absent: that of the current call. */
  readonly tracer?: Tracer | undefined;
}

/** How a service records spans. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Of the traces from outside, how many are recorded; 0 to 1. */
  readonly share: number;
}

export interface OpenSpan {
  /** For those who are called within it. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** @param failure a code; given: the span failed */
  end(failure?: string): void;
}

/** True when spans of the current call are recorded. */
export function isTracing(): boolean {
  return callContext.getStore()?.tracer !== undefined;
}

/** Opens a span that the caller ends. @returns undefined when nothing records or there is nothing to be a part of */
export function openSpan(spanOptions: SpanOptions): OpenSpan | undefined {
  const call = callContext.getStore();
  const tracer = spanOptions.tracer ?? call?.tracer;
  if (!tracer) return undefined;
  // By chance, since a stranger chooses the trace's id too.
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

/** Runs the work as a part of the current call in a span of its own. @param failureOf the code of what was thrown */
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

/** What a call out of the current span tells the one it calls. */
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
