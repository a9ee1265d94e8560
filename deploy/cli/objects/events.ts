// `tollbooth events …`: the history of one event, and publishing events again for consumers that lost them.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { isId } from "#platform/values/id.ts";
import type { Announced } from "#proto/status/v1/status_pb.ts";
import { type Source, sources } from "../../../services/services.ts";
import { type Answer, type CommandInput, type Commands, type Row, UsageError } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";
import { timeOf } from "../wire.ts";
import { inOrder, type Line, linesOfDeliveries, missingText, whileAway } from "./story.ts";

// More than one object's audit entries.
const auditMax = 200;

export const events: Commands = {
  show: {
    about:
      "shows the history of an event in time order: its source, its publication and stream position, its consumers, its audit entry, and its deliveries with their attempts",
    args: ["event"],
    run: async (peers, input) => await showEvent(peers, input.arg("event")),
  },
  replay: {
    about:
      "publishes events again that services committed since a time, at most 8 days ago; consumers drop the ones they know. Needed after a consumer's database was restored from an older copy; events that the broker loses are published again automatically",
    options: {
      since: { value: "time", about: "time of the events, such as 2026-11-23T08:00:00Z", needed: true },
      until: { value: "time", about: "exclusive; default: now" },
      source: { value: "service", about: "one service only, such as payments; repeatable", multiple: true },
      by: { value: "name", about: "your name or e-mail, stored in the audit log", needed: true },
    },
    run: async (peers, input) => {
      const [since, until] = [timeOf(input, "since"), timeOf(input, "until")];
      const period = {
        ...(since && { since: timestampFromDate(since) }),
        ...(until && { until: timestampFromDate(until) }),
      };
      const rows: Row[] = [];
      for (const source of sourcesOf(input)) {
        const request = { ...period, operator: input.text("by") };
        const { events: count } = await peers.replay[source].replayEvents(request);
        rows.push({ source, events: Number(count) });
      }
      return { rows };
    },
  },
};

async function showEvent(peers: OperatorPeers, id: string): Promise<Answer> {
  if (!isId("event", id)) throw new UsageError("an event's id is evt_ and 26 characters");
  const { away, from } = whileAway();
  // An event's id does not name its source.
  const answers = (
    await Promise.all(
      sources.map((service) =>
        from(
          service,
          peers.status[service].tellEvent({ eventId: id }).then((answer) => [{ service, ...answer }]),
        ),
      ),
    )
  ).flat();
  const lines: Line[] = answers.flatMap(({ service, takenIn }) =>
    takenIn.map(({ consumer, at }) => ({ at, part: "inbox", id, what: `consumed by ${consumer} of ${service}` })),
  );
  const owner = answers.find(({ announced }) => announced !== undefined);
  if (!owner?.announced) {
    const known = lines.length > 0 ? "; some services have consumed it" : "";
    const remark = `no available service has announced ${id}: never committed, or more than 8 days ago${known}`;
    return { rows: inOrder(lines), remark: remark + missingText(away), isBad: true };
  }
  lines.push(...announcementLines(id, owner.service, owner.announced));
  const { merchantId, objectId, type } = owner.announced;
  if (merchantId !== "") {
    lines.push(...(await from("webhook's deliveries", madeLines(peers, merchantId, id))));
    lines.push(...(await from("merchant's audit log", auditLines(peers, { merchantId, objectId, eventId: id }))));
  }
  const remark = `${id}: ${type} of ${owner.service} about ${objectId}${merchantId && ` of ${merchantId}`}`;
  return { rows: inOrder(lines), remark: remark + missingText(away), isBad: away.length > 0 };
}

function announcementLines(id: string, service: Source, event: Announced): Line[] {
  const { type, merchantId, objectId, status, actor, requestId, streamSequence } = event;
  const cause = `by ${actor || "the service itself"}${requestId && `, request ${requestId}`}`;
  const happened = `${type} of ${objectId}${status && `, then ${status}`}, ${cause}`;
  const position = streamSequence > 0n ? ` at place ${streamSequence}` : "";
  const published = event.publishedAt
    ? { at: event.publishedAt, part: "outbox", what: `published into the stream of ${service}${position}` }
    : {
        at: event.committedAt,
        part: "next",
        what: `${service} will publish it; if it is late, see tollbooth status services`,
      };
  return [
    { at: event.occurredAt, part: "event", id, what: happened },
    { at: event.committedAt, part: "outbox", id, what: `committed by ${service}${merchantId && ` for ${merchantId}`}` },
    { ...published, id },
  ];
}

async function madeLines(peers: OperatorPeers, merchantId: string, eventId: string): Promise<Line[]> {
  const { deliveries, parked } = await peers.webhooks.listEventDeliveries({ merchantId, eventId });
  const lines = await linesOfDeliveries(peers, merchantId, deliveries);
  return parked === ""
    ? lines
    : [...lines, { part: "next", id: eventId, what: `parked by webhook, no deliveries: ${parked}` }];
}

/** An audit entry has the id of its event. */
async function auditLines(
  peers: OperatorPeers,
  { merchantId, objectId, eventId }: { merchantId: string; objectId: string; eventId: string },
): Promise<Line[]> {
  if (objectId === "") return [];
  const { entries } = await peers.audit.listAuditEntries({ merchantId, objectId, pageSize: auditMax });
  return entries
    .filter((entry) => entry.id === eventId)
    .map(({ occurredAt, action }) => ({
      at: occurredAt,
      part: "audit",
      id: eventId,
      what: `${action} in the audit log`,
    }));
}

function sourcesOf(input: CommandInput): readonly Source[] {
  const named = input.list("source");
  const unknown = named.find((name) => !sources.some((each) => each === name));
  if (unknown !== undefined) throw new UsageError(`--source must be one of ${sources.join(", ")}, not ${unknown}`);
  return named.length === 0 ? sources : sources.filter((each) => named.includes(each));
}
