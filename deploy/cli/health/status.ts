// `tollbooth status …`: schema, outbox and streams of every service from one of its replicas, and the jobs of each
// process.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import type { GetStatusResponse, Job, Stream } from "#proto/status/v1/status_pb.ts";
import { type Source, sources } from "../../../services/services.ts";
import type { Commands, Row } from "../command.ts";
import type { OperatorPeers } from "../peers.ts";

export const status: Commands = {
  services: {
    about:
      "one line per process of each service: whether it answers, is in recovery, takes writes and reaches the broker and its stream, how full the stream is, its migrations, its outbox, and late or hanging jobs; problems are listed below; exit code 1 if there are any",
    run: async (peers) => {
      const found = (await Promise.all(sources.map((service) => processesOf(peers, service)))).flat();
      const problems = found.flatMap(problemsOf);
      return { rows: found, isBad: problems.length > 0, ...(problems.length > 0 && { remark: problems.join("\n") }) };
    },
  },
  schema: {
    about: "the migrations of each database: applied, missing or from a newer release",
    run: async (peers) => {
      const states = await Promise.all(sources.map((service) => peers.status[service].getStatus({})));
      const rows = states.flatMap(({ service, schema }) => [
        ...(schema?.applied ?? []).map((file) => ({ service, file, state: "applied" })),
        ...(schema?.missing ?? []).map((file) => ({ service, file, state: "missing" })),
        ...(schema?.newer ?? []).map((file) => ({ service, file, state: "newer release" })),
      ]);
      return { rows, isBad: rows.some((row) => row.state === "missing") };
    },
  },
  streams: {
    about: "each JetStream stream and its durable consumers: pending and unacknowledged messages",
    run: async (peers) => {
      const states = await Promise.all(sources.map((service) => peers.status[service].getStatus({})));
      const without = states.filter((state) => !state.stream);
      const named = (found: typeof states) => found.map((state) => state.service).join(", ");
      const missing = named(without.filter((state) => state.streamMissing));
      const away = named(without.filter((state) => !state.streamMissing));
      const remarks = [
        ...(away === "" ? [] : [`the broker is unavailable to ${away}`]),
        ...(missing === "" ? [] : [`the broker has no stream of ${missing}: the service creates it within seconds`]),
      ];
      return {
        rows: states.flatMap(streamRows),
        isBad: without.length > 0,
        ...(remarks.length > 0 && { remark: remarks.join("; ") }),
      };
    },
  },
};

// As in TollboothOutboxLag.
const outboxSecondsMax = 60;
/** As in TollboothStreamFilling. */
const streamPercentMax = 70;
// A failing job is retried within half a minute, so it exceeds this only if it fails repeatedly.
const lateSecondsMax = 60;
// As in TollboothJobHangs.
const hangsShare = 0.6;

interface Summary extends Row {
  readonly service: string;
  readonly process: string;
  readonly answers: boolean;
}

async function processesOf(peers: OperatorPeers, service: Source): Promise<Summary[]> {
  const replicas = await peers.statusOfEach(service);
  return await Promise.all(replicas.map((replica) => summary(peers, service, replica)));
}

async function summary(
  peers: OperatorPeers,
  service: Source,
  replica: OperatorPeers["status"][Source],
): Promise<Summary> {
  try {
    const { process, jobs, takesWrites, schema, outbox, stream, streamMissing } = await replica.getStatus({});
    const { why } = await peers.recovery[service].getRecovery({ limit: 0 });
    return {
      service,
      process,
      answers: true,
      recovering: why !== "",
      // The previous release does not report it.
      takes_writes: takesWrites || process === "",
      broker: stream !== undefined || streamMissing,
      stream: stream !== undefined,
      stream_percent: stream ? percentOf(stream) : 0,
      migrations_applied: schema?.applied.length ?? 0,
      migrations_missing: schema?.missing.length ?? 0,
      outbox_waiting: Number(outbox?.waiting ?? 0n),
      outbox_oldest_seconds: outbox?.oldestAt ? Math.round((Date.now() - timestampMs(outbox.oldestAt)) / 1_000) : 0,
      jobs: jobs.flatMap(jobProblem),
    };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { service, process: "", answers: false, problem: error.reason };
  }
}

/** Problems of a job for the operator. */
export function jobProblem({ name, lateSeconds, runningSeconds, limitSeconds, failures }: Job): string[] {
  if (Number(runningSeconds) > hangsShare * Number(limitSeconds))
    return [`${name} hangs: it has run for ${runningSeconds} s, and the process exits at ${limitSeconds} s`];
  // A long run is legitimate up to its limit, which the line above checks.
  if (Number(lateSeconds - runningSeconds) <= lateSecondsMax) return [];
  return [`${name} is late by ${lateSeconds} s${failures > 0n ? ` after ${failures} failures` : ""}`];
}

/** One sentence per problem. */
function problemsOf(row: Summary): string[] {
  const { service, process } = row;
  if (!row.answers) return [`${service} does not answer: ${row.problem}`];
  const jobs = [row.jobs].flat().map((job) => `job ${job}`);
  const waits = `${row.outbox_waiting} events wait in its outbox, the oldest for ${row.outbox_oldest_seconds} s: webhooks are late`;
  const wrong: [boolean, string][] = [
    [row.recovering === true, "is in recovery and refuses new work (tollbooth recovery status)"],
    [row.takes_writes !== true, "its database takes no writes: read-only, full, or waiting for a standby"],
    [row.broker !== true, "it cannot reach the broker"],
    [row.broker === true && row.stream !== true, "its stream is missing at the broker: it creates it within seconds"],
    [row.migrations_missing !== 0, `${row.migrations_missing} migrations are missing`],
    [Number(row.outbox_oldest_seconds) > outboxSecondsMax, waits],
  ];
  const stream = streamProblem(Number(row.stream_percent));
  const problems = [...wrong.flatMap(([isWrong, what]) => (isWrong ? [what] : [])), ...stream, ...jobs];
  return problems.map((what) => `${service}${process && ` (${process})`}: ${what}`);
}

/** A warning for a stream that is nearly full. */
export function streamProblem(percent: number): string[] {
  if (percent <= streamPercentMax) return [];
  return [`its stream is ${percent} % full and rejects events at 100: see deploy/runbooks/stream-filling.md`];
}

/** Usage of a stream, rounded up; 0 without a limit. */
export function percentOf({ bytes, bytesMax }: Stream): number {
  return bytesMax > 0n ? Math.ceil((100 * Number(bytes)) / Number(bytesMax)) : 0;
}

function streamRows({ stream }: GetStatusResponse): Row[] {
  if (!stream) return [];
  const { name, messages, bytes, bytesMax, replicas, replicasCurrent } = stream;
  const own = {
    stream: name,
    messages: Number(messages),
    bytes: Number(bytes),
    bytes_max: Number(bytesMax),
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
