// Runs that queue many deliveries of an endpoint: retries of all failed ones, and replays of events without one
// (docs/contract.md §9).
import { Type } from "typebox";
import { Failure } from "#platform/values/failure.ts";
import { idSchema, jsonComponent } from "../../../services/public-json/field.ts";
import { presentMessage } from "../../../services/public-json/present.ts";
import { type GatewayContext, merchantRoute } from "../../auth/auth.ts";
import { moment } from "../../http/own-formats.ts";
import { momentOf } from "../../json/parts/time-bound.ts";
import { RetryRunJson } from "../../json/webhook.ts";
import { strict } from "../../operation.ts";
import type { Peers } from "../../peers.ts";

const tag = "Webhooks";
const endpointId = idSchema("endpoint", "Id of the endpoint.");
const runId = Type.String({
  pattern: "^op_[0-9a-hjkmnp-tv-z]{26}$",
  description: "Id of the run.",
  examples: ["op_01jd3v9q6k8m2n4p6r8t0v2x4z"],
});

const RetryFailed = jsonComponent(
  "WebhookRetryFailed",
  Type.Object(
    {
      since: Type.String({
        format: moment,
        maxLength: 40,
        description: "RFC 3339: deliveries that were queued at this time or later.",
        examples: ["2025-11-21T08:30:00.000Z"],
      }),
    },
    strict,
  ),
);

const Replay = jsonComponent(
  "WebhookReplay",
  Type.Object(
    {
      since: Type.String({
        format: moment,
        maxLength: 40,
        description: "RFC 3339: events that were announced at this time or later, within the last 30 days.",
        examples: ["2025-11-21T08:30:00.000Z"],
      }),
      until: Type.Optional(
        Type.String({
          format: moment,
          maxLength: 40,
          description: "RFC 3339: events that were announced before this time; by default now.",
          examples: ["2025-11-21T10:00:00.000Z"],
        }),
      ),
      event_types: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
          minItems: 1,
          maxItems: 100,
          description: "Only these codes; by default those that the endpoint subscribes to.",
          examples: [["payment.succeeded"]],
        }),
      ),
    },
    strict,
  ),
);

export function webhookRunRoutes(context: GatewayContext, { webhooks }: Pick<Peers, "webhooks">): void {
  retryFailed(context, webhooks);
  replayEvents(context, webhooks);
  readRun(context, webhooks);
}

function retryFailed(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "retryFailedWebhookDeliveries",
    method: "POST",
    path: "/v1/merchants/me/webhooks/:id/retry-failed",
    scope: "merchant:write",
    tag,
    summary: "Retry all failed deliveries",
    description:
      "Queues all failed deliveries of the endpoint since a time again, in the background. A repeat is safe: a pending delivery is not queued twice.",
    params: Type.Object({ id: endpointId }),
    body: RetryFailed,
    response: RetryRunJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params, body }) => {
      const since = momentOf("since", body.since);
      return presentMessage(
        RetryRunJson,
        (await webhooks.retryFailedDeliveries({ merchantId, environment, endpointId: params.id, since })).run,
      );
    },
  });
}

function replayEvents(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "replayWebhookEvents",
    method: "POST",
    path: "/v1/merchants/me/webhooks/:id/replay",
    scope: "merchant:write",
    tag,
    summary: "Send missed events",
    description:
      "Queues the events of a time for which the endpoint has no delivery, because it was registered later or was disabled, in the background and oldest first. `GET …/retry-runs/{run_id}` reports the progress. A repeat is safe: an event never gets a second delivery to an endpoint.",
    params: Type.Object({ id: endpointId }),
    body: Replay,
    response: RetryRunJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params, body }) => {
      const { event_types: eventTypes = [] } = body;
      const since = momentOf("since", body.since);
      const until = body.until === undefined ? undefined : momentOf("until", body.until);
      const range = { since, ...(until && { until }), eventTypes };
      const { run } = await webhooks.replayEvents({ merchantId, environment, endpointId: params.id, ...range });
      return presentMessage(RetryRunJson, run);
    },
  });
}

function readRun(context: GatewayContext, webhooks: Peers["webhooks"]): void {
  merchantRoute(context, {
    id: "getWebhookRetryRun",
    method: "GET",
    path: "/v1/merchants/me/webhooks/:id/retry-runs/:run_id",
    scope: "merchant:read",
    tag,
    summary: "Read the progress of a retry run",
    description: "Of `retry-failed` or `replay`. A run is `finished` when all its deliveries are queued.",
    params: Type.Object({ id: endpointId, run_id: runId }),
    response: RetryRunJson,
    errors: ["not_found"],
    handle: async ({ principal: { merchantId, environment }, params }) => {
      const { run } = await webhooks.getRetryRun({ merchantId, environment, runId: params.run_id });
      if (run?.endpointId !== params.id) throw new Failure("NOT_FOUND");
      return presentMessage(RetryRunJson, run);
    },
  });
}
