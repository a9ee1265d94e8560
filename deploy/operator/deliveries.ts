// `operator endpoints …` and `operator deliveries …`: where a merchant's webhooks go, and sending them again.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Delivery } from "#proto/webhook/v1/webhook_pb.ts";
import { type Commands, type Given, type Row, UsageError } from "./command.ts";
import { environmentName, environmentOf, limitOption, liveOption, pages, timeText } from "./wire.ts";

export const endpoints: Commands = {
  list: {
    about: "lists a merchant's webhook endpoints",
    words: ["merchant"],
    options: liveOption,
    run: async (peers, given) => {
      const { endpoints: found } = await peers.webhooks.listEndpoints(ownerOf(given));
      return {
        rows: found.map(({ id, url, status, environment, eventTypes, createdAt }) => {
          const rest = {
            environment: environmentName(environment),
            events: eventTypes,
            created_at: timeText(createdAt),
          };
          return { id, url, status, ...rest };
        }),
      };
    },
  },
};

export const deliveries: Commands = {
  list: {
    about: "lists an endpoint's deliveries, newest first",
    words: ["merchant", "endpoint"],
    options: {
      status: { value: "status", about: "only pending, delivered or failed ones" },
      ...limitOption,
      ...liveOption,
    },
    run: async (peers, given) => {
      const found = await pages(given, async (page) => {
        const wanted = { ...ownerOf(given), endpointId: given.word("endpoint"), status: given.text("status"), ...page };
        const answer = await peers.webhooks.listDeliveries(wanted);
        return { items: answer.deliveries, nextPageToken: answer.nextPageToken };
      });
      return { rows: found.map(rowOf) };
    },
  },
  retry: {
    about: "queues a delivery again, now",
    words: ["merchant", "endpoint", "delivery"],
    options: liveOption,
    run: async (peers, given) => {
      const delivery = { endpointId: given.word("endpoint"), deliveryId: given.word("delivery") };
      await peers.webhooks.retryDelivery({ ...ownerOf(given), ...delivery });
      return { rows: [{ id: delivery.deliveryId, queued: true }] };
    },
  },
  "retry-failed": {
    about: "queues every failed delivery of an endpoint again, oldest first",
    words: ["merchant", "endpoint"],
    options: {
      since: { value: "time", about: "only those queued at this time or later, RFC 3339 or YYYY-MM-DD", needed: true },
      ...liveOption,
    },
    run: async (peers, given) => {
      const since = new Date(given.text("since"));
      if (Number.isNaN(since.getTime())) throw new UsageError("--since must be a time, RFC 3339 or YYYY-MM-DD");
      const wanted = { ...ownerOf(given), endpointId: given.word("endpoint"), since: timestampFromDate(since) };
      const { run } = await peers.webhooks.retryFailedDeliveries(wanted);
      return {
        rows: run ? [{ run: run.id, status: run.status, total: Number(run.total), queued: Number(run.queued) }] : [],
      };
    },
  },
};

function ownerOf(given: Given) {
  return { merchantId: given.word("merchant"), environment: environmentOf(given) };
}

function rowOf({
  id,
  eventType,
  attempts,
  delivered,
  failed,
  statusCode,
  lastError,
  nextAttemptAt,
  createdAt,
}: Delivery): Row {
  const status = delivered ? "delivered" : failed ? "failed" : "pending";
  const last = { http_status: statusCode || "", last_error: lastError, next_attempt_at: timeText(nextAttemptAt) };
  return { id, event_type: eventType, status, attempts, ...last, created_at: timeText(createdAt) };
}
