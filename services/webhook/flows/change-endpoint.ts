// Changes one endpoint (settings, secret, deletion) and announces the change in the same transaction.
// Other replicas receive the announcement at once; without it their caches expire within a second.
import { isDeepStrictEqual } from "node:util";
import type { Database, Tx } from "#platform/database/database.ts";
import type { Outbox } from "#platform/events/outbox.ts";
import type { Vault } from "#platform/secrets/vault.ts";
import { clockMs, clockNow } from "#platform/values/clock.ts";
import { requireFound } from "#platform/values/failure.ts";
import { secretContext } from "../sender/endpoint-cache.ts";
import {
  type Endpoint,
  type EndpointPayload,
  type EndpointStatus,
  keepPreviousSecret,
  lockEndpoint,
  type Owner,
  saveEndpoint,
} from "../store/endpoints.ts";
import {
  checkEventTypes,
  checkTarget,
  type EndpointDeps,
  type EndpointEvent,
  endpointAnnouncement,
  newSigningSecret,
} from "./create-endpoint.ts";

export interface ChangeDeps {
  readonly db: Database;
  readonly outbox: Outbox;
  readonly vault: Vault;
  /** Called after the commit: this replica then acts before the announcement arrives. */
  readonly onChange: (endpoint: Endpoint) => void;
}

/** New settings; undefined leaves a setting unchanged. */
interface EndpointChange {
  readonly status: EndpointStatus | undefined;
  readonly url: string | undefined;
  readonly eventTypes: readonly string[] | undefined;
  readonly description: string | undefined;
  readonly payload: EndpointPayload | undefined;
}

/** Settings that equal the stored ones change and announce nothing. @throws NOT_FOUND, INVALID_BODY */
export async function changeEndpoint(
  deps: ChangeDeps & Pick<EndpointDeps, "resolver" | "allow" | "metrics">,
  owner: Owner,
  id: string,
  change: EndpointChange,
): Promise<Endpoint> {
  const eventTypes = change.eventTypes && checkEventTypes(change.eventTypes);
  const url = change.url === undefined ? undefined : (await checkTarget(deps, change.url)).href;
  return await changeStored(deps, owner, id, "endpoint.updated", (endpoint) => {
    const { status = endpoint.status, description = endpoint.description, payload = endpoint.payload } = change;
    const settings = { status, description, payload };
    const wanted = { ...settings, url: url ?? endpoint.url, eventTypes: eventTypes ?? endpoint.eventTypes };
    const isMoved = status !== endpoint.status;
    if (isDeepStrictEqual(wanted, settingsOf(endpoint))) return false;
    Object.assign(endpoint, wanted, isMoved ? { statusChangedAt: clockNow() } : {});
    return true;
  });
}

function settingsOf({ status, description, payload, url, eventTypes }: Endpoint) {
  return { status, description, payload, url, eventTypes: [...eventTypes] };
}

/** Deletes the endpoint. Pending deliveries stop; the history is kept for its retention time. @throws NOT_FOUND */
export async function deleteEndpoint(deps: ChangeDeps, owner: Owner, id: string): Promise<void> {
  await changeStored(deps, owner, id, "endpoint.deleted", (endpoint) => {
    endpoint.deletedAt = clockNow();
    return true;
  });
}

/** docs/contract.md §9: how long a replaced secret still signs, unless the caller chooses a shorter time. */
export const overlapSecondsMax = 86_400;

/**
 * Gives the endpoint a new signing secret. With the longest overlap, rolling again after a lost answer ends no secret
 * that a receiver may use; a shorter one limits all replaced secrets.
 * @throws NOT_FOUND
 */
export async function rollEndpointSecret(
  deps: ChangeDeps,
  owner: Owner,
  id: string,
  overlapSeconds: number,
): Promise<{ endpoint: Endpoint; signingSecret: string }> {
  const signingSecret = newSigningSecret();
  const endpoint = await changeStored(deps, owner, id, "endpoint.secret_rolled", async (rolled, tx) => {
    const until = new Date(clockMs() + overlapSeconds * 1_000);
    await keepPreviousSecret(tx, rolled, until);
    rolled.previousSecret = overlapSeconds > 0 ? rolled.secret : null;
    rolled.previousUntil = overlapSeconds > 0 ? until : null;
    rolled.secret = deps.vault.encrypt(signingSecret, secretContext(id));
    return true;
  });
  return { endpoint, signingSecret };
}

/** @param apply changes the endpoint; returns false if nothing changed */
async function changeStored(
  deps: ChangeDeps,
  owner: Owner,
  id: string,
  type: EndpointEvent,
  apply: (endpoint: Endpoint, tx: Tx) => boolean | Promise<boolean>,
): Promise<Endpoint> {
  const { endpoint, isChanged } = await deps.db.transaction(async (tx) => {
    const found = requireFound(await lockEndpoint(tx, owner, id));
    if (!(await apply(found, tx))) return { endpoint: found, isChanged: false };
    await saveEndpoint(tx, found);
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
