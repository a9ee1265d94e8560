// A call to another service of the same process is what it is over the wire: one table of calls, made both ways, and
// what the caller gets, what the called one sees and what is counted are compared.
import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create } from "@bufbuild/protobuf";
import { Registry } from "prom-client";
import { type Host, neighbourUrl } from "#platform/process/host.ts";
import { connectPeer, type Peer } from "#platform/rpc/client.ts";
import { defineRpc, type RpcServer, serveRpc } from "#platform/rpc/server.ts";
import { callerLine, callersFile, type OwnToken, type TrustedCallers } from "#platform/secrets/callers.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { callContext } from "#platform/values/call-context.ts";
import { asFailure, Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { Health } from "#proto/grpc/health/v1/health_pb.ts";
import { Environment, GetMerchantResponseSchema, MerchantService } from "#proto/merchant/v1/merchant_pb.ts";
import { PaymentsService, RefundPaymentResponseSchema } from "#proto/payments/v1/payments_pb.ts";
import { noteBegun } from "../../services/payments/connectors/processor-time.ts";
import { eventually } from "../harness/eventually.ts";
import { suite } from "../harness/suite.ts";
import { tempDir } from "../harness/temp-dir.ts";

const test = suite("calls inside a process");
const tokens = { gateway: "g".repeat(40), reader: "r".repeat(40), operator: "o".repeat(40), stranger: "x".repeat(40) };
const hourMs = 3_600_000;

/** The called service: its behaviour and its observations. */
class Called {
  seen: unknown[] = [];
  finished = 0;
  tries = 0;
  release = () => {};
  held = new Promise<void>((resolve) => (this.release = resolve));
}

/** One way to the same door. */
interface Transport {
  readonly name: "over the wire" | "inside";
  readonly called: Called;
  readonly server: RpcServer;
  readonly registry: Registry;
  connect(token: string | OwnToken): Peer;
}

let transports: readonly [Transport, Transport];
let dir: string;

test.before(async () => {
  dir = await tempDir("inside");
  const file = join(dir, "callers");
  const names = ["gateway", "reader", "operator"] as const;
  await writeFile(file, names.map((name) => `${callerLine(name, tokens[name])}\n`).join(""));
  const trusted = callersFile.parse(file);
  transports = [await openTransport("over the wire", trusted), await openTransport("inside", trusted)];
});
test.after(async () => {
  for (const { server } of transports) await server.close({ lameDuckMs: 0, graceMs: 500 });
  await rm(dir, { recursive: true });
});

async function openTransport(name: Transport["name"], trusted: TrustedCallers): Promise<Transport> {
  const called = new Called();
  const neighbours: NonNullable<Host["neighbours"]> = new Map();
  const registry = new Registry();
  const server = await serveProbe(trusted, called, { registry, neighbours });
  const url = name === "inside" ? neighbourUrl("probe") : `http://127.0.0.1:${server.port}`;
  return { name, called, server, registry, connect: (token) => connectPeer({ url, token, neighbours }) };
}

/** The caller's context as the called service sees it. */
function contextSeen() {
  const { deadlineMs = 0, traceparent = "", ...rest } = callContext.getStore() ?? {};
  // Of a deadline of 15 s; whole seconds would differ between two runs.
  const leftTens = Math.floor((deadlineMs - performance.now()) / 10_000);
  return { ...rest, trace: traceparent.split("-")[1], leftTens };
}

function serveProbe(trusted: TrustedCallers, called: Called, hostProcess: Host): Promise<RpcServer> {
  const failures: Readonly<Record<string, () => unknown>> = {
    mer_none: () => new Failure("NOT_FOUND"),
    mer_bug: () => new TypeError("a secret detail"),
    mer_away: () => Object.assign(new Error("the database is away"), { code: "ECONNREFUSED" }),
    mer_later: () => new Failure("SERVICE_UNAVAILABLE", { retryAfterMs: 30_000 }),
    mer_many: () => new Failure("SERVICE_UNAVAILABLE", { retryAfterMs: 1_500 }),
  };
  return serveRpc({
    port: 0,
    host: "127.0.0.1",
    trusted,
    log: createLog("test", "silent"),
    hostProcess,
    name: "probe",
    rpc: [
      defineRpc(MerchantService, {
        getMerchant: async ({ merchantId }) => {
          called.tries += 1;
          called.seen.push(contextSeen());
          if (merchantId === "mer_held") await called.held;
          called.finished += 1;
          const failure = failures[merchantId]?.();
          if (failure !== undefined) throw failure;
          return create(GetMerchantResponseSchema, {
            merchant: { id: merchantId, name: "x".repeat(merchantId.length) },
          });
        },
        updateProfile: async () => ({}),
      }),
      defineRpc(PaymentsService, {
        refundPayment: async ({ amount = 0n, idempotency }) => {
          called.tries += 1;
          if (amount === 1n) noteBegun();
          if (amount === 4n) idempotency?.fingerprint.fill(255);
          if (amount < 3n) throw Object.assign(new Error("the database is away"), { code: "ECONNREFUSED" });
          return create(RefundPaymentResponseSchema, {});
        },
      }),
    ],
  });
}

/** A call of the table. @returns the values that must be equal over both transports */
type Case = (transport: Transport) => Promise<unknown>;

const get = (transport: Transport, merchantId: string, token: keyof typeof tokens = "gateway", timeoutMs?: number) =>
  using(transport, token, (peer) =>
    peer.client(MerchantService).getMerchant({ merchantId }, timeoutMs === undefined ? {} : { timeoutMs }),
  );

async function using<T>(
  transport: Transport,
  token: keyof typeof tokens,
  work: (peer: Peer) => Promise<T>,
): Promise<unknown> {
  const peer = transport.connect(tokens[token]);
  try {
    return await work(peer);
  } catch (error) {
    return readableFailure(error);
  } finally {
    peer.close();
  }
}

/** All that a caller can read of a failure, and of what caused it as far as that is the peer's word. */
function readableFailure(error: unknown): unknown {
  assert.ok(error instanceof Failure, String(error));
  const { reason, begun, retryAfterMs, violations } = error;
  const cause = error.cause instanceof Failure ? { cause: readableFailure(error.cause) } : {};
  return { reason, begun, retryAfterMs, violations, ...cause };
}

const refund = (transport: Transport, amount: bigint, key = "") => {
  const order = { merchantId: "mer_1", environment: Environment.SANDBOX, paymentId, amount };
  const input = key === "" ? order : { ...order, idempotency: { key, fingerprint: new Uint8Array(32) } };
  const context = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: performance.now() + 2_500 };
  return callContext.run(context, () =>
    using(transport, "gateway", (peer) => peer.client(PaymentsService).refundPayment(input)),
  );
};
const paymentId = newId("payment");

const cases: Readonly<Record<string, Case>> = {
  "an answer comes whole": (transport) => get(transport, "mer_1"),
  "a refusal keeps its reason": (transport) => get(transport, "mer_none"),
  "an unexpected error has no details": (transport) => get(transport, "mer_bug"),
  "an unavailable service is reported as such, and a read is not retried": (transport) => get(transport, "mer_away"),
  "a pause that a failure names arrives": (transport) => get(transport, "mer_many"),
  "a long Retry-After is respected": (transport) => get(transport, "mer_later"),
  "a broken bound names the field": (transport) => get(transport, ""),
  "a NUL character is refused with the field's name": (transport) => get(transport, "mer_\0"),
  "a stranger is unknown, and asks twice": (transport) => get(transport, "mer_1", "stranger"),
  "a caller that the method does not name is refused": (transport) =>
    using(transport, "reader", (peer) => peer.client(MerchantService).updateProfile({ merchantId: "mer_1" })),
  "a person's token identifies that person, whatever the call claims": (transport) =>
    callContext.run(contextOf("ak_1"), () => get(transport, "mer_1", "operator")),
  "a service may name its actor": (transport) => callContext.run(contextOf("ak_1"), () => get(transport, "mer_1")),
  "an invalid actor and request id are ignored": (transport) =>
    callContext.run({ ...contextOf("ä ä"), requestId: "ü ü" }, async () => {
      const answer = await get(transport, "mer_1").catch(() => "not sent");
      transport.called.seen = transport.called.seen.map(() => "seen");
      return answer === "not sent" ? answer : "either way";
    }),
  "a message that is too large is refused": (transport) => get(transport, "m".repeat((2 << 20) + 1)),
  "a message at the limit is read, and its bound is the proto's": (transport) =>
    get(transport, "m".repeat((2 << 20) - 100)),
  "a method without an implementation is unimplemented": (transport) =>
    using(transport, "gateway", (peer) => peer.client(MerchantService).createMerchant(merchantOrder)),
  "health answers": (transport) => using(transport, "stranger", (peer) => peer.client(Health).check({})),
  "the health of an unknown service is not found": (transport) =>
    using(transport, "stranger", (peer) => peer.client(Health).check({ service: "unknown.v1.Service" })),
  "the deadline of the caller's caller goes on": (transport) =>
    callContext.run({ ...contextOf(""), deadlineMs: performance.now() + 7_000 }, () => get(transport, "mer_1")),
  "a started operation is retried within the deadline, and never reported as not done": (transport) =>
    refund(transport, 1n, "key"),
  "without a key it is reported as started": (transport) => refund(transport, 1n),
  "with a key an earlier request may have begun": (transport) => refund(transport, 2n, "key"),
  "what was done is done once": (transport) => refund(transport, 3n, "key"),
  "what the called one does to a message is not seen by the caller": async (transport) => {
    const fingerprint = new Uint8Array(32);
    const order = { merchantId: "mer_1", environment: Environment.SANDBOX, paymentId, amount: 4n };
    const input = { ...order, idempotency: { key: "key", fingerprint } };
    await using(transport, "gateway", (peer) => peer.client(PaymentsService).refundPayment(input));
    return fingerprint;
  },
};
const merchantOrder = { name: "a", email: "ops@acme.example", country: "DE", currency: "EUR", legalName: "a" };

const contextOf = (actor: string) => ({
  requestId: "req_of-a-test",
  actor,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  deadlineMs: performance.now() + hourMs,
});

for (const [name, run] of Object.entries(cases)) {
  test(`both ways: ${name}`, async () => {
    const [wire, inside] = [await observeCall(transports[0], run), await observeCall(transports[1], run)];
    assert.deepEqual(inside, wire);
  });
}

/** The caller's answer, the called service's observations, and the counters. */
async function observeCall({ called, ...transport }: Transport, run: Case) {
  called.seen = [];
  called.tries = 0;
  const before = await callCounts(transport.registry);
  const answer = await run({ called, ...transport });
  const after = await callCounts(transport.registry);
  const counted = [...after].flatMap(([key, count]) => {
    const rise = count - (before.get(key) ?? 0);
    return rise > 0 ? [`${key} ${rise > 3 ? "many" : rise}`] : [];
  });
  const seen = called.seen.map((each) => withoutOwnIds(each));
  return { answer, seen, tries: called.tries > 3 ? "many" : called.tries, counted };
}

/** A request that came without an id, and a trace that began here, have one of their own. */
function withoutOwnIds(seen: unknown): unknown {
  const text = JSON.stringify(seen);
  return text.replace(/"req_[0-9a-z]{26}"/g, '"req_new"').replace(/"trace":"(?!0af7)[0-9a-f]{32}"/g, '"trace":"new"');
}

async function callCounts(registry: Registry): Promise<ReadonlyMap<string, number>> {
  const { values = [] } = (await registry.getSingleMetric("tollbooth_rpc_seconds")?.get()) ?? {};
  const counts = values.filter((value) => "metricName" in value && String(value.metricName).endsWith("_count"));
  return new Map(counts.map(({ labels, value }) => [`${labels.rpc} ${labels.reason}`, value]));
}

test("both ways: a call that is too late fails, and its work goes on", async () => {
  for (const transport of transports) {
    const { called } = transport;
    called.finished = 0;
    called.held = new Promise((resolve) => (called.release = resolve));
    const answer = await get(transport, "mer_held", "gateway", 150);
    assert.deepEqual(
      answer,
      { reason: "SERVICE_UNAVAILABLE", begun: false, retryAfterMs: 1_000, violations: [] },
      transport.name,
    );
    assert.equal(called.finished, 0);
    called.release();
    await eventually(`the work to end ${transport.name}`, async () => called.finished > 0);
  }
});

test("over both transports: the work continues when its caller disconnects", async () => {
  for (const transport of transports) {
    const { called } = transport;
    called.finished = 0;
    called.seen = [];
    called.held = new Promise((resolve) => (called.release = resolve));
    const leaving = new AbortController();
    const peer = transport.connect(tokens.gateway);
    const call = peer.client(MerchantService).getMerchant({ merchantId: "mer_held" }, { signal: leaving.signal });
    await eventually(`the call to begin ${transport.name}`, async () => called.seen.length > 0);
    leaving.abort();
    await assert.rejects(call, transport.name);
    called.release();
    await eventually(`the work to end ${transport.name}`, async () => called.finished > 0);
    peer.close();
  }
});

test("a service that is not there has begun nothing, and a read waits for it a moment only", async () => {
  const peer = connectPeer({ url: neighbourUrl("nobody"), token: tokens.gateway, neighbours: new Map() });
  const failure = await peer
    .client(MerchantService)
    .getMerchant({ merchantId: "mer_1" })
    .catch((error) => error);
  assert.deepEqual([failure.reason, failure.begun], ["SERVICE_UNAVAILABLE", false]);
  peer.close();
});

test("a service that stops finishes what it has, and what is not done in time may have begun", async () => {
  for (const isInTime of [true, false]) {
    const called = new Called();
    const neighbours: NonNullable<Host["neighbours"]> = new Map();
    const trusted = callersFile.parse(join(dir, "callers"));
    const server = await serveProbe(trusted, called, { registry: new Registry(), neighbours });
    const peer = connectPeer({ url: neighbourUrl("probe"), token: tokens.gateway, neighbours });
    const call = peer
      .client(MerchantService)
      .getMerchant({ merchantId: "mer_held" })
      .catch((error: unknown) => asFailure(error).reason);
    await eventually("the call to begin", async () => called.tries > 0);
    const closed = server.close({ lameDuckMs: 0, graceMs: isInTime ? 5_000 : 50 });
    if (isInTime) called.release();
    await closed;
    const answer = await call;
    assert.equal(
      typeof answer === "string" ? answer : answer.merchant?.id,
      isInTime ? "mer_held" : "SERVICE_UNAVAILABLE",
    );
    called.release();
    peer.close();
  }
});

test("more calls than a process has connections for wait their turn, and who waits too long leaves the queue", async () => {
  const [transport] = transports;
  const { called } = transport;
  called.tries = 0;
  called.held = new Promise((resolve) => (called.release = resolve));
  const peer = transport.connect(tokens.gateway);
  const client = peer.client(MerchantService);
  const held = Array.from({ length: 256 }, () => client.getMerchant({ merchantId: "mer_held" }));
  await eventually(`256 calls to be under way`, async () => called.tries === 256);
  const late = client
    .getMerchant({ merchantId: "mer_1" }, { timeoutMs: 100 })
    .catch((error) => asFailure(error).reason);
  const last = client.getMerchant({ merchantId: "mer_2" });
  assert.equal(await late, "SERVICE_UNAVAILABLE");
  assert.equal(called.tries, 256);
  called.release();
  await Promise.all(held);
  assert.equal((await last).merchant?.id, "mer_2");
  assert.equal(called.tries, 257);
  peer.close();
});

test.run();
