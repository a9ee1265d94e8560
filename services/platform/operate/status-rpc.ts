// status.v1 of a service: its schema, its outbox and its stream, the jobs of the process that answers, and what is
// known of an event, for operators. Answers from what it can reach within a moment.
import { hostname } from "node:os";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { copiesOf } from "#platform/broker/streams.ts";
import { schemaState } from "#platform/database/migrate.ts";
import type { StreamState } from "#platform/events/event-bus.ts";
import { readEventStory } from "#platform/events/event-story.ts";
import { outboxState } from "#platform/events/outbox.ts";
import type { WatchedJob } from "#platform/jobs/job-metrics.ts";
import type { StatusService } from "#proto/status/v1/status_pb.ts";
import type { StateSources } from "./state-metrics.ts";

/** The methods of StatusService. */
export function statusRpc({ service, db, bus, watch }: StateSources): ServiceImpl<typeof StatusService> {
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
        jobs: watch.jobs.map(jobOf),
        takesWrites,
        schema,
        outbox: {
          waiting: BigInt(outbox.waiting),
          ...(outbox.oldestAt && { oldestAt: timestampFromDate(outbox.oldestAt) }),
        },
        ...(events && (events === "missing" ? { streamMissing: true } : { stream: streamOf(events) })),
      };
    },
    tellEvent: async ({ eventId }) => await readEventStory(db, eventId),
  };
}

function jobOf(job: WatchedJob) {
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
