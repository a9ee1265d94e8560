// status.v1 of a service: its schema, its outbox and its stream, for operators. Answers from what it can reach within a moment.
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { StatusService } from "#proto/status/v1/status_pb.ts";
import type { EventBus } from "./event-bus.ts";
import { schemaState } from "./migrate.ts";
import { outboxState } from "./outbox.ts";
import type { StateSources } from "./state-metrics.ts";
import { copiesOf } from "./streams.ts";

/** The method of StatusService. */
export function statusRpc({ service, db, bus }: StateSources): ServiceImpl<typeof StatusService> {
  return {
    getStatus: async () => {
      const [schema, outbox, events] = await Promise.all([
        schemaState(db, service),
        outboxState(db),
        bus.state(service),
      ]);
      return {
        service,
        schema,
        outbox: {
          waiting: BigInt(outbox.waiting),
          ...(outbox.oldestAt && { oldestAt: timestampFromDate(outbox.oldestAt) }),
        },
        ...(events && { stream: streamOf(events) }),
      };
    },
  };
}

function streamOf({ stream, consumers }: NonNullable<Awaited<ReturnType<EventBus["state"]>>>) {
  const copies = copiesOf(stream);
  return {
    name: stream.config.name,
    messages: BigInt(stream.state.messages),
    bytes: BigInt(stream.state.bytes),
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
