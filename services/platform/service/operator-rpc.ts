// Operator RPCs of every service: status (schema, outbox, stream, jobs, one event's history), replay of events,
// and recovery. Answers come within a moment, from what is reachable.
import { hostname } from "node:os";
import { fromBinary } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { messageFields } from "#platform/database/columns.ts";
import { parseTime, type Sql } from "#platform/database/database.ts";
import { schemaState } from "#platform/database/schema-state.ts";
import type { StreamState } from "#platform/events/event-bus.ts";
import { Outbox, outboxState } from "#platform/events/outbox.ts";
import { readRecord, sendAgain, sendAgainMax } from "#platform/events/stream-record.ts";
import { copiesOf } from "#platform/events/streams.ts";
import type { RunningJob } from "#platform/process/job.ts";
import { defineRpc, type RpcService } from "#platform/rpc/server.ts";
import { clockNow } from "#platform/values/clock.ts";
import { invalidField } from "#platform/values/failure.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { ReplayService } from "#proto/events/v1/replay_pb.ts";
import { Environment } from "#proto/merchant/v1/merchant_pb.ts";
import { RecoveryService } from "#proto/status/v1/recovery_pb.ts";
import { StatusService } from "#proto/status/v1/status_pb.ts";
import { durableConsumers } from "../../services.ts";
import type { Recovery } from "./recovery.ts";
import {
  announcedSince,
  beginRecovery,
  endRecovery,
  type LostEvent,
  listRecoveryActions,
  missingEvents,
  type OwnEvent,
  readFence,
  recordAction,
  serverOf,
  takeBackEvents,
} from "./recovery-store.ts";
import type { StateSources } from "./state-metrics.ts";

export function operatorRpc(sources: StateSources, recovery: Recovery): readonly RpcService[] {
  return [
    defineRpc(StatusService, statusRpc(sources)),
    defineRpc(ReplayService, replayRpc(sources)),
    defineRpc(RecoveryService, recoveryRpc(sources, recovery)),
  ];
}

function statusRpc({ service, db, bus, watch }: StateSources): ServiceImpl<typeof StatusService> {
  return {
    getStatus: async () => {
      const [schema, outbox, takesWrites, events] = await Promise.all([
        schemaState(db, service),
        outboxState(db),
        db.takesWrites(),
        bus.state(service),
      ]);
      return {
        service,
        process: `${hostname()}/${process.pid}`,
        jobs: [...watch.jobs].map(jobOf),
        takesWrites,
        schema,
        outbox: { ...messageFields(outbox), waiting: BigInt(outbox.waiting) },
        ...(events && (events === "missing" ? { streamMissing: true } : { stream: streamOf(events) })),
      };
    },
    tellEvent: async ({ eventId }) => {
      const [announced, takenIn] = await Promise.all([announcedEvent(db, eventId), consumersOf(db, eventId)]);
      return { ...(announced && { announced }), takenIn };
    },
  };
}

function jobOf(job: RunningJob) {
  const seconds = (ms: number) => BigInt(Math.floor(ms / 1_000));
  return {
    name: job.name,
    lateSeconds: seconds(job.lateMs()),
    runningSeconds: seconds(job.runningMs()),
    limitSeconds: seconds(job.limitMs),
    failures: BigInt(job.failures),
  };
}

function streamOf({ stream, consumers }: StreamState) {
  const copies = copiesOf(stream);
  return {
    name: stream.config.name,
    messages: BigInt(stream.state.messages),
    bytes: BigInt(stream.state.bytes),
    bytesMax: BigInt(Math.max(0, stream.config.max_bytes)),
    replicas: copies.wanted,
    replicasCurrent: copies.current,
    consumers: consumers.map((consumer) => ({
      name: consumer.name,
      pending: BigInt(consumer.num_pending),
      unacknowledged: BigInt(consumer.num_ack_pending),
      redelivered: BigInt(consumer.num_redelivered),
    })),
  };
}

// A service's knowledge of one event by unique keys: its own announcement, and the consumers that applied it.

async function announcedEvent(sql: Sql, eventId: string) {
  const [row] = await sql.rows<{
    body: Buffer;
    created_at: string;
    published_at: string | null;
    stream_seq: string | null;
  }>("select body, created_at, published_at, stream_seq from outbox where event_id = $1", [eventId]);
  if (!row) return undefined;
  // Attributes are omitted: some contain text typed by people.
  const { type, merchantId, objectId, status, actor, requestId, occurredAt } = fromBinary(EventSchema, row.body);
  return {
    ...{ type, merchantId, objectId, status, actor, requestId },
    ...(occurredAt && { occurredAt }),
    ...messageFields({ committedAt: parseTime(row.created_at), publishedAt: parseTime(row.published_at) }),
    streamSequence: BigInt(row.stream_seq ?? 0),
  };
}

/** The inbox's key starts with the consumer, so all consumers are listed. */
const consumers = [...new Set(Object.values(durableConsumers).map(({ name }) => name))];

async function consumersOf(sql: Sql, eventId: string) {
  const rows = await sql.rows<{ consumer: string; received_at: string }>(
    "select consumer, received_at from inbox where consumer = any($1::text[]) and event_id = $2 order by received_at",
    [consumers, eventId],
  );
  return rows.map(({ consumer, received_at }) => ({ consumer, at: timestampFromDate(parseTime(received_at)) }));
}

// events.v1.ReplayService: resends published events from the outbox. It first announces `events.replay_requested`
// (attributes `since`, `until`, `operator`) for the audit log.

function replayRpc({ service, db, bus }: StateSources): ServiceImpl<typeof ReplayService> {
  const outbox = new Outbox({ namespace: bus.namespace, source: service });
  return {
    replayEvents: async ({ since: from, until: to, operator }) => {
      const since = from ? timestampDate(from) : clockNow();
      const until = to ? timestampDate(to) : clockNow();
      if (until <= since) throw invalidField("until", "must be after since");
      const { readAt: asOf } = await readRecord(db);
      const attributes = { since: since.toISOString(), until: until.toISOString(), operator };
      const about = { merchantId: "", environment: Environment.UNSPECIFIED, objectId: service, status: "" };
      await outbox.append(db, [{ type: "events.replay_requested", ...about, at: clockNow(), attributes }]);
      let events = 0;
      for (let sent = sendAgainMax; sent === sendAgainMax; events += sent) {
        sent = await sendAgain(db, { since, until, asOf });
      }
      return { events: BigInt(events) };
    },
  };
}

// status.v1.RecoveryService, in proto order.

const actsMax = 100;
const lostPageMax = 500;

function recoveryRpc({ service, db, bus }: StateSources, recovery: Recovery): ServiceImpl<typeof RecoveryService> {
  const outbox = new Outbox({ namespace: bus.namespace, source: service });
  return {
    getRecovery: async ({ limit }) => {
      const [{ why, since }, { events, left, taken: restored }, acts] = await Promise.all([
        readFence(db),
        missingEvents(db, limit),
        listRecoveryActions(db, actsMax),
      ]);
      return {
        service,
        why,
        ...(since && { since: timestampFromDate(since) }),
        eventsMissing: BigInt(left),
        eventsTakenBack: BigInt(restored),
        events: events.map(eventMessage),
        acts: acts.map(messageFields),
      };
    },
    beginRecovery: async ({ operator, note }) => {
      const begun = await beginRecovery(db, { operator, note });
      await recovery.checkDatabase();
      return { begun };
    },
    takeBackEvents: async ({ operator }) => {
      const restored = await db.transaction(async (tx) => {
        const count = await takeBackEvents(tx);
        if (count > 0) await recordAction(tx, { act: "events_taken_back", operator, note: `${count} events` });
        return count;
      });
      const { left } = await missingEvents(db, 0);
      return { takenBack: BigInt(restored), left: BigInt(left) };
    },
    listLostEvents: async ({ after }) => {
      const events = await announcedSince(db, after, lostPageMax);
      const next = BigInt(events.length === lostPageMax ? (events.at(-1)?.streamSeq ?? 0) : 0);
      return { events: events.map(lostMessage), next };
    },
    endRecovery: async ({ operator, note, anyway }) => {
      const decision = { operator, note: anyway ? `anyway: ${note}` : note, server: await serverOf(db) };
      const about = { merchantId: "", environment: Environment.UNSPECIFIED, objectId: service, status: "" };
      const attributes = { operator, note, anyway: String(anyway) };
      const ended = await endRecovery(db, decision, (tx) =>
        outbox.append(tx, [{ type: "events.recovery_ended", ...about, at: clockNow(), attributes }]),
      );
      await recovery.checkDatabase();
      return { ended };
    },
  };
}

function lostMessage({ takenBack, doneAgain, ...event }: LostEvent) {
  const { environment } = fromBinary(EventSchema, event.body);
  return { event: eventMessage(event), takenBack, doneAgain, environment };
}

function eventMessage({ id, body }: OwnEvent) {
  const { type, merchantId, objectId, occurredAt } = fromBinary(EventSchema, body);
  return { id, type, merchantId, objectId, ...(occurredAt && { occurredAt }) };
}
