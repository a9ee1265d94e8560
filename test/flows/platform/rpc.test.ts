// The RPC server with a test service: every protocol on one port, tokens, limits, deadlines, health, reflection.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import http from "node:http";
import http2, { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, createClient } from "@connectrpc/connect";
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import * as grpc from "@grpc/grpc-js";
import { connectPeer } from "#platform/rpc/client.ts";
import type { Patience } from "#platform/rpc/listener.ts";
import { defineRpc, type RpcServer, serveRpc } from "#platform/rpc/server.ts";
import { callerLine, callersFile, type TrustedCallers } from "#platform/secrets/callers.ts";
import { createLog } from "#platform/telemetry/log.ts";
import { callContext } from "#platform/values/call-context.ts";
import { asFailure, Failure } from "#platform/values/failure.ts";
import { newId } from "#platform/values/id.ts";
import { membersOf } from "#platform/values/unchecked.ts";
import { Health, HealthCheckResponse_ServingStatus as Status } from "#proto/grpc/health/v1/health_pb.ts";
import {
  Environment,
  GetMerchantRequestSchema,
  GetMerchantResponseSchema,
  MerchantService,
} from "#proto/merchant/v1/merchant_pb.ts";
import { PaymentsService } from "#proto/payments/v1/payments_pb.ts";
import { noteBegun } from "../../../services/payments/connectors/processor-time.ts";
import { eventually } from "../../harness/eventually.ts";
import { trustingOnly } from "../../harness/payments/money-services.ts";
import { suite } from "../../harness/suite.ts";
import { tempDir } from "../../harness/temp-dir.ts";

const test = suite("rpc server");
const token = "a-token-of-the-test";
const headers = { authorization: `Bearer ${token}` };
let server: RpcServer;
let base: string;

function startServer(trusted: TrustedCallers, patience?: Patience, works?: () => boolean): Promise<RpcServer> {
  return serveRpc({
    ...(patience && { patience }),
    ...(works && { works }),
    port: 0,
    host: "127.0.0.1",
    trusted,
    log: createLog("test", "fatal"),
    rpc: [
      defineRpc(MerchantService, {
        getMerchant: async ({ merchantId }) => {
          if (merchantId === "mer_none") throw new Failure("NOT_FOUND");
          if (merchantId === "mer_bug") throw new TypeError("a secret detail");
          if (merchantId === "mer_slow") await new Promise((resolve) => setTimeout(resolve, 2_000).unref());
          const name = merchantId === "mer_long" ? "n".repeat(5_000) : "";
          return create(GetMerchantResponseSchema, { merchant: { id: merchantId, name } });
        },
      }),
    ],
  });
}

test.before(async () => {
  server = await startServer(trustingOnly(token));
  base = `http://127.0.0.1:${server.port}`;
});
test.after(() => server.close({ lameDuckMs: 0, graceMs: 500 }));

test("Connect, gRPC, gRPC-Web over HTTP/2 and HTTP/1.1, and grpc-js get the same answer from one port", async () => {
  const peer = connectPeer({ url: base, token });
  const answer = await peer.client(MerchantService).getMerchant({ merchantId: "mer_1" });
  assert.equal(answer.merchant?.id, "mer_1");
  peer.close();
  for (const transport of [
    createGrpcTransport({ baseUrl: base }),
    createGrpcWebTransport({ baseUrl: base, httpVersion: "2" }),
    createGrpcWebTransport({ baseUrl: base, httpVersion: "1.1" }),
  ]) {
    const client = createClient(MerchantService, transport);
    assert.equal((await client.getMerchant({ merchantId: "mer_1" }, { headers })).merchant?.id, "mer_1");
  }
  assert.equal((await overGrpcJs("mer_1")).merchant?.id, "mer_1");
});

test("plain fetch with JSON works over HTTP/1.1", async () => {
  const good = await fetch(`${base}/merchant.v1.MerchantService/GetMerchant`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ merchantId: "mer_1" }),
  });
  assert.deepEqual([good.status, await good.json()], [200, { merchant: { id: "mer_1" } }]);
});

test("a caller that a method does not name is refused, an unknown one too, and neither error reaches the merchant as its own", async () => {
  const dir = await tempDir("trust");
  const file = join(dir, "callers");
  const [gateway, reader] = ["g".repeat(40), "r".repeat(40)];
  await writeFile(file, `${callerLine("gateway", gateway)}\n${callerLine("reader", reader)}\n`);
  const listener = await startServer(callersFile.parse(file));
  const merchants = (value: string) => {
    const peer = connectPeer({ url: `http://127.0.0.1:${listener.port}`, token: value });
    return { client: peer.client(MerchantService), peer };
  };
  const refusal = async (value: string) => {
    const { client, peer } = merchants(value);
    const failure = await client.updateProfile({ merchantId: "mer_1" }).catch((error) => error);
    peer.close();
    assert.ok(failure instanceof Failure && failure.cause instanceof Failure);
    return [failure.reason, failure.cause.reason];
  };
  try {
    assert.deepEqual(await refusal(reader), ["INTERNAL_ERROR", "CALLER_REFUSED"]);
    assert.deepEqual(await refusal("x".repeat(40)), ["INTERNAL_ERROR", "CALLER_UNKNOWN"]);
    const { client, peer } = merchants(reader);
    assert.equal((await client.getMerchant({ merchantId: "mer_1" })).merchant?.id, "mer_1");
    peer.close();
  } finally {
    await listener.close({ lameDuckMs: 0, graceMs: 500 });
    await rm(dir, { recursive: true });
  }
});

test("refusals keep their reason, invalid requests name the field, defects reveal nothing", async () => {
  const peer = connectPeer({ url: base, token });
  const client = peer.client(MerchantService);
  const reason = (merchantId: string): Promise<Failure> =>
    client.getMerchant({ merchantId }).then(
      () => assert.fail("answered"),
      (error) => (error instanceof Failure ? error : assert.fail(error)),
    );
  assert.equal((await reason("mer_none")).reason, "NOT_FOUND");
  const broken = await reason("");
  assert.equal(broken.reason, "INVALID_BODY");
  assert.deepEqual(
    broken.violations.map((v) => v.field),
    ["merchant_id"],
  );
  const defect = await reason("mer_bug");
  assert.equal(defect.reason, "INTERNAL_ERROR");
  assert.ok(!String(defect.cause).includes("a secret detail"));
  peer.close();
});

test("a call ends at the caller's deadline", async () => {
  const peer = connectPeer({ url: base, token });
  const slow = peer.client(MerchantService).getMerchant({ merchantId: "mer_slow" }, { timeoutMs: 100 });
  await assert.rejects(slow, (error) => error instanceof Failure && error.reason === "SERVICE_UNAVAILABLE");
  peer.close();
});

test("a failed call with a key is retried while its caller waits, and is never reported as undone after it began", async () => {
  let [calls, isBegun] = [0, true];
  const silent = 7n;
  const unavailableLong = 8n;
  const listener = await serveRpc({
    port: 0,
    host: "127.0.0.1",
    trusted: trustingOnly(token),
    log: createLog("test", "silent"),
    rpc: [
      defineRpc(PaymentsService, {
        refundPayment: async ({ amount }) => {
          calls += 1;
          if (amount === silent) await new Promise((resolve) => setTimeout(resolve, 10_000).unref());
          if (amount === unavailableLong) throw new Failure("SERVICE_UNAVAILABLE", { retryAfterMs: 30_000 });
          if (isBegun) noteBegun();
          throw Object.assign(new Error("the database is unavailable"), { code: "ECONNREFUSED" });
        },
      }),
    ],
  });
  const peer = connectPeer({ url: `http://127.0.0.1:${listener.port}`, token });
  const refund = async (key: string, begun: boolean, amount = 100n) => {
    [calls, isBegun] = [0, begun];
    const context = { requestId: "req_1", actor: "", traceparent: "", deadlineMs: performance.now() + 2_500 };
    const order = { merchantId: "mer_1", environment: Environment.SANDBOX, paymentId: newId("payment"), amount };
    const input = key === "" ? order : { ...order, idempotency: { key, fingerprint: new Uint8Array(32) } };
    return await callContext
      .run(context, () => peer.client(PaymentsService).refundPayment(input))
      .then(
        () => assert.fail("answered"),
        (error) => (error instanceof Failure ? error.reason : assert.fail(error)),
      );
  };
  assert.equal(await refund("key", true), "IDEMPOTENCY_CONFLICT");
  assert.ok(calls > 1);
  assert.deepEqual([await refund("", true), calls], ["SERVICE_UNAVAILABLE", 1]);
  assert.equal(await refund("key", false), "SERVICE_UNAVAILABLE");
  assert.ok(calls > 1, "an earlier request with the key may have begun");
  assert.deepEqual([await refund("key", false, silent), calls], ["IDEMPOTENCY_CONFLICT", 1]);
  assert.deepEqual(
    [await refund("key", false, unavailableLong), calls],
    ["SERVICE_UNAVAILABLE", 1],
    "it asked for a longer wait",
  );
  peer.close();
  await listener.close({ lameDuckMs: 0, graceMs: 500 });
});

test("unauthenticated calls are refused in their protocol before their body is read", async () => {
  const path = "/merchant.v1.MerchantService/GetMerchant";
  // Each announces a message and sends no byte of its body.
  for (const type of ["application/json", "application/proto", "application/grpc-web+proto"]) {
    const request = http.request(base + path, {
      method: "POST",
      headers: { "content-type": type, "content-length": 9 },
    });
    request.on("error", () => {}).flushHeaders();
    const [answer] = await once(request, "response");
    const isGrpc = type.startsWith("application/grpc");
    assert.equal(isGrpc ? answer.headers["grpc-status"] : answer.statusCode, isGrpc ? "16" : 401, type);
    request.destroy();
  }
  const session = http2.connect(base);
  const stream = session.request({
    ":method": "POST",
    ":path": "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
    "content-type": "application/grpc",
  });
  const [answered] = await once(stream, "response");
  assert.equal(answered["grpc-status"], "16", "reflection too");
  stream.close();
  session.close();
});

test("unauthenticated calls get the same refusal in every protocol, and health stays open", async () => {
  for (const transport of [
    createGrpcTransport({ baseUrl: base }),
    createGrpcWebTransport({ baseUrl: base, httpVersion: "2" }),
    createGrpcWebTransport({ baseUrl: base, httpVersion: "1.1" }),
    createConnectTransport({ baseUrl: base, httpVersion: "2" }),
    createConnectTransport({ baseUrl: base, httpVersion: "1.1", useHttpGet: true }),
  ]) {
    const client = createClient(MerchantService, transport);
    for (const header of [{}, { authorization: "Bearer wrong" }]) {
      const error = await client.getMerchant({ merchantId: "" }, { headers: header }).catch((reason) => reason);
      assert.deepEqual([error.code, asFailure(error).reason], [Code.Unauthenticated, "CALLER_UNKNOWN"]);
    }
    assert.equal((await createClient(Health, transport).check({})).status, Status.SERVING);
  }
  const junk = { method: "POST", headers: { "content-type": "application/json" }, body: "{ no JSON" };
  assert.equal((await fetch(`${base}/merchant.v1.MerchantService/GetMerchant`, junk)).status, 401);
  assert.equal((await fetch(`${base}/unknown.v1.Service/Nothing`, junk)).status, 401);
});

test("requests compressed with gzip are accepted in every protocol, from clients that also accept it", async () => {
  const gzip = { sendCompression: compressionGzip, acceptCompression: [compressionGzip], compressMinBytes: 0 };
  for (const transport of [
    createGrpcTransport({ baseUrl: base, ...gzip }),
    createConnectTransport({ baseUrl: base, httpVersion: "1.1", ...gzip }),
    createConnectTransport({ baseUrl: base, httpVersion: "2", ...gzip }),
  ]) {
    const client = createClient(MerchantService, transport);
    const merchantId = "m".repeat(64);
    assert.equal((await client.getMerchant({ merchantId }, { headers })).merchant?.id, merchantId);
  }
  const long = await fetch(`${base}/merchant.v1.MerchantService/GetMerchant`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/proto", "accept-encoding": "gzip" },
    body: toBinary(GetMerchantRequestSchema, create(GetMerchantRequestSchema, { merchantId: "mer_long" })),
  });
  assert.equal(long.headers.get("content-encoding"), "gzip");
  const answer = fromBinary(GetMerchantResponseSchema, new Uint8Array(await long.arrayBuffer()));
  assert.equal(answer.merchant?.name.length, 5_000);
});

test("a NUL character in any text of any message is refused with the field's name", async () => {
  const peer = connectPeer({ url: base, token });
  const client = peer.client(MerchantService);
  const refusal = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => assert.fail("answered"),
      (reason) => reason,
    );
    return error instanceof Failure ? [error.reason, ...error.violations.map(({ field }) => field)] : error;
  };
  assert.deepEqual(await refusal(client.getMerchant({ merchantId: "mer_\0" })), ["INVALID_BODY", "merchant_id"]);
  const order = { name: "a\0b", email: "ops@acme.example", country: "DE", currency: "EUR", legalName: "\0" };
  assert.deepEqual(await refusal(client.createMerchant(order)), ["INVALID_BODY", "name", "legal_name"]);
  peer.close();
  const sent = await fetch(`${base}/merchant.v1.MerchantService/GetMerchant`, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ merchantId: "\0" }),
  });
  assert.deepEqual([sent.status, membersOf(await sent.json()).code], [400, "invalid_argument"], "in plain Connect too");
});

test("health answers without a token, and buf curl finds and calls the service by reflection with one", async () => {
  const health = createClient(Health, createGrpcTransport({ baseUrl: base }));
  assert.equal((await health.check({ service: "merchant.v1.MerchantService" })).status, Status.SERVING);
  await assert.rejects(health.check({ service: "unknown.v1.Service" }), /unknown service/);
  const buf = (...args: string[]) =>
    promisify(execFile)("node_modules/.bin/buf", ["curl", "--http2-prior-knowledge", ...args]);
  const known = ["-H", `authorization: ${headers.authorization}`, "--reflect-header", "*"];
  assert.match((await buf(...known, "--list-methods", base)).stdout, /merchant\.v1\.MerchantService\/GetMerchant/);
  await assert.rejects(buf("--list-methods", base), /not authenticated/);
  const url = `${base}/merchant.v1.MerchantService/GetMerchant`;
  const called = await buf(...known, "-d", '{"merchantId":"mer_1"}', url);
  assert.deepEqual(JSON.parse(called.stdout), { merchant: { id: "mer_1" } });
});

/** Unauthenticated health watchers over one connection. `statuses` are the last statuses or refusal codes. */
function watchers(port: number, count: number): { statuses: () => number[]; close: () => void } {
  const session = connectHttp2(`http://127.0.0.1:${port}`);
  const last = Array.from({ length: count }, () => -1);
  for (const i of last.keys()) {
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Watch",
      "content-type": "application/grpc",
    });
    // Frames of one message each: five bytes, then the status as field 1.
    stream.on("data", (frame: Buffer) => (last[i] = frame.at(-1) ?? -1));
    stream.on("response", (answer) => (last[i] = Number(answer["grpc-status"] ?? -1)));
    stream.on("trailers", (trailers) => (last[i] = Number(trailers["grpc-status"])));
    stream.on("error", () => {});
    stream.end(Buffer.alloc(5));
  }
  return { statuses: () => last, close: () => session.destroy() };
}

test("health watchers share the readiness checks, however many there are", async () => {
  let [checks, well] = [0, true];
  const listener = await startServer(trustingOnly(token), undefined, () => {
    checks += 1;
    return well;
  });
  const many = watchers(listener.port, 500);
  const waitForStatus = async (status: Status) => {
    await eventually(`all watchers to receive ${status}`, async () => many.statuses().every((each) => each === status));
  };
  await waitForStatus(Status.SERVING);
  assert.ok(checks < 100, `checked ${checks} times for the first answers`);
  [checks, well] = [0, false];
  await waitForStatus(Status.NOT_SERVING);
  assert.ok(checks < 100, `checked ${checks} times for the change`);
  many.close();
  await listener.close({ lameDuckMs: 0, graceMs: 500 });
});

test("at most a thousand health watchers are accepted at once", async () => {
  const listener = await startServer(trustingOnly(token));
  const all = watchers(listener.port, 1_000);
  await eventually("a thousand to be answered", async () => all.statuses().every((each) => each === Status.SERVING));
  const late = watchers(listener.port, 1);
  await eventually("the next one to be refused", async () => late.statuses()[0] === Code.ResourceExhausted);
  all.close();
  await eventually("there to be room again", async () => {
    const next = watchers(listener.port, 1);
    await eventually("an answer", async () => next.statuses()[0] !== -1);
    next.close();
    return next.statuses()[0] === Status.SERVING;
  });
  late.close();
  await listener.close({ lameDuckMs: 0, graceMs: 500 });
});

test("health watchers are notified when the process drains", async () => {
  const listener = await startServer(trustingOnly(token));
  const one = watchers(listener.port, 1);
  await eventually("the first answer", async () => one.statuses()[0] === Status.SERVING);
  const closed = listener.close({ lameDuckMs: 500, graceMs: 1_000 });
  await eventually("the new status", async () => one.statuses()[0] === Status.NOT_SERVING);
  one.close();
  await closed;
});

test("silent, half-sent, dripping and idle connections are closed, over HTTP/1.1 and HTTP/2", async () => {
  const listener = await startServer(trustingOnly(token), { headersMs: 300, requestMs: 600, idleMs: 900 });
  const path = "/merchant.v1.MerchantService/GetMerchant";
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${headers.authorization}\r\n`;
  const body = "Content-Type: application/proto\r\nContent-Length: 1000\r\n\r\n";
  const session = connectHttp2(`http://127.0.0.1:${listener.port}`);
  session.on("error", () => {});
  // A stream whose body never ends.
  const stream = session.request({ ":method": "POST", ":path": path, "content-type": "application/proto", ...headers });
  stream.on("error", () => {});
  const fed = setInterval(() => stream.writable && stream.write("x"), 50);
  const ends = [
    untilClosed(listener.port, ""),
    untilClosed(listener.port, head),
    untilClosed(listener.port, head + body),
    untilClosed(listener.port, head + body, "x"),
    untilClosed(listener.port, "GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n"),
    untilClosed(listener.port, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    new Promise((resolve) => stream.once("close", resolve)),
    new Promise((resolve) => session.once("close", resolve)),
  ];
  await Promise.all(ends).finally(() => clearInterval(fed));
  await listener.close({ lameDuckMs: 0, graceMs: 500 });
});

/** Sends the bytes, repeats `again` if given, and waits for the server to close the connection. */
async function untilClosed(port: number, bytes: string, again?: string): Promise<void> {
  const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
  socket.resume();
  socket.on("error", () => {});
  const fed = again === undefined ? undefined : setInterval(() => socket.writable && socket.write(again), 50);
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(fed);
}

/** Calls by grpc-js, without Connect. */
async function overGrpcJs(merchantId: string) {
  const client = new grpc.Client(`127.0.0.1:${server.port}`, grpc.credentials.createInsecure());
  const metadata = new grpc.Metadata();
  metadata.set("authorization", headers.authorization);
  try {
    return await new Promise<ReturnType<typeof decode>>((resolve, reject) => {
      client.makeUnaryRequest(
        "/merchant.v1.MerchantService/GetMerchant",
        (request: { merchantId: string }) =>
          Buffer.from(toBinary(GetMerchantRequestSchema, create(GetMerchantRequestSchema, request))),
        decode,
        { merchantId },
        metadata,
        (error, value) => (error || !value ? reject(error) : resolve(value)),
      );
    });
  } finally {
    client.close();
  }
}

function decode(bytes: Buffer) {
  return fromBinary(GetMerchantResponseSchema, bytes);
}

test.run();
