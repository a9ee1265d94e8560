// Answers 405 with Allow for other methods of a known path, and OPTIONS for all paths. Browsers may call the buyer's
// two routes from any origin, without credentials.
import { METHODS } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { ApiError } from "./failures.ts";
import type { OperationRegistry } from "./operation.ts";

// Node emits no request for CONNECT.
const methods = METHODS.filter((method) => method !== "CONNECT");
// Chrome caches a preflight for at most two hours.
const preflightSeconds = 7_200;
const exposed = "Request-Id, Link, Retry-After, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset";

/** Adds the CORS hook. Call before any route. */
export function openToBrowsers(registry: OperationRegistry, paths: readonly string[]): void {
  const open = new Set(paths);
  registry.app.addHook("onRequest", async (request, reply) => {
    const route = request.routeOptions.url;
    if (route === undefined) return;
    if (route.startsWith("/v1/")) reply.header("cache-control", "no-store");
    if (!open.has(route)) return;
    reply.header("access-control-allow-origin", "*");
    reply.header("access-control-expose-headers", exposed);
    reply.header("referrer-policy", "no-referrer");
  });
}

/** Registers all methods: the router answers 404 for one it does not know. Call before any route. */
export function registerAllMethods(app: FastifyInstance): void {
  for (const method of methods) {
    if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);
  }
}

/** Answers the other methods of every path. Call after the last operation. */
export function closeOtherMethods(registry: OperationRegistry, openPaths: readonly string[]): void {
  const operationsByPath = Map.groupBy(registry.operations, (operation) => operation.path);
  for (const [path, operations] of operationsByPath) {
    const own = new Set<string>(operations.map((operation) => operation.method));
    if (own.has("GET")) own.add("HEAD");
    own.add("OPTIONS");
    const allow = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
      .filter((each) => own.has(each))
      .join(", ");
    const isOpen = openPaths.includes(path);
    const others = methods.filter((method) => method === "OPTIONS" || !own.has(method));
    registry.app.route({
      method: others,
      url: path,
      // Before the body is read: the method is wrong whatever the body.
      onRequest: async (request, reply) => otherMethod(request, reply, allow, isOpen),
      handler: async () => undefined,
    });
  }
}

async function otherMethod(request: FastifyRequest, reply: FastifyReply, allow: string, isOpen: boolean) {
  if (request.method !== "OPTIONS") throw new ApiError("method_not_allowed", { headers: { allow } });
  if (isOpen) {
    reply.header("access-control-allow-methods", allow);
    reply.header("access-control-allow-headers", "Content-Type, Traceparent");
    reply.header("access-control-max-age", String(preflightSeconds));
  }
  return reply.code(204).header("allow", allow).send();
}
