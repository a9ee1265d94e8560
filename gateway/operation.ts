// Defines a public operation and registers it as a Fastify route. The same schemas validate requests, serialize
// responses and appear in the OpenAPI document.
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler, RouteOptions } from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import { type CallContext, callContext } from "#platform/values/call-context.ts";
import { ApiError, type ErrorCode, type Messages } from "./failures.ts";
import { type RawBody, takeRawBodies } from "./http/body/raw-body.ts";
import { hasBody } from "./http/body/unread-body.ts";
import { beginWithoutBody } from "./http/http-parser-error.ts";
import { ignoredFields } from "./http/unknown-names.ts";
import { numbersOf, textViolations } from "./query.ts";

/** Scopes of API keys (docs/contract.md §7). */
export const scopes = ["payments:read", "payments:write", "merchant:read", "merchant:write"] as const;
export type Scope = (typeof scopes)[number];

/**
 * Callers of an operation: a merchant's backend with an API key, a buyer's browser with a session secret, or anyone.
 */
export type Access =
  | { readonly kind: "merchant"; readonly scope: Scope }
  | { readonly kind: "buyer" }
  | { readonly kind: "open" };

/** An operation's documentation and rules. */
export interface OperationText {
  /** OpenAPI operationId. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `:name` for parameters. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Status of success (docs/contract.md §1); default 200. */
  readonly status?: 200 | 201 | 204;
  /** Codes of this operation; the document adds those of its kind. */
  readonly errors?: readonly ErrorCode[];
  readonly messages?: Messages;
  /** Accepts Idempotency-Key (docs/contract.md §6). */
  readonly idempotent?: true;
  /** Accepts bytes instead of JSON; the handler reads them. */
  readonly raw?: RawBody;
  /** Media type of the answer instead of JSON; the handler sends it, and 206 for a part. */
  readonly file?: string;
  /**
   * Sends money or evidence to the processor before it responds; with a key, an earlier request may have sent it.
   */
  readonly movesMoney?: true;
  /** A suspended merchant may call it: money only moves to buyers. */
  readonly whileSuspended?: true;
}

/** An operation with its schemas. */
export interface Operation<
  P extends TSchema,
  Q extends TSchema,
  B extends TSchema,
  R extends TSchema,
  W extends TSchema = R,
> extends OperationText {
  readonly params?: P;
  readonly query?: Q;
  readonly body?: B;
  readonly response?: R;
  /**
   * Response to a repeat with the same idempotency key, with 200, if the first response has an unstored secret.
   * Absent: the first response is repeated.
   */
  readonly repeated?: W;
}

/** An operation as the document lists it. */
export interface ListedOperation extends OperationText {
  readonly access: Access;
  readonly status: 200 | 201 | 204;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly response?: TSchema;
  readonly repeated?: TSchema;
}

/** A parsed and valid request. */
export interface Call<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** The server, and the list for the document. */
export interface OperationRegistry {
  readonly app: FastifyInstance;
  readonly operations: ListedOperation[];
}

declare module "fastify" {
  interface FastifyContextConfig {
    readonly movesMoney?: boolean;
    readonly messages?: Messages;
  }
  interface FastifyRequest {
    /** Request id, trace and deadline, passed to every service. */
    call: CallContext;
  }
}

/** Schema option: no unknown names. */
export const strict = { additionalProperties: false } as const;
const noParameters = Type.Object({});

/** Adds the operation. `admit` runs before the body is read. */
export function addOperation<
  P extends TSchema = TObject,
  Q extends TSchema = TObject,
  B extends TSchema = TObject,
  R extends TSchema = TObject,
  W extends TSchema = R,
>(
  registry: OperationRegistry,
  operation: Operation<P, Q, B, R, W>,
  access: Access,
  admit: onRequestAsyncHookHandler,
  handle: (call: NoInfer<Call<P, Q, B>>) => Promise<NoInfer<Static<R> | Static<W>>>,
): void {
  const { params, body, raw, response, repeated, status = 200 } = operation;
  registry.operations.push({ ...operation, status, access });
  const query = { ...(operation.query ?? noParameters), ...strict };
  const route: RouteOptions = {
    method: operation.method,
    url: operation.path,
    config: {
      movesMoney: operation.movesMoney ?? false,
      ...(operation.messages && { messages: operation.messages }),
      ...(raw && { holdsBody: true as const, heldBytes: raw.heldBytes }),
    },
    schema: {
      ...(params && { params }),
      querystring: query,
      ...(body && { body }),
      ...(response && { response: { [status]: response, ...(repeated && { 200: repeated }) } }),
    },
    onRequest: admit,
    // PHP's and fetch's clients send a content type with an empty body, too.
    preParsing: async (request) => {
      if (!raw && !hasBody(request.raw)) delete request.raw.headers["content-type"];
    },
    preValidation: async (request) => {
      // A missing body is an empty object: "amount is required" helps more than "body must be object".
      if (body) request.body ??= {};
      request.query = numbersOf(query, request.query);
    },
    preHandler: async (request) => {
      // The error handler adds them to the response (http/error-handler.ts).
      if (textViolations(query, request.query, request.originalUrl).length > 0) throw new ApiError("invalid_body");
    },
    handler: (request, reply) =>
      callContext.run(request.call, async () => {
        const ignored = body && ignoredFields(body, request.body);
        if (ignored !== undefined) reply.header("ignored-fields", ignored);
        // Fastify has just validated the three with the schemas of these types.
        const answer = await handle({
          params: request.params as Static<P>,
          query: request.query as Static<Q>,
          body: request.body as Static<B>,
          request,
          reply,
        });
        if (operation.file !== undefined) return reply.sent ? reply : reply.send(answer);
        reply.code(repeated && reply.hasHeader("idempotent-replayed") ? 200 : status);
        return reply.send(status === 204 ? undefined : answer);
      }),
  };
  if (body || operation.method === "GET") registry.app.route(route);
  else if (raw) withRawBody(registry.app, route, raw);
  else withoutBody(registry.app, route);
}

function withRawBody(app: FastifyInstance, route: RouteOptions, raw: RawBody): void {
  app.register((scope, _options, done) => {
    takeRawBodies(scope, raw);
    scope.route(route);
    done();
  });
}

/** A route without a body ignores one of any type and size. */
function withoutBody(app: FastifyInstance, route: RouteOptions): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // The body is never read; http/body/unread-body.ts handles the rest.
    scope.addContentTypeParser("*", (request, _payload, parsed) =>
      parsed(beginWithoutBody(request.raw) ? null : new ApiError("invalid_body")),
    );
    scope.route(route);
    done();
  });
}
