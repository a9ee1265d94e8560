// `tollbooth events …`: what became of one, and sending events again that services published, for those who follow them
// and have lost what they knew.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { isId } from "#platform/values/id.ts";
import type { Announced } from "#proto/status/v1/status_pb.ts";
import { type Answer, type CommandInput, type Commands, type Row, UsageError } from "../command.ts";
import { type OperatorPeers, type ServiceName, serviceNames } from "../peers.ts";
import { timeOf } from "../wire.ts";
import { inOrder, type Line, linesOfDeliveries, missingText, whileAway } from "./story.ts";

// An object's acts are few.
const auditMax = 200;

export const events: Commands = {
  show: {
    about:
      "the whole story of an event in time order: who announced it, when it was published and at which place of the stream, who took it in, the audit entry and the deliveries made of it, each with its attempts",
    args: ["event"],
    run: async (peers, input) => await showEvent(peers, input.arg("event")),
  },
  replay: {
    about:
      "publishes again what services committed since a time, at most 8 days ago; who follows drops what it knows. Needed where a follower's database is restored from an older copy; what the broker loses is sent again without it",
    options: {
      since: { value: "time", about: "2026-11-23T08:00:00Z, by when the events happened", needed: true },
      until: { value: "time", about: "before this time; now unless given" },
      source: { value: "service", about: "of this service only, e.g. payments; may be repeated", multiple: true },
      by: { value: "name", about: "who does this: a name or an e-mail, kept in the audit log", needed: true },
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
  // An id does not say who announced it.
  const answers = (
    await Promise.all(
      serviceNames.map((service) =>
        from(
          service,
          peers.status[service].tellEvent({ eventId: id }).then((answer) => [{ service, ...answer }]),
        ),
      ),
    )
  ).flat();
  const lines: Line[] = answers.flatMap(({ service, takenIn }) =>
    takenIn.map(({ consumer, at }) => ({ at, part: "inbox", id, what: `taken in by ${consumer} of ${service}` })),
  );
  const owner = answers.find(({ announced }) => announced !== undefined);
  if (!owner?.announced) {
    const known = lines.length > 0 ? "; some have taken it in" : "";
    const remark = `no service that answers has announced ${id}: never committed, or more than 8 days ago${known}`;
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

function announcementLines(id: string, service: ServiceName, event: Announced): Line[] {
  const { type, merchantId, objectId, status, actor, requestId, streamSequence } = event;
  const cause = `by ${actor || "the service itself"}${requestId && `, request ${requestId}`}`;
  const happened = `${type} of ${objectId}${status && `, then ${status}`}, ${cause}`;
  const position = streamSequence > 0n ? ` at place ${streamSequence}` : "";
  const published = event.publishedAt
    ? { at: event.publishedAt, part: "outbox", what: `published into the stream of ${service}${position}` }
    : {
        at: event.committedAt,
        part: "next",
        what: `${service} publishes it: tollbooth status services says what holds it up`,
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
    : [...lines, { part: "next", id: eventId, what: `parked by webhook, tells nobody: ${parked}` }];
}

/** An entry has its event's id. */
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

function sourcesOf(input: CommandInput): readonly ServiceName[] {
  const named = input.list("source");
  const unknown = named.find((name) => !serviceNames.some((each) => each === name));
  if (unknown !== undefined) throw new UsageError(`--source is one of ${serviceNames.join(", ")}, not ${unknown}`);
  return named.length === 0 ? serviceNames : serviceNames.filter((each) => named.includes(each));
}
