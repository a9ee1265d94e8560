// Deliveries a second: events published as fast as the service takes them in, until all of them are recorded as
// delivered.
import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampNow } from "@bufbuild/protobuf/wkt";
import { Pool } from "undici";
import { eventSubject } from "#platform/events/streams.ts";
import { newId } from "#platform/values/id.ts";
import { EventSchema } from "#proto/events/v1/events_pb.ts";
import { eventually } from "../harness/eventually.ts";
import { noteAnnounced, type OutboxEvent } from "../harness/payments/announcing-payments.ts";
import { inParallel } from "./shop.ts";
import { cpuOf } from "./usage.ts";
import type { BenchEndpoint, Phase, Report, Rig } from "./webhook-rig.ts";

const endpointsCount = 64;
const warmUpEvents = 5_000;
const roundEvents = 20_000;
const rounds = 3;
// Published but unacknowledged events of this process.
const inFlightMax = 512;
const notedAtOnce = 5_000;

export const throughput: Phase = { limitSeconds: 120, serviceEnv: {}, run: measure };

async function measure(rig: Rig, report: Report): Promise<void> {
  const endpoints = await rig.endpoints(endpointsCount, "/ok");
  await delivered(rig, report, endpoints, Math.round(warmUpEvents * report.share));
  const events = Math.round(roundEvents * report.share);
  const rates: number[] = [];
  const before = { us: cpuOf(rig.pids), publisher: process.cpuUsage() };
  for (let round = 0; round < rounds; round++) {
    rates.push(events / (await delivered(rig, report, endpoints, events)));
    report.progress(`${Math.round(rates.at(-1) ?? 0)}/s in round ${round + 1}`);
  }
  const us = cpuOf(rig.pids);
  const publisher = process.cpuUsage(before.publisher);
  const each = (total: number) => Math.round(total / (events * rounds));
  const spent = (name: string) => each((us[name] ?? 0) - (before.us[name] ?? 0));
  report.row(
    `sustained, event to recorded 2xx, ${endpointsCount} endpoints, ${rounds} rounds of ${events}`,
    `${rates.map(Math.round).join(", ")}/s`,
  );
  report.row(
    "  CPU per delivery: service / PostgreSQL / NATS / receivers / publisher",
    `${spent("service")} / ${spent("postgres")} / ${spent("nats")} / ${spent("receiver")} / ${each(publisher.user + publisher.system)} µs`,
  );
  await measureBareSender(rig, report);
  const [fresh] = await rig.db.rows<{ n: string }>("select count(*) as n from attempts where not reused", []);
  report.row("  connections opened", String(fresh?.n));
  report.row("  resident memory of the service at most", `${rig.service.peakMb()} MB`);
}

/** @returns seconds from the first event until the last delivery is recorded */
async function delivered(
  rig: Rig,
  report: Report,
  endpoints: readonly BenchEndpoint[],
  events: number,
): Promise<number> {
  const ready = await announcedEvents(rig, endpoints, events);
  const before = { recorded: await recorded(rig), answered: rig.answered() };
  const startedAt = performance.now();
  let begun = 0;
  const publishInTurn = async () => {
    while (begun < events) {
      report.deadline.throwIfAborted();
      const next = ready[begun++];
      if (next) await rig.bus.publish(next.subject, next.id, next.body);
    }
  };
  await Promise.all(Array.from({ length: inFlightMax }, publishInTurn));
  // Counting rows costs the database time, so that nothing is asked before the receivers have answered everything.
  const isDone = async () =>
    rig.answered() - before.answered >= events && (await recorded(rig)) - before.recorded >= events;
  await eventually("all to be recorded", isDone, { limitMs: 100_000, everyMs: 50 });
  return (performance.now() - startedAt) / 1_000;
}

async function recorded(rig: Rig): Promise<number> {
  const [row] = await rig.db.rows<{ n: string }>("select count(*) as n from deliveries where state = 'delivered'", []);
  return Number(row?.n ?? 0);
}

/** Events that payments has committed already: what its commits cost is no part of this. */
async function announcedEvents(rig: Rig, endpoints: readonly BenchEndpoint[], count: number): Promise<OutboxEvent[]> {
  const events = Array.from({ length: count }, (_, i) =>
    newEvent(rig, endpoints[i % endpoints.length]?.merchantId ?? ""),
  );
  for (let from = 0; from < count; from += notedAtOnce) {
    await noteAnnounced(rig.paymentsDb, events.slice(from, from + notedAtOnce));
  }
  return events;
}

function newEvent(rig: Rig, merchantId: string): OutboxEvent {
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
  const subject = eventSubject(rig.namespace, "payments", event.type);
  return { id: event.id, subject, body: toBinary(EventSchema, event) };
}

const [bareConnections, bareWarmUp, bareRequests] = [64, 2_000, 20_000];
/** As long as that of a succeeded payment's event. */
const bodyBytes = 400;

/** The limit: signed requests to the same receivers by a program that only signs and sends. */
async function measureBareSender(rig: Rig, report: Report): Promise<void> {
  const pool = new Pool(rig.receivers.url, {
    connections: bareConnections,
    pipelining: 1,
    connect: { ca: readFileSync(rig.receivers.ca, "utf8") },
  });
  const key = createSecretKey(randomBytes(32));
  const body = Buffer.alloc(bodyBytes, "x");
  const send = async () => {
    report.deadline.throwIfAborted();
    const signature = createHmac("sha256", key).update(body).digest("hex");
    const headers = { "content-type": "application/json", "service-signature": `t=0,v1=${signature}` };
    const answer = await pool.request({ method: "POST", path: "/ok/bare", headers, body });
    await answer.body.dump();
  };
  await inParallel(Math.round(bareWarmUp * report.share), bareConnections, send);
  const count = Math.round(bareRequests * report.share);
  const before = { receiver: cpuOf(rig.pids).receiver ?? 0, own: process.cpuUsage(), at: performance.now() };
  await inParallel(count, bareConnections, send);
  const seconds = (performance.now() - before.at) / 1_000;
  const own = process.cpuUsage(before.own);
  const each = (us: number) => Math.round(us / count);
  await pool.close();
  report.row(
    "  the same requests by a bare sender (limit)",
    `${Math.round(count / seconds)}/s; sender ${each(own.user + own.system)} / receivers ${each((cpuOf(rig.pids).receiver ?? 0) - before.receiver)} µs`,
  );
}
