// `tollbooth endpoints …` and `tollbooth deliveries …`: a merchant's webhook endpoints, the history of a delivery, and
// retries.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import { isId } from "#platform/values/id.ts";
import type { Delivery } from "#proto/webhook/v1/webhook_pb.ts";
import { type Answer, type CommandInput, type Commands, type Row, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { environmentName, environmentOf, limitOption, liveOption, readPages, timeText } from "../wire.ts";
import { inOrder, type Line, linesOfDeliveries } from "./story.ts";

export const endpoints: Commands = {
  list: {
    about: "lists a merchant's webhook endpoints",
    args: ["merchant"],
    options: liveOption,
    run: async (peers, input) => {
      const { endpoints: found } = await peers.webhooks.listEndpoints(ownerOf(input));
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
  show: {
    about:
      "shows the history of a delivery in time order, of any merchant and environment: its event, its endpoint, every attempt with response and duration, and the next attempt",
    args: ["delivery"],
    run: async (peers, input) => await showDelivery(peers, input.arg("delivery")),
  },
  list: {
    about: "lists an endpoint's deliveries, newest first",
    args: ["merchant", "endpoint"],
    options: {
      status: { value: "status", about: "pending, delivered or failed" },
      ...limitOption,
      ...liveOption,
    },
    run: async (peers, input) => {
      const found = await readPages(input, async (page) => {
        const wanted = { ...ownerOf(input), endpointId: input.arg("endpoint"), status: input.text("status"), ...page };
        const answer = await peers.webhooks.listDeliveries(wanted);
        return { items: answer.deliveries, nextPageToken: answer.nextPageToken };
      });
      return { rows: found.map(rowOf) };
    },
  },
  retry: {
    about: "retries a delivery now",
    args: ["merchant", "endpoint", "delivery"],
    options: liveOption,
    run: async (peers, input) => {
      const delivery = { endpointId: input.arg("endpoint"), deliveryId: input.arg("delivery") };
      await peers.webhooks.retryDelivery({ ...ownerOf(input), ...delivery });
      return { rows: [{ id: delivery.deliveryId, queued: true }] };
    },
  },
  "retry-failed": {
    about: "retries every failed delivery of an endpoint, oldest first",
    args: ["merchant", "endpoint"],
    options: {
      since: { value: "time", about: "deliveries since this time, RFC 3339 or YYYY-MM-DD", needed: true },
      ...liveOption,
    },
    run: async (peers, input) => {
      const since = new Date(input.text("since"));
      if (Number.isNaN(since.getTime())) throw new UsageError("--since must be a time, RFC 3339 or YYYY-MM-DD");
      const wanted = { ...ownerOf(input), endpointId: input.arg("endpoint"), since: timestampFromDate(since) };
      const { run } = await peers.webhooks.retryFailedDeliveries(wanted);
      return {
        rows: run ? [{ run: run.id, status: run.status, total: Number(run.total), queued: Number(run.queued) }] : [],
      };
    },
  },
};

async function showDelivery(peers: OperatorPeers, id: string): Promise<Answer> {
  if (!isId("delivery", id)) throw new UsageError("a delivery's id is whd_ and 26 characters");
  const found = await peers.webhooks.findDelivery({ deliveryId: id }).catch((error: unknown) => {
    if (error instanceof Failure && error.reason === "NOT_FOUND") return undefined;
    throw error;
  });
  if (!found) return { rows: [], remark: `${id} not found: it never existed or is older than 94 days`, isBad: true };
  const { delivery, merchantId, environment, endpointId, endpointOrigin, endpointStatus, eventId, paymentId } = found;
  const whose = `of ${merchantId}, ${environmentName(environment)}`;
  const about = eventId === "" ? "a test event" : `${delivery?.eventType} about ${paymentId}`;
  const at = delivery?.createdAt;
  const lines: Line[] = [
    { at, part: "event", id: eventId || id, what: about },
    { at, part: "endpoint", id: endpointId, what: `${endpointOrigin}, ${endpointStatus}, ${whose}` },
    ...(await linesOfDeliveries(peers, merchantId, [{ endpointId, delivery }])),
  ];
  if (found.finishedAt)
    lines.push({ at: found.finishedAt, part: "delivery", id, what: delivery?.delivered ? "delivered" : "given up" });
  return { rows: inOrder(lines), remark: `${id}: ${whose}; ${about}` };
}

function ownerOf(input: CommandInput) {
  return { merchantId: input.arg("merchant"), environment: environmentOf(input) };
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
