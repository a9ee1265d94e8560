// Gives each request an id, trace and deadline, and logs and measures it at the end. The log has the route's pattern,
// never the URL, whose query may hold a session secret.
import type { FastifyInstance } from "fastify";
import type { Host } from "#platform/process/host.ts";
import type { Log } from "#platform/telemetry/log.ts";
import { type OpenSpan, openSpan } from "#platform/telemetry/trace.ts";
import { nextTraceparent, publicOperationMs } from "#platform/values/call-context.ts";
import { newId } from "#platform/values/id.ts";
import { httpRequests } from "../metrics.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Undefined if tracing is off. */
    span: OpenSpan | undefined;
  }
}

export function followRequests(app: FastifyInstance, log: Log, { registry, tracing }: Host): void {
  const requests = httpRequests(registry);
  app.decorateRequest("call");
  app.decorateRequest("span");
  app.decorateRequest("principal");
  app.decorateRequest("errorCode", "");
  app.addHook("onRequest", async (request, reply) => {
    const { traceparent } = request.headers;
    const parent = typeof traceparent === "string" ? traceparent : undefined;
    const requestId = newId("request");
    const route = request.routeOptions.url ?? "unknown";
    const attributes = {
      "http.request.method": request.method,
      "http.route": route,
      "tollbooth.request_id": requestId,
    };
    const edge = { kind: "SERVER", parent, mayBegin: true, attributes, ...tracing } as const;
    request.span = openSpan({ name: `${request.method} ${route}`, ...edge });
    request.call = {
      requestId,
      actor: "",
      // The caller's trace flags do not decide whether the services record.
      traceparent: request.span?.traceparent ?? `${nextTraceparent(parent).slice(0, -2)}01`,
      tracer: tracing?.tracer,
      deadlineMs: performance.now() + publicOperationMs,
    };
    reply.header("request-id", request.call.requestId);
    reply.header("x-content-type-options", "nosniff");
  });
  app.addHook("onResponse", async (request, reply) => {
    const { method, errorCode: code } = request;
    const route = request.routeOptions.url ?? "unknown";
    const status = String(reply.statusCode);
    request.span?.set({ "http.response.status_code": reply.statusCode });
    request.span?.end(reply.statusCode >= 500 ? code || "unknown" : undefined);
    requests.observe({ method, route, status, code }, reply.elapsedTime / 1_000);
    log.info(
      {
        method,
        route,
        status: reply.statusCode,
        ...(code && { code }),
        ms: Math.round(reply.elapsedTime * 10) / 10,
        request_id: request.call.requestId,
        trace_id: request.call.traceparent.split("-")[1],
        ...(request.principal && { key_id: request.principal.keyId }),
      },
      "request",
    );
  });
}
