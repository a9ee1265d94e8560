// What a public operation is, and how it becomes a Fastify route. Its schemas validate requests, serialize answers and
// are printed in the OpenAPI document, so that the three cannot differ.
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestAsyncHookHandler, RouteOptions } from "fastify";
import { type Static, type TObject, type TSchema, Type } from "typebox";
import { type CallContext, callContext } from "#platform/values/call-context.ts";
import { ApiError, type ErrorCode, type Messages } from "./failures.ts";
import { type RawBody, takeRawBodies } from "./http/body/raw-body.ts";
import { hasBody } from "./http/body/unread-body.ts";
import { beginWithoutBody } from "./http/http-parser-error.ts";
import { ignoredFields } from "./http/unknown-names.ts";
import { numbersOf } from "./query-numbers.ts";
import { textViolations } from "./query-text.ts";

/** Scopes of API keys (docs/contract.md §7). */
export const scopes = ["payments:read", "payments:write", "merchant:read", "merchant:write"] as const;
export type Scope = (typeof scopes)[number];

/**
 * Who may call an operation: a merchant's backend with an API key, a buyer's browser with a session secret, or anyone.
 */
export type Access =
  | { readonly kind: "merchant"; readonly scope: Scope }
  | { readonly kind: "buyer" }
  | { readonly kind: "open" };

/** What is told about an operation besides who may call it. */
export interface OperationText {
  /** The OpenAPI operationId. */
  readonly id: string;
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** With `:name` for parameters. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** HTTP status of success (docs/contract.md §1). */
  readonly status: 200 | 201 | 204;
  /** Codes that only this operation gives; those of its kind are added in the document. */
  readonly errors?: readonly ErrorCode[];
  /** What it says of them in place of the table's messages. */
  readonly messages?: Messages;
  /** Honours Idempotency-Key (docs/contract.md §6). */
  readonly idempotent?: true;
  /** Takes bytes in place of JSON; its handler reads them itself. */
  readonly raw?: RawBody;
  /**
   * Money goes, or evidence does, at the processor before it is answered; under a key an earlier request may have sent
   * it.
   */
  readonly movesMoney?: true;
  /** A suspended merchant may: money moves towards buyers only. */
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
   * What a repeat under its idempotency key is answered, with 200, where the first answer holds a secret that nobody
   * keeps; absent: the first answer.
   */
  readonly repeated?: W;
}

/** An operation as the document knows it. */
export interface ListedOperation extends OperationText {
  readonly access: Access;
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly response?: TSchema;
  readonly repeated?: TSchema;
}

/** The request as a handler sees it: parsed and valid by the operation's schemas. */
export interface Call<P extends TSchema, Q extends TSchema, B extends TSchema> {
  readonly params: Static<P>;
  readonly query: Static<Q>;
  readonly body: Static<B>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Where operations are put: the server and the list that the document is made of. */
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
    /** Request id, trace and deadline, handed on to every service. */
    call: CallContext;
  }
}

/** Of a schema: nothing but what it names. */
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
  const { params, body, raw, response, repeated } = operation;
  registry.operations.push({ ...operation, access });
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
      ...(response && { response: { [operation.status]: response, ...(repeated && { 200: repeated }) } }),
    },
    onRequest: admit,
    // HTTP clients name a type of an empty body too, such as PHP's and fetch's: no body has no type.
    preParsing: async (request) => {
      if (!raw && !hasBody(request.raw)) delete request.raw.headers["content-type"];
    },
    preValidation: async (request) => {
      // A missing body is an empty object: "amount is required" says more than "body must be object".
      if (body) request.body ??= {};
      request.query = numbersOf(query, request.query);
    },
    preHandler: async (request) => {
      // Which they are is told with every refusal of an input (http/error-handler.ts).
      if (textViolations(query, request.query, request.originalUrl).length > 0) throw new ApiError("invalid_body");
    },
    handler: (request, reply) =>
      callContext.run(request.call, async () => {
        const ignored = body && ignoredFields(body, request.body);
        if (ignored !== undefined) reply.header("ignored-fields", ignored);
        // Fastify has just validated the three by the very schemas that these types come from.
        const answer = await handle({
          params: request.params as Static<P>,
          query: request.query as Static<Q>,
          body: request.body as Static<B>,
          request,
          reply,
        });
        const status = repeated && reply.hasHeader("idempotent-replayed") ? 200 : operation.status;
        return reply.code(status).send(status === 204 ? undefined : answer);
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

/** A route that takes no body passes over whatever is sent, of any type and size, instead of refusing it. */
function withoutBody(app: FastifyInstance, route: RouteOptions): void {
  app.register((scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    // Nothing of it is read: what has not arrived by the answer is left (http/body/unread-body.ts).
    scope.addContentTypeParser("*", (request, _payload, parsed) =>
      parsed(beginWithoutBody(request.raw) ? null : new ApiError("invalid_body")),
    );
    scope.route(route);
    done();
  });
}
