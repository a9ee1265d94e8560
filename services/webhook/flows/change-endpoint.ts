// Changes of one endpoint, each one transaction with its announcement: settings, new secret, deletion. Every replica
// hears of it at once and would find out by itself within a second. A new URL is judged before, by DNS too.
import { isDeepStrictEqual } from "node:util";
import type { Tx } from "#platform/database/database.ts";
import type { MappedDatabase } from "#platform/database/mapped-database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { clockMs, clockNow } from "#platform/values/clock.ts";
import { Failure } from "#platform/values/failure.ts";
import { secretContext } from "../sender/endpoint-cache.ts";
import {
  type Endpoint,
  type EndpointStatus,
  keepPreviousSecret,
  lockEndpoint,
  type Owner,
} from "../store/endpoints.ts";
import { type EndpointEvent, endpointAnnouncement } from "./announce-endpoint.ts";
import { type EndpointDeps, knownEventTypes, newSigningSecret, publicTarget } from "./create-endpoint.ts";

export interface ChangeDeps {
  readonly db: MappedDatabase;
  readonly outbox: Outbox;
  readonly vault: Vault;
  /** Told after the commit, so that this replica acts on the change before the announcement arrives. */
  readonly onChange: (endpoint: Endpoint) => void;
}

/** What is to be new; undefined: as it is. */
export interface EndpointChange {
  readonly status: EndpointStatus | undefined;
  readonly url: string | undefined;
  readonly eventTypes: readonly string[] | undefined;
  readonly description: string | undefined;
}

/** What the endpoint has already is fine. @throws NOT_FOUND, INVALID_BODY (url, event types) */
export async function changeEndpoint(
  deps: ChangeDeps & Pick<EndpointDeps, "resolver" | "allow" | "metrics">,
  owner: Owner,
  id: string,
  change: EndpointChange,
): Promise<Endpoint> {
  const eventTypes = change.eventTypes && knownEventTypes(change.eventTypes);
  const url = change.url === undefined ? undefined : (await publicTarget(deps, change.url)).href;
  return await changeStored(deps, owner, id, "endpoint.updated", (endpoint) => {
    const { status = endpoint.status, description = endpoint.description } = change;
    const wanted = { status, description, url: url ?? endpoint.url, eventTypes: eventTypes ?? endpoint.eventTypes };
    const isMoved = status !== endpoint.status;
    if (isDeepStrictEqual(wanted, settingsOf(endpoint))) return false;
    Object.assign(endpoint, wanted, isMoved ? { statusChangedAt: clockNow() } : {});
    return true;
  });
}

function settingsOf({ status, description, url, eventTypes }: Endpoint) {
  return { status, description, url, eventTypes: [...eventTypes] };
}

/** Deletes the endpoint; what is pending stops, its history stays for its time. @throws NOT_FOUND */
export async function deleteEndpoint(deps: ChangeDeps, owner: Owner, id: string): Promise<void> {
  await changeStored(deps, owner, id, "endpoint.deleted", (endpoint) => {
    endpoint.deletedAt = clockNow();
    return true;
  });
}

// docs/contract.md §9: how long a secret signs beside those that come after it.
const overlapMs = 86_400_000;

/**
 * Gives the endpoint a new signing secret. Whoever rolls again, because an answer was lost, ends none that a receiver
 * may be using. @throws NOT_FOUND
 */
export async function rollEndpointSecret(
  deps: ChangeDeps,
  owner: Owner,
  id: string,
): Promise<{ endpoint: Endpoint; signingSecret: string }> {
  const signingSecret = newSigningSecret();
  const endpoint = await changeStored(deps, owner, id, "endpoint.secret_rolled", async (rolled, tx) => {
    await keepPreviousSecret(tx, rolled);
    rolled.previousSecret = rolled.secret;
    rolled.previousUntil = new Date(clockMs() + overlapMs);
    rolled.secret = deps.vault.encrypt(signingSecret, secretContext(id));
    return true;
  });
  return { endpoint, signingSecret };
}

/** @param apply makes the change; false: there is nothing to change */
async function changeStored(
  deps: ChangeDeps,
  owner: Owner,
  id: string,
  type: EndpointEvent,
  apply: (endpoint: Endpoint, tx: Tx) => boolean | Promise<boolean>,
): Promise<Endpoint> {
  const { endpoint, isChanged } = await deps.db.transaction(async (tx) => {
    const found = await lockEndpoint(tx, owner, id);
    if (!found) throw new Failure("NOT_FOUND");
    if (!(await apply(found, tx))) return { endpoint: found, isChanged: false };
    const status = type === "endpoint.deleted" ? "deleted" : found.status;
    await deps.outbox.append(tx, [endpointAnnouncement(type, found, status)]);
    return { endpoint: found, isChanged: true };
  });
  if (isChanged) {
    deps.outbox.wake();
    deps.onChange(endpoint);
  }
  return endpoint;
}
