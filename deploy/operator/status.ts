// `operator status …`: schema, outbox and streams of every service, as one of its replicas tells them.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/failure.ts";
import type { GetStatusResponse } from "#proto/status/v1/status_pb.ts";
import type { Commands, Row } from "./command.ts";
import { type OperatorPeers, type ServiceName, serviceNames } from "./peers.ts";

export const status: Commands = {
  services: {
    about: "one line for each service: whether it answers, its schema, its outbox; exit code 1 unless all is well",
    run: async (peers) => {
      const rows = await Promise.all(serviceNames.map((service) => summary(peers, service)));
      return { rows, isBad: rows.some((row) => row.answers !== true || Number(row.migrations_missing) > 0) };
    },
  },
  schema: {
    about: "the migrations of each database: applied, missing, or of a newer release",
    run: async (peers) => {
      const states = await Promise.all(serviceNames.map((service) => peers.status[service].getStatus({})));
      const rows = states.flatMap(({ service, schema }) => [
        ...(schema?.applied ?? []).map((file) => ({ service, file, state: "applied" })),
        ...(schema?.missing ?? []).map((file) => ({ service, file, state: "missing" })),
        ...(schema?.newer ?? []).map((file) => ({ service, file, state: "newer release" })),
      ]);
      return { rows, isBad: rows.some((row) => row.state === "missing") };
    },
  },
  streams: {
    about: "each JetStream stream and its durable consumers: what waits, what is not acknowledged",
    run: async (peers) => {
      const states = await Promise.all(serviceNames.map((service) => peers.status[service].getStatus({})));
      const away = states.filter((state) => !state.stream).map((state) => state.service);
      const remark = away.length > 0 ? { remark: `the broker does not answer ${away.join(", ")}` } : {};
      return { rows: states.flatMap(streamRows), isBad: away.length > 0, ...remark };
    },
  },
};

async function summary(peers: OperatorPeers, service: ServiceName): Promise<Row> {
  try {
    const { schema, outbox, stream } = await peers.status[service].getStatus({});
    return {
      service,
      answers: true,
      broker: stream !== undefined,
      migrations_applied: schema?.applied.length ?? 0,
      migrations_missing: schema?.missing.length ?? 0,
      outbox_waiting: Number(outbox?.waiting ?? 0n),
      outbox_oldest_seconds: outbox?.oldestAt ? Math.round((Date.now() - timestampMs(outbox.oldestAt)) / 1_000) : 0,
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { service, answers: false, problem: error.reason };
  }
}

function streamRows({ stream }: GetStatusResponse): Row[] {
  if (!stream) return [];
  const { name, messages, bytes, replicas, replicasCurrent } = stream;
  const own = {
    stream: name,
    messages: Number(messages),
    bytes: Number(bytes),
    copies: `${replicasCurrent}/${replicas}`,
  };
  if (stream.consumers.length === 0) return [own];
  return stream.consumers.map((consumer) => ({
    ...own,
    consumer: consumer.name,
    pending: Number(consumer.pending),
    unacknowledged: Number(consumer.unacknowledged),
    redelivered: Number(consumer.redelivered),
  }));
}
