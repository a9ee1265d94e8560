// The three kinds of routes: with an API key and scope, with a session's secret, or open (docs/contract.md §7).
// Authentication and limits are decided before a body is read.
import { isIP } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TObject, TSchema } from "typebox";
import { callContext } from "#platform/values/call-context.ts";
import { isId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { ApiError, merchantMayNotWrite } from "../failures.ts";
import type { AddressLimits } from "../limits/address-limits.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { GatewayMetrics } from "../metrics.ts";
import {
  addOperation,
  type Call,
  type Operation,
  type OperationRegistry,
  type OperationText,
  type Scope,
} from "../operation.ts";
import { mayComeFrom, type Principal, type Principals } from "../principal.ts";
import { retryWhileUnavailable } from "./patience.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Set by merchant routes once the key is authenticated. */
    principal: Principal | undefined;
  }
}

export interface GatewayContext extends OperationRegistry {
  readonly metrics: GatewayMetrics;
  readonly principals: Principals;
  readonly limits: RateLimits;
  readonly addresses: AddressLimits;
  /** Records a use of a key, for last_used_at and the notice of a new network. */
  readonly recordKeyUse: (principal: Principal, address: string) => void;
}

// NoInfer: inferring schemas from a handler costs the type checker ten times the rest.
type Handler<P extends TSchema, Q extends TSchema, B extends TSchema, R extends TSchema, Extra> = (
  call: NoInfer<Call<P, Q, B> & Extra>,
) => Promise<NoInfer<Static<R>>>;

/** Adds a route for a merchant's backend: a bearer key with the scope; a merchant that is not active is restricted. */
export function merchantRoute<
  P extends TSchema = TObject,
  Q extends TSchema = TObject,
  B extends TSchema = TObject,
  R extends TSchema = TObject,
  W extends TSchema = R,
>(
  context: GatewayContext,
  operation: Operation<P, Q, B, R, W> & {
    readonly scope: Scope;
    readonly handle: Handler<P, Q, B, R | W, { principal: Principal }>;
  },
): void {
  const { scope, handle } = operation;
  addOperation<P, Q, B, R, W>(
    context,
    operation,
    { kind: "merchant", scope },
    async (request, reply) => {
      const principal = await authenticate(context, request, reply);
      // Set before a refusal too: the merchant's request log then shows the key's use from another address.
      request.principal = principal;
      if (!mayComeFrom(principal, request.ip)) {
        // Not the key's own limit: a thief of the key could otherwise lock out its owner.
        context.addresses.takeForDisallowed(request, reply);
        throw keyIsLimited(context, request.ip);
      }
      request.call = { ...request.call, actor: principal.keyId, merchantStatus: principal.merchantStatus };
      context.recordKeyUse(principal, request.ip);
      context.limits.takeForKey(principal, reply);
      if (!principal.scopes.has(scope)) {
        throw new ApiError("forbidden", { message: `this api key lacks the scope ${scope}` });
      }
      if (!isOpenTo(operation, principal.merchantStatus)) throw merchantMayNotWrite();
    },
    async (call) => {
      const { principal } = call.request;
      if (!principal) throw new Error("a merchant route was reached without its principal");
      return await handle({ ...call, principal });
    },
  );
}

/** The services enforce the same rule (access.v1); checking here avoids reading the body. */
function isOpenTo({ method, whileSuspended }: OperationText, merchantStatus: string): boolean {
  return method === "GET" || merchantStatus === "active" || (merchantStatus === "suspended" && whileSuspended === true);
}

/** Adds a route for a buyer's browser, with the session's secret in the query. CORS is open, without credentials. */
export function buyerRoute<R extends TSchema, B extends TSchema = TObject>(
  context: GatewayContext,
  operation: Operation<TObject, TObject, B, R> & {
    /** `confirm` calls the processor. */
    readonly limit: "resolve" | "confirm";
    readonly handle: Handler<TObject, TObject, B, R, { sessionId: string; sessionSecret: string }>;
  },
): void {
  const { limit, handle } = operation;
  addOperation<TObject, TObject, B, R>(
    context,
    operation,
    { kind: "buyer" },
    async (request, reply) => {
      const { sessionId, sessionSecret } = sessionOf(request);
      if (limit === "resolve") context.limits.takeForResolve(sessionId, sessionSecret, reply);
      else context.limits.takeForConfirm(sessionId, sessionSecret, request.ip, reply);
    },
    async (call) => {
      const { request, reply } = call;
      return await context.addresses.allow("secret", request, reply, () => handle({ ...call, ...sessionOf(request) }));
    },
  );
}

/** Adds an open route. */
export function openRoute<
  P extends TSchema = TObject,
  Q extends TSchema = TObject,
  B extends TSchema = TObject,
  R extends TSchema = TObject,
>(
  context: GatewayContext,
  operation: Operation<P, Q, B, R> & {
    /** Per address: new applications, or requests for an existing one. */
    readonly limit: "onboarding" | "applicant";
    readonly handle: Handler<P, Q, B, R, unknown>;
  },
): void {
  const { limit, handle } = operation;
  addOperation<P, Q, B, R>(
    context,
    operation,
    { kind: "open" },
    async (request, reply) => {
      if (limit === "onboarding") context.limits.takeForOnboarding(request.ip, reply);
      else context.limits.takeForApplicant(request.ip, reply);
    },
    handle,
  );
}

async function authenticate(context: GatewayContext, request: FastifyRequest, reply: FastifyReply): Promise<Principal> {
  const apiKey = bearerOf(request);
  if (apiKey === undefined) throw invalidKey(context, "missing", missingKey(request));
  const ask = () =>
    context.principals.of(apiKey, (lookup) =>
      context.addresses.allow("key", request, reply, async () => {
        const found = await lookup();
        if (!found) throw invalidKey(context, "unknown");
        return found;
      }),
    );
  // With an idempotency key an earlier request may have moved money, but 503 would mean that nothing was done.
  const isKeyed = headerCount(request, "idempotency-key") > 0;
  const principal = await callContext.run(request.call, () => (isKeyed ? retryWhileUnavailable(ask) : ask()));
  if (!principal) throw invalidKey(context, "unknown");
  return principal;
}

function invalidKey({ metrics }: GatewayContext, why: "missing" | "unknown", message?: string): ApiError {
  metrics.keysRefused.inc({ why });
  return new ApiError("unauthorized", message === undefined ? {} : { message });
}

function missingKey(request: FastifyRequest): string {
  return headerCount(request, "authorization") === 0
    ? "no api key: send the header Authorization: Bearer sk_test_… or sk_live_…"
    : "the Authorization header must be sent once, as Bearer and the api key: Authorization: Bearer sk_test_…";
}

/** Names the address to allow. A proxy may have sent anything, so only a valid address is repeated. */
function keyIsLimited({ metrics }: GatewayContext, address: string): ApiError {
  metrics.keysRefused.inc({ why: "address" });
  const seen = isIP(address) === 0 ? "an address that cannot be read" : address;
  return new ApiError("forbidden", { message: `this api key is limited to other addresses than ${seen}` });
}

/**
 * The request's bearer token. Node hides a second Authorization header, so two of them are refused.
 */
function bearerOf(request: FastifyRequest): string | undefined {
  if (headerCount(request, "authorization") !== 1) return undefined;
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** Number of times the caller sent the header; `name` in lower case. */
export function headerCount(request: FastifyRequest, name: string): number {
  const { rawHeaders } = request.raw;
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === name) count += 1;
  return count;
}

const secretFormat = /^cs_secret_[0-9a-hjkmnp-tv-z]{26}_[A-Za-z0-9_-]{43}$/;

/** A malformed id or secret is answered like an unknown session (docs/contract.md §2). */
function sessionOf(request: FastifyRequest): { sessionId: string; sessionSecret: string } {
  const { id } = membersOf(request.params);
  const { secret } = membersOf(request.query);
  const isPair =
    typeof id === "string" && isId("session", id) && typeof secret === "string" && secretFormat.test(secret);
  if (!isPair) throw new ApiError("not_found");
  return { sessionId: id, sessionSecret: secret };
}
