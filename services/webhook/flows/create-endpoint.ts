// Registers an endpoint. Phases: 1 claim the idempotency key · 2 check the URL and its DNS addresses · 3 in one
// transaction store the endpoint, its announcement and the response. The stored response lacks the signing secret,
// which only the first response shows (docs/contract.md §9).
import { create } from "@bufbuild/protobuf";
import type { Database, Tx } from "#platform/database/database.ts";
import { type IdempotencyKeys, type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import type { Announcement, Outbox } from "#platform/events/outbox.ts";
import { randomToken, type Vault } from "#platform/secrets/vault.ts";
import type { Cidr } from "#platform/values/address-range.ts";
import { clockNow } from "#platform/values/clock.ts";
import { entryName, Failure, invalidField } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { type CreateEndpointResponse, CreateEndpointResponseSchema } from "#proto/webhook/v1/webhook_pb.ts";
import { toEndpoint } from "../messages.ts";
import type { WebhookMetrics } from "../metrics.ts";
import { eventTypeProblem } from "../rules/event-types.ts";
import { standardSecret } from "../rules/signature.ts";
import { notPublic, parseTarget, type Target } from "../rules/target.ts";
import { secretContext } from "../sender/endpoint-cache.ts";
import { ResolveError, type Resolver } from "../sender/resolver.ts";
import { BlockedAddress, findRoute } from "../sender/route.ts";
import {
  type Endpoint,
  type EndpointPayload,
  endpointsMax,
  findEndpoint,
  insertEndpoint,
  type Owner,
} from "../store/endpoints.ts";

export interface EndpointDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly vault: Vault;
  readonly resolver: Resolver;
  readonly allow: readonly Cidr[];
  readonly keys: IdempotencyKeys;
  readonly metrics: WebhookMetrics;
}

interface CreateEndpointInput extends Owner {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
  readonly payload: EndpointPayload;
  readonly idempotency: IdempotencyScope | undefined;
}

/** @throws INVALID_BODY, IDEMPOTENCY_CONFLICT, IDEMPOTENCY_KEY_REUSE */
export async function createEndpoint(deps: EndpointDeps, input: CreateEndpointInput): Promise<CreateEndpointResponse> {
  return await withIdempotency(
    deps.keys,
    CreateEndpointResponseSchema,
    input.idempotency,
    newId("endpoint"),
    ({ id, finish }) => makeEndpoint(deps, input, id, finish ?? (async () => {})),
  );
}

async function makeEndpoint(
  deps: EndpointDeps,
  input: CreateEndpointInput,
  id: string,
  finish: (tx: Tx, response: CreateEndpointResponse) => Promise<void>,
): Promise<CreateEndpointResponse> {
  const eventTypes = checkEventTypes(input.eventTypes);
  const target = await checkTarget(deps, input.url);
  const signingSecret = newSigningSecret();
  const secret = deps.vault.encrypt(signingSecret, secretContext(id));
  const response = await deps.db.transaction(async (tx) => {
    if (!(await insertEndpoint(tx, { ...input, id, url: target.href, eventTypes, secret }))) {
      throw invalidField("url", `a merchant can have at most ${endpointsMax} endpoints per environment`);
    }
    const endpoint = await findEndpoint(tx, input, id);
    if (!endpoint) throw new Failure("INTERNAL_ERROR");
    await deps.outbox.append(tx, [endpointAnnouncement("endpoint.created", endpoint, endpoint.status)]);
    const stored = create(CreateEndpointResponseSchema, { endpoint: toEndpoint(endpoint) });
    await finish(tx, stored);
    return stored;
  });
  deps.outbox.wake();
  return { ...response, signingSecret, standardSecret: standardSecret(signingSecret) };
}

export type EndpointEvent = "endpoint.created" | "endpoint.updated" | "endpoint.secret_rolled" | "endpoint.deleted";

/** @param status the endpoint's status, or `deleted` */
export function endpointAnnouncement(type: EndpointEvent, endpoint: Endpoint, status: string): Announcement {
  const { merchantId, id } = endpoint;
  return { type, merchantId, environment: endpoint.environment === 2 ? 2 : 1, objectId: id, status, at: clockNow() };
}

/** docs/contract.md §3. */
export function newSigningSecret(): string {
  return `whsec_${randomToken(32)}`;
}

/** Removes duplicate codes. @throws INVALID_BODY */
export function checkEventTypes(codes: readonly string[]): string[] {
  for (const [at, code] of codes.entries()) {
    const problem = eventTypeProblem(code);
    if (problem !== undefined) throw invalidField(entryName("event_types", at), problem);
  }
  return [...new Set(codes)];
}

/**
 * Refuses a host that resolves to a special address. A host that does not resolve yet is checked again at each delivery
 * (docs/contract.md §9). @throws INVALID_BODY
 */
export async function checkTarget(
  deps: Pick<EndpointDeps, "resolver" | "allow" | "metrics">,
  url: string,
): Promise<Target> {
  const target = parseTarget(url, deps.allow);
  if ("problem" in target) throw refusedUrl(deps, target.problem);
  try {
    await findRoute(target, deps.resolver, deps.allow);
  } catch (error) {
    if (error instanceof BlockedAddress) throw refusedUrl(deps, notPublic);
    if (!(error instanceof ResolveError)) throw error;
  }
  return target;
}

function refusedUrl({ metrics }: Pick<EndpointDeps, "metrics">, problem: string): Failure {
  if (problem === notPublic) metrics.blockedAddresses.inc({ at: "registration" });
  return invalidField("url", problem);
}
