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
import { ownState } from "#platform/parts/part.ts";
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
  /** True: the parent is a stranger's. Its trace goes on, and whether it is recorded is decided here. */
  readonly isFromOutside?: boolean;
}

export interface OpenSpan {
  /** For those who are called within it. */
  readonly traceparent: string;
  set(attributes: Attributes): void;
  /** @param failure a code; given: the span failed */
  end(failure?: string): void;
}

const own = ownState<{ tracer?: Tracer | undefined; share: number }>(() => ({ share: 1 }));

/** From now on spans are recorded; undefined: no longer. @param share of the traces from outside that is kept */
export function recordSpans(given: Tracer | undefined, share = 1): void {
  Object.assign(own(), { tracer: given, share });
}

export function isTracing(): boolean {
  return own().tracer !== undefined;
}

/** Opens a span that the caller ends. @returns undefined when nothing records or there is nothing to be a part of */
export function openSpan(wish: SpanOptions): OpenSpan | undefined {
  const { tracer, share } = own();
  if (!tracer) return undefined;
  // By chance, since a stranger chooses the trace's id too.
  const flags = wish.isFromOutside ? Number(Math.random() < share) : undefined;
  const parent = contextOf(wish.parent ?? callContext.getStore()?.traceparent, flags);
  if (!parent && !wish.mayBegin) return undefined;
  const options = { kind: SpanKind[wish.kind], attributes: wish.attributes ?? {} };
  const span = tracer.startSpan(wish.name, options, parent ?? ROOT_CONTEXT);
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
  wish: SpanOptions,
  work: (span?: OpenSpan) => Promise<T>,
  failureOf: (error: unknown) => string = nameOf,
): Promise<T> {
  const span = openSpan(wish);
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
