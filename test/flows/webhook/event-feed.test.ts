// events.v1.EventService: every event once, in the order in which events became visible, for readers that resume.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Timestamp, timestampNow } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import type { Sql } from "#platform/database/database.ts";
import type { Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { EventService } from "#proto/events/v1/event_service_pb.ts";
import type { Event } from "#proto/events/v1/events_pb.ts";
import { FailureSchema, Reason } from "#proto/failure/v1/failure_pb.ts";
import { EventTail, readEvents, watchDefaults, watchEvents } from "../../../services/webhook/flows/watch-events.ts";
import { hasUnpositioned, newestPosition, positionEvents } from "../../../services/webhook/store/event-feed.ts";
import { eventually } from "../../harness/eventually.ts";
import { fixture, suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";
import { startWebhookTest } from "./service.ts";

const test = suite("event feed", { timeoutMs: 60_000 });

const t = fixture(test, () => startWebhookTest());

const everything = { types: [], merchantIds: [] };

function clientOf(transport = createGrpcTransport({ baseUrl: t.url })) {
  const headers = { authorization: `Bearer ${t.token}` };
  const client = createClient(EventService, transport);
  return {
    list: (request: Parameters<typeof client.list>[0]) => client.list(request, { headers }),
    watch: (request: Parameters<typeof client.watch>[0], signal: AbortSignal) =>
      client.watch(request, { headers, signal }),
  };
}

/** Inserts events in one statement. */
async function insertEvents(sql: Sql, merchantId: string, ids: readonly string[], type = "payment.succeeded") {
  await sql.rows(
    `insert into events (merchant_id, environment, type, id, payment_id, body)
     select $1, 1, $3, id, $4, convert_to(json_build_object('type', $3::text, 'payment_id', $4::text, 'status', 'x')::text, 'UTF8')
     from unnest($2::text[]) as id`,
    [merchantId, ids, type, newId("payment")],
  );
}

function isInvalid(field: string) {
  return (error: unknown) => {
    const [failure] = ConnectError.from(error).findDetails(FailureSchema);
    assert.equal(failure?.reason, Reason.INVALID_BODY, String(error));
    return failure.fieldViolations.some((violation) => violation.field === field);
  };
}

/** Events inserted by a test are of no stream, so they get positions at once, but by a job. */
async function positioned(): Promise<void> {
  await eventually("positions", async () => !(await hasUnpositioned(t.db)));
}

interface ListQuery {
  readonly environment?: 1 | 2;
  readonly afterPosition?: bigint;
  readonly pageSize?: number;
  readonly pageToken?: string;
  readonly type?: string;
  readonly paymentId?: string;
  readonly since?: Timestamp;
  readonly until?: Timestamp;
}

class Rollback extends Error {}

test("readers of the feed and of a merchant's list miss no event and see none twice, though writers commit late or not at all", async () => {
  const merchantIds = [newId("merchant"), newId("merchant")] as const;
  const after = await newestPosition(t.db);
  const committed: { id: string; type: string; merchantId: string }[] = [];
  let isWriting = true;
  const ofFeed = async (afterPosition: bigint) => {
    const { rows, nextPosition } = await readEvents(t.db, { ...everything, afterPosition }, 7);
    return { ids: rows.map(({ id }) => id), nextPosition };
  };
  const ofList = (filter: ListQuery) => async (afterPosition: bigint) => {
    const owner = { merchantId: merchantIds[0], environment: 1 } as const;
    const answer = await t.webhooks.listEvents({ ...owner, ...filter, afterPosition, pageSize: 3 });
    return { ids: answer.events.map(({ id }) => id), nextPosition: answer.nextPosition };
  };
  const follow = async (read: typeof ofFeed) => {
    const seen: string[] = [];
    for (let position = after; ; ) {
      const isLast = !isWriting;
      const { ids, nextPosition } = await read(position);
      seen.push(...ids);
      if (isLast && nextPosition === position) return seen;
      position = nextPosition;
    }
  };
  const readers = [follow(ofFeed), follow(ofList({})), follow(ofList({ type: "dispute.lost" }))];
  const writer = async (n: number) => {
    for (let round = 0; round < 12; round++) {
      const type = ["payment.succeeded", "dispute.lost", "refund.failed"][(n + round) % 3] ?? "";
      const merchantId = merchantIds[n % 2] ?? "";
      const ids = Array.from({ length: 1 + ((n + round) % 4) }, () => newId("event"));
      const work = t.db.transaction(async (tx) => {
        const delaySeconds = ((n * 7 + round * 3) % 11) / 500;
        await tx.rows("select pg_sleep($1)", [delaySeconds]);
        await insertEvents(tx, merchantId, ids, type);
        await tx.rows("select pg_sleep($1)", [((n + round * 5) % 7) / 500]);
        if ((n + round) % 5 === 0) throw new Rollback();
      });
      await work.then(
        () => committed.push(...ids.map((id) => ({ id, type, merchantId }))),
        (error) => assert(error instanceof Rollback, String(error)),
      );
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, n) => writer(n)));
  await positioned();
  isWriting = false;
  const ofMerchant = committed.filter(({ merchantId }) => merchantId === merchantIds[0]);
  const ofType = ofMerchant.filter(({ type }) => type === "dispute.lost");
  assert(ofType.length > 20 && committed.length > 100);
  for (const [i, expected] of [committed, ofMerchant, ofType].entries()) {
    const seen = (await readers[i]) ?? [];
    assert.equal(new Set(seen).size, seen.length);
    assert.deepEqual(new Set(seen), new Set(expected.map(({ id }) => id)));
  }
});

test("a merchant's list after a position has its filters, pages and refusals", async () => {
  const owner = { merchantId: newId("merchant"), environment: 1 } as const;
  const newest = await newestPosition(t.db);
  const before = await t.webhooks.listEvents({ ...owner, afterPosition: newest });
  assert.deepEqual([before.events, before.nextPosition, before.hasMore], [[], newest, false]);
  // The newest id first: positions follow the commits, not the ids.
  const ids = [newId("event"), newId("event"), newId("event")].reverse();
  const types = ["payment.failed", "payment.succeeded", "payment.failed"];
  for (const [i, id] of ids.entries()) {
    await insertEvents(t.db, owner.merchantId, [id], types[i]);
    await positioned();
  }
  await insertEvents(t.db, newId("merchant"), [newId("event")]);
  await positioned();
  const list = async (query: ListQuery = {}) => {
    const answer = await t.webhooks.listEvents({ ...owner, afterPosition: newest, ...query });
    return { ...answer, ids: answer.events.map(({ id }) => id) };
  };
  const all = await list();
  assert.deepEqual([all.ids, all.hasMore, all.nextPosition], [ids, false, all.events.at(-1)?.position]);
  const first = await list({ pageSize: 2 });
  assert.deepEqual([first.ids, first.hasMore], [ids.slice(0, 2), true]);
  assert.deepEqual((await list({ afterPosition: first.nextPosition })).ids, ids.slice(2));
  assert.deepEqual((await list({ type: "payment.failed" })).ids, [ids[0], ids[2]]);
  assert.deepEqual((await list({ paymentId: all.events[1]?.paymentId ?? "" })).ids, [ids[1]]);
  assert.deepEqual((await list({ environment: 2 })).ids, []);
  const wrong: [string, ListQuery][] = [
    ["after_position", { afterPosition: all.nextPosition + 1_000n }],
    ["after_position", { afterPosition: -1n }],
    ["page_token", { pageToken: ids[0] ?? "" }],
    ["since", { since: timestampNow() }],
    ["until", { until: timestampNow() }],
    ["type", { type: "payment.succeded" }],
  ];
  for (const [field, query] of wrong) {
    await assert.rejects(list(query), ({ violations }: Failure) => violations[0]?.field === field, field);
  }
});

test("an event waits for those before it in its stream, at most two minutes", async () => {
  const [merchantId, consumer] = [newId("merchant"), "payments/another"];
  const [first, second, third] = [newId("event"), newId("event"), newId("event")];
  const arrive = async (id: string, seq: number) => {
    await insertEvents(t.db, merchantId, [id]);
    await t.db.rows("update events set position = null, consumer = $2, stream_seq = $3 where id = $1", [
      id,
      consumer,
      seq,
    ]);
  };
  const listed = async () => {
    const rows = await t.db.rows<{ id: string }>(
      "select id from events where merchant_id = $1 and position is not null order by position",
      [merchantId],
    );
    return rows.map(({ id }) => id);
  };
  await arrive(third, 9);
  await arrive(second, 8);
  await positionEvents(t.db, [{ consumer, seq: 6 }]);
  assert.deepEqual(await listed(), []);
  await arrive(first, 7);
  await positionEvents(t.db, [{ consumer, seq: 8 }]);
  assert.deepEqual(await listed(), [first, second]);
  await t.db.rows("update events set arrived_at = now() - interval '121 seconds' where id = $1", [third]);
  await positionEvents(t.db, []);
  assert.deepEqual(await listed(), [first, second, third]);
});

test("events of one batch keep the order of the stream", async () => {
  const merchantId = newId("merchant");
  const paymentId = newId("payment");
  // The newest id first: positions follow the stream, not the ids.
  const ids = Array.from({ length: 20 }, () => newId("event")).reverse();
  for (const eventId of ids) await t.announce({ merchantId, paymentId, eventId, messageId: newId("event") });
  const listed = await eventually("all events", async () => {
    const { events } = await clientOf().list({ merchantIds: [merchantId] });
    return events.length === ids.length && events;
  });
  assert.deepEqual(
    listed.map(({ id }) => id),
    ids,
  );
});

test("an event names its object, money, reference, status, version and position", async () => {
  const merchantId = newId("merchant");
  const refundId = newId("refund");
  const attributes = { refund_id: refundId, refund_status: "succeeded", version: "7", card_fingerprint: "f" };
  const facts = { attributes, money: { amount: 250n, currency: "EUR" }, reference: "order 1" };
  const { eventId, paymentId } = await t.announce({ merchantId, type: "payment.refund_succeeded", facts });
  const event = await eventually("the event", async () => {
    const { events } = await clientOf().list({ merchantIds: [merchantId], types: ["refund.succeeded"] });
    return events[0];
  });
  const { occurredAt, position, money, ...named } = event;
  assert(occurredAt && position > 0n);
  assert.deepEqual([money?.amount, money?.currency], [250n, "EUR"]);
  assert.deepEqual(named, {
    ...{ $typeName: "events.v1.Event", id: eventId, type: "refund.succeeded", merchantId, environment: 1 },
    ...{ objectId: refundId, status: "succeeded", reference: "order 1", schemaVersion: 1 },
    ...{ source: "", traceparent: "", requestId: "", actor: "" },
    attributes: { refund_id: refundId, payment_id: paymentId, version: "7" },
  });
});

test("a filter that matches few events passes 10,000 others a call and reaches each match", async () => {
  const merchantId = newId("merchant");
  const { nextPosition: start } = await clientOf().list({ afterPosition: await newestPosition(t.db) });
  const [others, wanted] = [Array.from({ length: 10_001 }, () => newId("event")), newId("event")];
  await insertEvents(t.db, merchantId, others);
  await positioned();
  await insertEvents(t.db, merchantId, [wanted], "dispute.lost");
  await positioned();
  const request = { types: ["dispute.lost"], merchantIds: [merchantId] };
  const first = await clientOf().list({ ...request, afterPosition: start });
  assert.deepEqual([first.events.length, first.hasMore], [0, true]);
  const second = await clientOf().list({ ...request, afterPosition: first.nextPosition });
  assert.deepEqual([second.events.map(({ id }) => id), second.hasMore], [[wanted], false]);
  const ofMerchant = { merchantId, environment: 1, type: "dispute.lost", pageSize: 1 } as const;
  const passed = await t.webhooks.listEvents({ ...ofMerchant, afterPosition: start });
  assert.deepEqual([passed.events, passed.hasMore], [[], true]);
  const reached = await t.webhooks.listEvents({ ...ofMerchant, afterPosition: passed.nextPosition });
  assert.deepEqual([reached.events.map(({ id }) => id), reached.hasMore], [[wanted], false]);
  // From the oldest event, whatever its position.
  await eventually("the match from the start", async () => {
    for (let position = 0n; ; ) {
      const { events, nextPosition, hasMore } = await clientOf().list({ ...request, afterPosition: position });
      if (events.length > 0 || !hasMore) return events[0]?.id === wanted;
      position = nextPosition;
    }
  });
});

test("watching readers get events as they become visible, over gRPC and Connect, and resume where they stopped", async () => {
  const merchantId = newId("merchant");
  const afterPosition = await newestPosition(t.db);
  const transports = [
    createGrpcTransport({ baseUrl: t.url }),
    createConnectTransport({ baseUrl: t.url, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl: t.url, httpVersion: "2" }),
  ];
  for (const transport of transports) {
    const received: Event[] = [];
    const follow = async (after: bigint, until: number) => {
      const leave = new AbortController();
      let position = after;
      const stream = clientOf(transport).watch({ afterPosition: after, merchantIds: [merchantId] }, leave.signal);
      for await (const { events, nextPosition } of stream) {
        received.push(...events);
        position = nextPosition;
        if (received.length >= until) break;
      }
      leave.abort();
      return position;
    };
    const earlier = (await clientOf().list({ afterPosition, merchantIds: [merchantId] })).events.length;
    const announced: string[] = [];
    const announce = async () => announced.push((await t.announce({ merchantId })).eventId);
    const [position] = await Promise.all([follow(afterPosition, earlier + 1), announce()]);
    await announce();
    await follow(position, earlier + 2);
    assert.deepEqual(
      received.slice(earlier).map(({ id }) => id),
      announced,
    );
  }
});

test("the samples of docs/internal-api print an event that is announced while they watch", async () => {
  const TOLLBOOTH_TOKEN_FILE = join(await tempDir("feed"), "reader.token");
  await writeFile(TOLLBOOTH_TOKEN_FILE, `${t.token}\n`);
  const where = { TOLLBOOTH_TOKEN_FILE, TOLLBOOTH_EVENTS_URL: t.url };
  const env = { ...process.env, ...where, AFTER_POSITION: String(await newestPosition(t.db)) };
  for (const [command, ...args] of [
    [process.execPath, "watch-events.ts"],
    ["python3", "watch_events.py"],
    ["go", "run", "watch_events.go"],
  ] as const) {
    if (spawnSync(command, [command === "go" ? "version" : "--version"]).error) {
      console.log(`  not run: ${args.at(-1)} (no ${command} here)`);
      continue;
    }
    const sample = spawn(command, [...args.slice(0, -1), `docs/internal-api/${args.at(-1)}`], {
      env,
      detached: true,
    });
    let output = "";
    for (const stream of [sample.stdout, sample.stderr]) stream.on("data", (text) => (output += text));
    const { paymentId } = await t.announce({ merchantId: newId("merchant") });
    const ended = once(sample, "close");
    await eventually(`${args.at(-1)} to print it`, () => {
      if (output.includes(`payment.succeeded ${paymentId} succeeded`)) return true;
      throw new Error(output);
    });
    // The group: `go run` starts a program of its own.
    if (sample.pid !== undefined) process.kill(-sample.pid);
    await ended;
  }
});

test("a quiet stream sends its position every 15 seconds, and ends after ten minutes", async () => {
  let now = 0;
  const options = { ...watchDefaults, nowMs: () => (now += 5_000) };
  const query = { ...everything, afterPosition: await newestPosition(t.db), merchantIds: [newId("merchant")] };
  const beats = watchEvents(
    { db: t.db, tail: new EventTail(t.db) },
    query,
    AbortSignal.timeout(60_000),
    () => {},
    options,
  );
  let count = 0;
  for await (const { rows, nextPosition } of beats) {
    assert.deepEqual([rows, nextPosition], [[], query.afterPosition]);
    count++;
  }
  assert(now > 600_000 && count > 20 && count <= 40, `${count} answers`);
});

test("a reader that takes an answer too late gets an error with the position to resume at", async () => {
  const merchantId = newId("merchant");
  const query = { ...everything, afterPosition: await newestPosition(t.db), merchantIds: [merchantId] };
  await insertEvents(t.db, merchantId, [newId("event")]);
  let now = 0;
  const options = { ...watchDefaults, nowMs: () => now };
  const stream = watchEvents(
    { db: t.db, tail: new EventTail(t.db) },
    query,
    AbortSignal.timeout(60_000),
    () => {},
    options,
  );
  const { value: page } = await stream.next();
  now += 30_001;
  await assert.rejects(stream.next(), (error: ConnectError) => {
    assert.equal(error.code, Code.ResourceExhausted);
    assert.equal(error.rawMessage, `reader too slow: resume after position ${page?.nextPosition}`);
    return error.details.length === 1;
  });
});

test("refuses unknown event types, malformed merchants and a position that no event has reached", async () => {
  const newest = await newestPosition(t.db);
  const wrong: [string, { types?: string[]; merchantIds?: string[]; afterPosition?: bigint }][] = [
    ["types[1]", { types: ["payment.failed", "payment.succeded"] }],
    ["merchant_ids[0]", { merchantIds: ["mer_x"] }],
    ["after_position", { afterPosition: newest + 1_000n }],
    ["after_position", { afterPosition: -1n }],
  ];
  for (const [field, request] of wrong) {
    await assert.rejects(clientOf().list(request), isInvalid(field), field);
    const first = async () => {
      for await (const _answer of clientOf().watch(request, AbortSignal.timeout(10_000))) return;
    };
    await assert.rejects(first(), isInvalid(field), `watch: ${field}`);
  }
});

test("the position's index serves the queries of the feed, and another one a merchant's list", async () => {
  const plan = await t.db.transaction(async (tx) => {
    await tx.rows("set local enable_seqscan = off");
    return [
      await tx.rows("explain select max(position) from events where position is not null"),
      await tx.rows("explain select id from events where position > 5 and position <= 9 order by position limit 3"),
      await tx.rows(
        "explain select position from events where merchant_id = 'm' and environment = 1 and position > 5 order by position limit 3",
      ),
    ];
  });
  for (const one of plan) assert.match(JSON.stringify(one), /Index (Only )?Scan.* on events_/);
});

test.run();
