// webhook.v1.WebhookService. Here: the methods for endpoints.
import type { ServiceImpl } from "@connectrpc/connect";
import { scopeOf } from "#platform/database/idempotency.ts";
import { clockMs } from "#platform/values/clock.ts";
import { Failure, requireFound } from "#platform/values/failure.ts";
import type { WebhookService } from "#proto/webhook/v1/webhook_pb.ts";
import {
  type ChangeDeps,
  changeEndpoint,
  deleteEndpoint,
  overlapSecondsMax,
  rollEndpointSecret,
} from "../flows/change-endpoint.ts";
import { createEndpoint, type EndpointDeps } from "../flows/create-endpoint.ts";
import { type QueueDeps, sendTestEvent } from "../flows/queue-delivery.ts";
import { toEndpoint, toHealth } from "../messages.ts";
import { standardSecret } from "../rules/signature.ts";
import { endpointHealth } from "../store/deliveries.ts";
import { type EndpointPayload, type EndpointStatus, findEndpoint, listEndpoints } from "../store/endpoints.ts";
import { firstDeliveryIdOf } from "../store/partitions.ts";
import { deliveryMethods, eventMethods } from "./deliveries.ts";

type RpcDeps = EndpointDeps & ChangeDeps & QueueDeps;

const healthWindowSeconds = 3_600;

type Methods = Partial<ServiceImpl<typeof WebhookService>>;

export function webhooksRpc(deps: RpcDeps): ServiceImpl<typeof WebhookService> {
  return { ...endpointMethods(deps), ...deliveryMethods(deps), ...eventMethods(deps) };
}

function endpointMethods(deps: RpcDeps) {
  return {
    async createEndpoint(request) {
      const payload = payloadOf(request) ?? "reference";
      return await createEndpoint(deps, { ...request, payload, idempotency: scopeOf("create_endpoint", request) });
    },
    async listEndpoints(request) {
      return { endpoints: (await listEndpoints(deps.db, request)).map(toEndpoint) };
    },
    async getEndpoint(request) {
      const endpoint = requireFound(await findEndpoint(deps.db, request, request.endpointId));
      return { endpoint: toEndpoint(endpoint) };
    },
    async updateEndpoint(request) {
      const { status, url, eventTypes, description } = request;
      const change = {
        // The proto's rule admits no other value.
        status: (status || undefined) as EndpointStatus | undefined,
        url: url || undefined,
        eventTypes: eventTypes.length > 0 ? eventTypes : undefined,
        description,
        payload: payloadOf(request),
      };
      return { endpoint: toEndpoint(await changeEndpoint(deps, request, request.endpointId, change)) };
    },
    async deleteEndpoint(request) {
      await deleteEndpoint(deps, request, request.endpointId);
      return {};
    },
    async rollEndpointSecret(request) {
      const { endpointId, expiresInSeconds = overlapSecondsMax } = request;
      const { endpoint, signingSecret } = await rollEndpointSecret(deps, request, endpointId, expiresInSeconds);
      return { endpoint: toEndpoint(endpoint), signingSecret, standardSecret: standardSecret(signingSecret) };
    },
    async sendTestEvent(request) {
      return { deliveryId: await sendTestEvent(deps, request, request.endpointId) };
    },
    async getEndpointHealth(request) {
      if (!(await findEndpoint(deps.db, request, request.endpointId))) throw new Failure("NOT_FOUND");
      const windowMs = (request.windowSeconds || healthWindowSeconds) * 1_000;
      const row = await endpointHealth(deps.db, request, firstDeliveryIdOf(clockMs() - windowMs));
      return row ? toHealth(row) : {};
    },
  } satisfies Methods;
}

/** The proto's rule admits no other value. */
function payloadOf({ payload }: { payload: string }): EndpointPayload | undefined {
  return (payload || undefined) as EndpointPayload | undefined;
}
