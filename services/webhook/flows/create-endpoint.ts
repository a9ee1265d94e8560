// Registers an endpoint. Phases: 1 claim the idempotency key · 2 judge the URL, by DNS too · 3 in one transaction store
// the endpoint, announce it, and store the answer without the signing secret, which is in this answer only
// (docs/contract.md §9).
import { create } from "@bufbuild/protobuf";
import type { Tx } from "#platform/database/database.ts";
import { type IdempotencyKeys, type IdempotencyScope, withIdempotency } from "#platform/database/idempotency.ts";
import type { MappedDatabase } from "#platform/database/mapped-database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import { randomToken, type Vault } from "#platform/secrets/vault.ts";
import type { Cidr } from "#platform/values/address-range.ts";
import { entryName, Failure, invalid } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { type CreateEndpointResponse, CreateEndpointResponseSchema } from "#proto/webhook/v1/webhook_pb.ts";
import { toEndpoint } from "../messages.ts";
import type { WebhookMetrics } from "../metrics.ts";
import { isEventType } from "../rules/event-types.ts";
import { notPublic, parseTarget, type Target } from "../rules/target.ts";
import { secretContext } from "../sender/endpoint-cache.ts";
import { ResolveError, type Resolver } from "../sender/resolver.ts";
import { BlockedAddress, findRoute } from "../sender/route.ts";
import { endpointsMax, findEndpoint, insertEndpoint, type Owner } from "../store/endpoints.ts";
import { endpointAnnouncement } from "./announce-endpoint.ts";

export interface EndpointDeps {
  readonly db: MappedDatabase;
  readonly outbox: Outbox;
  readonly vault: Vault;
  readonly resolver: Resolver;
  readonly allow: readonly Cidr[];
  readonly keys: IdempotencyKeys;
  readonly metrics: WebhookMetrics;
}

/** What a merchant asks for. */
export interface CreateEndpointInput extends Owner {
  readonly url: string;
  readonly description: string;
  readonly eventTypes: readonly string[];
  readonly idempotency: IdempotencyScope | undefined;
}

// Two callers at once may want the same slot; each further try means that another one was served. One more sees that no
// slot is left.
const triesMax = endpointsMax + 1;

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
  const eventTypes = knownEventTypes(input.eventTypes);
  const target = await publicTarget(deps, input.url);
  const signingSecret = newSigningSecret();
  const secret = deps.vault.encrypt(signingSecret, secretContext(id));
  const row = { ...input, id, url: target.href, eventTypes, secret };
  for (let tries = 1; tries <= triesMax; tries++) {
    const response = await insertAndAnnounce(deps, row, finish);
    if (response === undefined) continue;
    deps.outbox.wake();
    return { ...response, signingSecret };
  }
  throw new Failure("SERVICE_UNAVAILABLE", { retryAfterMs: 1_000 });
}

/** docs/contract.md §3. */
export function newSigningSecret(): string {
  return `whsec_${randomToken(32)}`;
}

/** @throws INVALID_BODY */
export function knownEventTypes(codes: readonly string[]): string[] {
  const unknown = codes.findIndex((code) => !isEventType(code));
  if (unknown >= 0) throw invalid(entryName("event_types", unknown), "must be a code of the event catalogue");
  return [...new Set(codes)];
}

/**
 * docs/contract.md §9: a host that leads to a special address is refused; one that does not resolve is judged when it
 * is called. @throws INVALID_BODY
 */
export async function publicTarget(
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
  return invalid("url", problem);
}

/** @returns undefined when another call took the slot: try again */
async function insertAndAnnounce(
  deps: EndpointDeps,
  row: CreateEndpointInput & { id: string; secret: Buffer },
  finish: (tx: Tx, response: CreateEndpointResponse) => Promise<void>,
): Promise<CreateEndpointResponse | undefined> {
  try {
    return await deps.db.transaction(async (tx) => {
      const result = await insertEndpoint(tx, row);
      if (result === "taken") throw new SlotConflictError();
      if (result === "full") throw invalid("url", `a merchant has at most ${endpointsMax} endpoints per environment`);
      const endpoint = await findEndpoint(tx.em, row, row.id);
      if (!endpoint) throw new Failure("INTERNAL_ERROR");
      await deps.outbox.append(tx, [endpointAnnouncement("endpoint.created", endpoint, endpoint.status)]);
      const response = create(CreateEndpointResponseSchema, { endpoint: toEndpoint(endpoint) });
      await finish(tx, response);
      return response;
    });
  } catch (error) {
    if (error instanceof SlotConflictError) return undefined;
    throw error;
  }
}

class SlotConflictError extends Error {}
