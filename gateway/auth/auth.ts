// The kinds of routes, by who may call them. A merchant's backend brings an API key with a scope, a buyer's browser the
// secret of one session; no route takes both (docs/contract.md §7). Everything here is decided before a body is read.
import { isIP } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TObject, TSchema } from "typebox";
import { askPatiently } from "#platform/rpc/client.ts";
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

declare module "fastify" {
  interface FastifyRequest {
    /** Set by merchant routes once the key is known to be good. */
    principal: Principal | undefined;
  }
}

/** What the routes stand on. */
export interface GatewayContext extends OperationRegistry {
  readonly metrics: GatewayMetrics;
  readonly principals: Principals;
  readonly limits: RateLimits;
  readonly addresses: AddressLimits;
  /** Told of every use of a key, for last_used_at and for news of where it is used. */
  readonly keyUsed: (principal: Principal, address: string) => void;
}

// NoInfer: a handler takes its types from the schemas; inferring schemas from a handler costs the type checker ten
// times the rest.
type Handler<P extends TSchema, Q extends TSchema, B extends TSchema, R extends TSchema, Extra> = (
  call: NoInfer<Call<P, Q, B> & Extra>,
) => Promise<NoInfer<Static<R>>>;

/** A route for a merchant's backend: bearer key with the scope; a merchant that is not active is bound. */
export function merchantRoute<
  P extends TSchema = TObject,
  Q extends TSchema = TObject,
  B extends TSchema = TObject,
  R extends TSchema = TObject,
  W extends TSchema = R,
>(
  context: GatewayContext,
  scope: Scope,
  operation: Operation<P, Q, B, R, W>,
  handle: Handler<P, Q, B, R | W, { principal: Principal }>,
): void {
  addOperation<P, Q, B, R, W>(
    context,
    operation,
    { kind: "merchant", scope },
    async (request, reply) => {
      const principal = await authenticate(context, request, reply);
      // Also before it is refused: its merchant sees in the request log that the key is tried elsewhere.
      request.principal = principal;
      if (!mayComeFrom(principal, request.ip)) {
        // Not the key's own limit: whoever has stolen it would shut its owner out.
        context.addresses.takeForElsewhere(request, reply);
        throw keyIsLimited(context, request.ip);
      }
      request.call = { ...request.call, actor: principal.keyId, merchantStatus: principal.merchantStatus };
      context.keyUsed(principal, request.ip);
      context.limits.takeForKey(principal, reply);
      if (!principal.scopes.has(scope)) throw new ApiError("forbidden");
      if (!isOpenTo(operation, principal.merchantStatus)) throw merchantMayNotWrite();
    },
    async (call) => {
      const { principal } = call.request;
      if (!principal) throw new Error("a merchant route was reached without its principal");
      return await handle({ ...call, principal });
    },
  );
}

/** The services that own the data refuse by the same rule (access.v1); here nothing of a body is read before. */
function isOpenTo({ method, whileSuspended }: OperationText, merchantStatus: string): boolean {
  return method === "GET" || merchantStatus === "active" || (merchantStatus === "suspended" && whileSuspended === true);
}

/** A route for a buyer's browser: the session's secret in the query. CORS is open for it, without credentials. */
export function buyerRoute<R extends TSchema, B extends TSchema = TObject>(
  context: GatewayContext,
  operation: Operation<TObject, TObject, B, R>,
  /** `confirm`: the processor is asked. */
  limit: "resolve" | "confirm",
  handle: Handler<TObject, TObject, B, R, { sessionId: string; sessionSecret: string }>,
): void {
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

/** A route that anyone may call; limited by address. @param limit which: new applications, or one that there is */
export function openRoute<
  P extends TSchema = TObject,
  Q extends TSchema = TObject,
  B extends TSchema = TObject,
  R extends TSchema = TObject,
>(
  context: GatewayContext,
  limit: "onboarding" | "applicant",
  operation: Operation<P, Q, B, R>,
  handle: Handler<P, Q, B, R, unknown>,
): void {
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
  if (apiKey === undefined) throw invalidKey(context, "missing");
  const ask = () =>
    context.principals.of(apiKey, (lookup) =>
      context.addresses.allow("key", request, reply, async () => {
        const found = await lookup();
        if (!found) throw invalidKey(context, "unknown");
        return found;
      }),
    );
  // With an idempotency key it may be the repeat of a request that moved money: 503 would say that nothing was done.
  const isKeyed = headerCount(request, "idempotency-key") > 0;
  const principal = await callContext.run(request.call, () => (isKeyed ? askPatiently(ask) : ask()));
  if (!principal) throw invalidKey(context, "unknown");
  return principal;
}

function invalidKey({ metrics }: GatewayContext, why: "missing" | "unknown"): ApiError {
  metrics.keysRefused.inc({ why });
  return new ApiError("unauthorized");
}

/** Says the address, so that who runs behind a new one knows what to allow; a proxy may have told anything. */
function keyIsLimited({ metrics }: GatewayContext, address: string): ApiError {
  metrics.keysRefused.inc({ why: "address" });
  const seen = isIP(address) === 0 ? "an address that cannot be read" : address;
  return new ApiError("forbidden", { message: `this api key is limited to other addresses than ${seen}` });
}

/**
 * The one bearer token of the request. Two Authorization headers are a contradiction, and Node would hide the second.
 */
function bearerOf(request: FastifyRequest): string | undefined {
  if (headerCount(request, "authorization") !== 1) return undefined;
  return /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1];
}

/** How often the caller sent the header; `name` in lower case. */
export function headerCount(request: FastifyRequest, name: string): number {
  const { rawHeaders } = request.raw;
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === name) count += 1;
  return count;
}

const secretFormat = /^cs_secret_[0-9a-hjkmnp-tv-z]{26}_[A-Za-z0-9_-]{43}$/;

/** Anything that cannot be a session and its secret looks like an unknown session (docs/contract.md §2). */
function sessionOf(request: FastifyRequest): { sessionId: string; sessionSecret: string } {
  const { id } = membersOf(request.params);
  const { secret } = membersOf(request.query);
  const isPair =
    typeof id === "string" && isId("session", id) && typeof secret === "string" && secretFormat.test(secret);
  if (!isPair) throw new ApiError("not_found");
  return { sessionId: id, sessionSecret: secret };
}
