// The benchmark of webhook delivery: sustained throughput, latency from commit to receiver, what 200 dead endpoints do to healthy
// ones, memory under hostile receivers, and a claim with a million queued deliveries. Prints one table, with what other processes
// took of the machine meanwhile. Usage: npm run bench:webhooks [-- phase …]; phases: throughput latency memory claim
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { newId } from "#platform/id.ts";
import { eventSubject } from "#platform/streams.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { claimDue, walkLanes } from "../../services/webhook/store/delivery-queue.ts";
import { startHostileServers } from "../flows/webhook-hostile-servers.ts";
import { eventually } from "../harness/eventually.ts";
import { watchOthers } from "./machine.ts";
import { type BenchEndpoint, type Rig, startRig } from "./webhook-rig.ts";

const phases: Record<string, (rig: Rig) => Promise<void>> = { throughput, latency, memory, claim };
const chosen = process.argv.slice(2);

function show(what: string, value: string): void {
  console.log(`${what.padEnd(64)} ${value}`);
}

/** Publishes as fast as the service takes it, in short order of bursts, and waits until all is recorded. */
async function throughput(rig: Rig): Promise<void> {
  const endpoints = await rig.endpoints(64, "/ok");
  await run(rig, endpoints, 5_000);
  for (const events of [30_000, 30_000]) {
    const [service, receivers, pg] = [rig.service.cpuMs(), rig.receivers.cpuMs(), process.cpuUsage()];
    const seconds = await run(rig, endpoints, events);
    const own = process.cpuUsage(pg);
    show("sustained, event to recorded 2xx, 64 endpoints", `${Math.round(events / seconds)}/s`);
    const perEvent = (ms: number) => Math.round((ms * 1_000) / events);
    show(
      "  CPU per delivery, µs: service / receivers / publisher",
      `${perEvent(rig.service.cpuMs() - service)} / ${perEvent(rig.receivers.cpuMs() - receivers)} / ${perEvent((own.user + own.system) / 1_000)}`,
    );
    const [fresh] = await rig.db.rows<{ n: string }>("select count(*) as n from attempts where not reused", []);
    show("  new connections so far", String(fresh?.n));
    show("  resident memory of the service", `${rig.service.residentMb()} MB`);
  }
}

// Published but unacknowledged events of this process.
const inFlightMax = 512;

/** @returns seconds from the first event until the last delivery is recorded */
async function run(rig: Rig, endpoints: readonly BenchEndpoint[], events: number): Promise<number> {
  const before = await recorded(rig);
  const startedAt = performance.now();
  const flying = new Set<Promise<unknown>>();
  for (let i = 0; i < events; i++) {
    const { merchantId } = endpoints[i % endpoints.length] ?? { merchantId: "" };
    const sent = publish(rig, merchantId).finally(() => flying.delete(sent));
    flying.add(sent);
    if (flying.size >= inFlightMax) await Promise.race(flying);
  }
  await Promise.all(flying);
  await eventually("all to be recorded", async () => (await recorded(rig)) - before >= events, {
    limitMs: 120_000,
    everyMs: 100,
  });
  return (performance.now() - startedAt) / 1_000;
}

async function recorded(rig: Rig): Promise<number> {
  const [row] = await rig.db.rows<{ n: string }>("select count(*) as n from deliveries where state = 'delivered'", []);
  return Number(row?.n ?? 0);
}

async function publish(rig: Rig, merchantId: string): Promise<void> {
  const event = create(EventSchema, {
    id: newId("event"),
    type: "payment.succeeded",
    source: "payments",
    merchantId,
    environment: 1,
    objectId: newId("payment"),
    status: "succeeded",
    occurredAt: timestampNow(),
  });
  await rig.bus.publish(eventSubject(rig.namespace, "payments", event.type), event.id, toBinary(EventSchema, event));
}

const latencyRate = 200;
const latencySeconds = 15;

async function latency(rig: Rig): Promise<void> {
  const healthy = await rig.endpoints(50, "/ok-timed");
  await paced(rig, healthy, [], 3);
  const alone = await paced(rig, healthy, [], latencySeconds);
  show(`commit to receiver at ${latencyRate}/s: p50 / p95 / p99, ms`, alone.text);
  const dead = await rig.endpoints(200, "/hang");
  const first = await paced(rig, healthy, dead, latencySeconds);
  show("the same while 200 endpoints begin to time out (200/s more)", first.text);
  const beside = await paced(rig, healthy, dead, latencySeconds * 2);
  show("the same afterwards", beside.text);
  show(
    "  healthy p99 from the first moment on, times that without them",
    ratio(Math.max(first.p99, beside.p99), alone),
  );
  show("  healthy p99 afterwards, times that without them", ratio(beside.p99, alone));
  show("  resident memory of the service", `${rig.service.residentMb()} MB`);
}

const ratio = (p99: number, alone: { p99: number }) => (p99 / alone.p99).toFixed(2);

const hostileSeconds = 20;
// Half of the connections that this process has to PostgreSQL.
const commitsAtOnce = 8;

/** Every kind of misbehaving receiver at once, each with a backlog, and the largest memory seen. */
async function memory(rig: Rig): Promise<void> {
  const servers = await startHostileServers(rig.tls);
  try {
    const endpoints = await Promise.all(Object.values(servers.urls).map((url) => rig.endpoint(url)));
    let largestMb = 0;
    for (let second = 0; second < hostileSeconds; second++) {
      for (let i = 0; i < latencyRate; i += commitsAtOnce) {
        await Promise.all(Array.from({ length: commitsAtOnce }, (_, k) => rig.commit(merchantAt(endpoints, i + k))));
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      largestMb = Math.max(largestMb, rig.service.residentMb());
    }
    show(`resident memory under ${endpoints.length} hostile receivers, ${latencyRate}/s, at most`, `${largestMb} MB`);
  } finally {
    await servers.close();
  }
}

const merchantAt = (endpoints: readonly BenchEndpoint[], i: number) =>
  endpoints[i % endpoints.length]?.merchantId ?? "";

/** Commits payments at the fixed rate, to the healthy endpoints and as many to the dead ones. */
async function paced(rig: Rig, healthy: readonly BenchEndpoint[], dead: readonly BenchEndpoint[], seconds: number) {
  const committed = new Map<string, number>();
  const startedAt = performance.now();
  const waits: Promise<unknown>[] = [];
  for (let i = 0; i < latencyRate * seconds; i++) {
    const dueAt = startedAt + (i * 1_000) / latencyRate;
    const pauseMs = dueAt - performance.now();
    if (pauseMs > 1) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    const target = healthy[i % healthy.length];
    const victim = dead[i % Math.max(1, dead.length)];
    if (target) {
      waits.push(
        rig.commit(target.merchantId).then((id) => committed.set(id, performance.timeOrigin + performance.now())),
      );
    }
    if (victim) waits.push(rig.commit(victim.merchantId));
  }
  await Promise.all(waits);
  const arrivals = new Map<string, number>();
  await eventually(
    "all to arrive",
    () => {
      for (const [id, at] of rig.takeArrivals()) arrivals.set(id, at);
      return [...committed.keys()].every((id) => arrivals.has(id));
    },
    { limitMs: 60_000, everyMs: 100 },
  );
  const times = [...committed].map(([id, at]) => (arrivals.get(id) ?? 0) - at).sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))] ?? 0;
  const text = [at(0.5), at(0.95), at(0.99)].map((ms) => ms.toFixed(1)).join(" / ");
  return { p99: at(0.99), text };
}

const queuedMax = 1_000_000;
const lanesQueued = 1_000;

async function claim(rig: Rig): Promise<void> {
  await rig.db.transaction(async (tx) => {
    await tx.rows("set local statement_timeout = 0");
    await tx.rows(
      `insert into delivery_queue (merchant_id, endpoint_id, id, event_type, body, due_at, lease_until)
       select 'mer_bench' || n % $1, 'whk_bench' || n % $1, 'whd_' || lpad(n::text, 26, '0'), 'payment.succeeded', '{}',
         now() - interval '1 hour' + n * interval '1 ms', '-infinity' from generate_series(1, $2) as n`,
      [lanesQueued, queuedMax],
    );
  });
  await rig.db.rows("analyze delivery_queue");
  const times: number[] = [];
  const walks: number[] = [];
  for (let i = 0; i < 50; i++) {
    const walkedAt = performance.now();
    const lanes = await walkLanes(rig.db, 5_000, undefined);
    walks.push(performance.now() - walkedAt);
    const wishes = lanes.slice(0, 50).map((lane) => ({ ...lane, wanted: 4 }));
    const startedAt = performance.now();
    await claimDue(rig.db, { lanes: wishes, owner: "bench", leaseSeconds: 30, totalMax: 1_000 });
    times.push(performance.now() - startedAt);
  }
  const median = (list: number[]) => (list.sort((a, b) => a - b)[list.length >> 1] ?? 0).toFixed(1);
  show(
    "claim of 200 in 50 lanes, 1,000,000 queued in 1,000 lanes, ms",
    `${median(times)} (worst ${(times.at(-1) ?? 0).toFixed(1)})`,
  );
  show("walk over the 1,000 lanes, ms", median(walks));
  await rig.db.rows("truncate delivery_queue");
}

const rig = await startRig();
try {
  for (const [name, phase] of Object.entries(phases)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const others = watchOthers(rig.pids);
    await phase(rig);
    show(`  (other processes took ${Math.round(others() * 100)} % of the machine during ${name})`, "");
  }
} finally {
  await rig.stop();
}
