// `tollbooth status …`: schema, outbox and streams of every service, as one of its replicas tells them, and the jobs of
// each process.
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Failure } from "#platform/values/failure.ts";
import type { GetStatusResponse, Job, Stream } from "#proto/status/v1/status_pb.ts";
import type { Commands, Row } from "../command.ts";
import { type OperatorPeers, type ServiceName, serviceNames } from "../peers.ts";

export const status: Commands = {
  services: {
    about:
      "one line for each process of each service that its address leads to: whether it answers, recovers, takes writes, has the broker and its stream there, how full that is, its schema, its outbox, its jobs that are late or hang; what is wrong is said below; exit code 1 unless all is well",
    run: async (peers) => {
      const found = (await Promise.all(serviceNames.map((service) => processesOf(peers, service)))).flat();
      const problems = found.flatMap(problemsOf);
      return { rows: found, isBad: problems.length > 0, ...(problems.length > 0 && { remark: problems.join("\n") }) };
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
      const without = states.filter((state) => !state.stream);
      const named = (found: typeof states) => found.map((state) => state.service).join(", ");
      const missing = named(without.filter((state) => state.streamMissing));
      const away = named(without.filter((state) => !state.streamMissing));
      const remarks = [
        ...(away === "" ? [] : [`the broker does not answer ${away}`]),
        ...(missing === "" ? [] : [`the broker has no stream of ${missing}: the service makes it within seconds`]),
      ];
      return {
        rows: states.flatMap(streamRows),
        isBad: without.length > 0,
        ...(remarks.length > 0 && { remark: remarks.join("; ") }),
      };
    },
  },
};

// As TollboothOutboxLag has it.
const outboxSecondsMax = 60;
/** As TollboothStreamFilling. */
const streamPercentMax = 70;
// A failing job is tried again within half a minute, so it is late by more than this only if it goes on failing.
const lateSecondsMax = 60;
// As TollboothJobHangs has it.
const hangsShare = 0.6;

interface Summary extends Row {
  readonly service: string;
  readonly process: string;
  readonly answers: boolean;
}

async function processesOf(peers: OperatorPeers, service: ServiceName): Promise<Summary[]> {
  const replicas = await peers.statusOfEach(service);
  return await Promise.all(replicas.map((replica) => summary(peers, service, replica)));
}

async function summary(
  peers: OperatorPeers,
  service: ServiceName,
  replica: OperatorPeers["status"][ServiceName],
): Promise<Summary> {
  try {
    const { process, jobs, takesWrites, schema, outbox, stream, streamMissing } = await replica.getStatus({});
    const { why } = await peers.recovery[service].getRecovery({ limit: 0 });
    return {
      service,
      process,
      answers: true,
      recovering: why !== "",
      // The release before does not say.
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

/** What a person has to know of the job; nothing: it runs. */
export function jobProblem({ name, lateSeconds, runningSeconds, limitSeconds, failures }: Job): string[] {
  if (Number(runningSeconds) > hangsShare * Number(limitSeconds))
    return [`${name} hangs: its run has lasted ${runningSeconds} s, and at ${limitSeconds} s the process ends itself`];
  // A long run may be rightful, and its limit is watched above.
  if (Number(lateSeconds - runningSeconds) <= lateSecondsMax) return [];
  return [
    `${name} is late by ${lateSeconds} s${failures > 0n ? `, and has failed ${failures} times since it worked` : ""}`,
  ];
}

/** One sentence for each thing that is not as it should be. */
function problemsOf(row: Summary): string[] {
  const { service, process } = row;
  if (!row.answers) return [`${service} does not answer: ${row.problem}`];
  const jobs = [row.jobs].flat().map((job) => `job ${job}`);
  const waits = `${row.outbox_waiting} events wait in its outbox, the oldest for ${row.outbox_oldest_seconds} s: webhooks are late`;
  const wrong: [boolean, string][] = [
    [row.recovering === true, "recovers, and begins nothing new (tollbooth recovery status)"],
    [row.takes_writes !== true, "its database takes no writes: read-only, full, or waiting for a standby"],
    [row.broker !== true, "the broker does not answer it"],
    [row.broker === true && row.stream !== true, "the broker has no stream of it: it makes it within seconds"],
    [row.migrations_missing !== 0, `${row.migrations_missing} migrations are missing`],
    [Number(row.outbox_oldest_seconds) > outboxSecondsMax, waits],
  ];
  const stream = streamProblem(Number(row.stream_percent));
  const problems = [...wrong.flatMap(([isWrong, what]) => (isWrong ? [what] : [])), ...stream, ...jobs];
  return problems.map((what) => `${service}${process && ` (${process})`}: ${what}`);
}

/** What a person has to know of a stream that is so full; nothing: it has room. */
export function streamProblem(percent: number): string[] {
  if (percent <= streamPercentMax) return [];
  return [
    `its stream holds ${percent} % of what it may, and refuses events at 100: see deploy/runbooks/stream-filling.md`,
  ];
}

/** How full a stream is, rounded up; one without a limit never is. */
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
